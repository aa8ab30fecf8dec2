-- Invitations that users send each other (RFC 6638).

-- The tag of a scheduling object: it stays where the change was of no consequence to who edits the object. '' for
-- other objects.
ALTER TABLE objects ADD COLUMN schedule_tag TEXT NOT NULL DEFAULT '';

-- A listing without data must not read past the data of each object to find its tag.
CREATE INDEX objects_schedule_tag ON objects (calendar_id, name, schedule_tag) WHERE schedule_tag <> '';

-- Whose copy of an event there is, wherever it lies.
CREATE INDEX objects_uid ON objects (uid, calendar_id) WHERE NOT deleted;

-- What somebody else's change brought about. It is no part of that change's unit: who takes the change back has the
-- others told again.
ALTER TABLE journal ADD COLUMN scheduled BOOLEAN NOT NULL DEFAULT FALSE;

-- How users want to be scheduled with.
CREATE TABLE scheduling (
	user_id      TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	calendar_id  TEXT NOT NULL, -- where invitations are put; '' for the first that takes them. No key: it may go
	availability TEXT           -- when they can be had (RFC 7953)
);

-- Scheduling messages as they came, for programs that show them.
CREATE TABLE inboxes (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	version BIGINT NOT NULL, -- of the latest change
	pruned  BIGINT NOT NULL  -- of the latest removal that was forgotten
);

CREATE TABLE inbox_items (
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT   NOT NULL,
	version BIGINT NOT NULL, -- the inbox's, of the latest change of this item
	created BIGINT NOT NULL,
	gone    BIGINT,          -- when it was removed
	data    BYTEA  NOT NULL,
	PRIMARY KEY (user_id, name)
);

-- The oldest make room for what comes.
CREATE INDEX inbox_items_version ON inbox_items (user_id, version) WHERE gone IS NULL;
