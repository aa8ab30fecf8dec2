-- Secret addresses at which anybody reads a calendar, or when its owner is busy, without logging in.
CREATE TABLE links (
	id          TEXT   NOT NULL PRIMARY KEY,
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	name        TEXT   NOT NULL,
	access      TEXT   NOT NULL, -- in the words of shares
	hash        TEXT   NOT NULL,
	created     BIGINT NOT NULL,
	expires     BIGINT,
	used        BIGINT,
	revoked     BIGINT
);

CREATE INDEX links_calendar ON links (calendar_id);
