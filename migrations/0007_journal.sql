-- The history of one object, and with the empty uid that of the calendar's own settings.
CREATE INDEX journal_uid ON journal (calendar_id, uid, version);

-- What one credential did. Most lines are of passwords, which have none.
CREATE INDEX journal_token ON journal (token_id, calendar_id, version) WHERE token_id <> '';

-- Changes that were made in one transaction are taken back together. The first of them has no row
-- here, so that a change that stands alone, as most do, costs none.
CREATE TABLE journal_units (
	calendar_id   TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	version       BIGINT NOT NULL,
	head_calendar TEXT   NOT NULL, -- the first of them; no key: that calendar may go before this one
	head_version  BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, version)
);

CREATE INDEX journal_units_head ON journal_units (head_calendar, head_version);

-- Which change took back which, both of one calendar.
CREATE TABLE journal_undone (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	version     BIGINT NOT NULL, -- of the change that was taken back
	undone_by   BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, version, undone_by)
);

CREATE INDEX journal_undone_by ON journal_undone (calendar_id, undone_by);
