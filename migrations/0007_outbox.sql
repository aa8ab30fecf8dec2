-- Scheduling messages to people without an account here, which wait to be mailed.

-- Whoever posts locks the user's row, which counts what waits.
CREATE TABLE outboxes (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	number  BIGINT NOT NULL -- of the latest letter
);

CREATE TABLE letters (
	id         TEXT    NOT NULL PRIMARY KEY,
	user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	recipient  TEXT    NOT NULL,
	uid        TEXT    NOT NULL,
	number     BIGINT  NOT NULL, -- in the order in which the user's were posted
	sender     TEXT    NOT NULL,
	method     TEXT    NOT NULL,
	recurrence TEXT    NOT NULL, -- '' for all of the event
	sequence   BIGINT  NOT NULL,
	first      BOOLEAN NOT NULL, -- the recipient was never told of the UID
	posted     BIGINT  NOT NULL,
	due        BIGINT  NOT NULL,
	taken      BIGINT  NOT NULL, -- until when nobody else takes it
	tries      BIGINT  NOT NULL,
	status     TEXT    NOT NULL, -- what came of it; '' while it waits
	size       BIGINT  NOT NULL,
	data       BYTEA   NOT NULL
);

CREATE UNIQUE INDEX letters_number ON letters (user_id, number);

CREATE INDEX letters_talk ON letters (user_id, uid, recipient, number);

CREATE INDEX letters_due ON letters (due, id);

-- The last that people outside were told, so that the next mail says what changed since.
CREATE TABLE told (
	user_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	recipient  TEXT    NOT NULL,
	uid        TEXT    NOT NULL,
	recurrence TEXT    NOT NULL,
	id         TEXT    NOT NULL UNIQUE, -- of the letter
	sender     TEXT    NOT NULL,
	method     TEXT    NOT NULL,
	sequence   BIGINT  NOT NULL,
	first      BOOLEAN NOT NULL,
	posted     BIGINT  NOT NULL,
	at         BIGINT  NOT NULL,
	tries      BIGINT  NOT NULL,
	status     TEXT    NOT NULL,
	size       BIGINT  NOT NULL,
	data       BYTEA   NOT NULL,
	PRIMARY KEY (user_id, recipient, uid, recurrence)
);

CREATE INDEX told_at ON told (user_id, at);

-- What one process at a time may do.
CREATE TABLE leases (
	name   TEXT   NOT NULL PRIMARY KEY,
	holder TEXT   NOT NULL,
	until  BIGINT NOT NULL
);
