-- Pages on which visitors choose a time with their owner.
CREATE TABLE booking_pages (
	id       TEXT    NOT NULL PRIMARY KEY,
	user_id  TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name     TEXT    NOT NULL UNIQUE, -- the last part of the address
	switched BOOLEAN NOT NULL,        -- whether visitors may open it
	created  BIGINT  NOT NULL,
	settings BYTEA   NOT NULL         -- JSON (booking.Settings)
);

CREATE INDEX booking_pages_user ON booking_pages (user_id, created);

-- Times that visitors chose, and the bookings that they became. The events are objects of the calendar.
CREATE TABLE booking_holds (
	id          TEXT   NOT NULL PRIMARY KEY,
	page_id     TEXT   NOT NULL REFERENCES booking_pages (id) ON DELETE CASCADE,
	token       BYTEA  NOT NULL UNIQUE, -- the hash of the token in the visitor's link
	state       TEXT   NOT NULL,        -- held, booked or ended
	calendar_id TEXT   NOT NULL,
	uid         TEXT   NOT NULL,
	starts      BIGINT NOT NULL,
	ends        BIGINT NOT NULL,
	expires     BIGINT NOT NULL,
	created     BIGINT NOT NULL,
	name        TEXT   NOT NULL,        -- of the visitor
	address     TEXT   NOT NULL,
	zone        TEXT   NOT NULL,
	language    TEXT   NOT NULL,
	network     TEXT   NOT NULL,        -- a hash
	moves       BIGINT NOT NULL
);

CREATE INDEX booking_holds_page ON booking_holds (page_id, ends);

CREATE INDEX booking_holds_expires ON booking_holds (state, expires);

CREATE INDEX booking_holds_address ON booking_holds (address, created);

CREATE INDEX booking_holds_network ON booking_holds (network, created);
