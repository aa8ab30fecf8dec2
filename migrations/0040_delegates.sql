-- The users who may use all calendars of another user: read them, or read and write them.
CREATE TABLE delegates (
	owner_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	delegate_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	access      TEXT   NOT NULL, -- read or read-write
	created     BIGINT NOT NULL,
	PRIMARY KEY (owner_id, delegate_id)
);

CREATE INDEX delegates_delegate ON delegates (delegate_id);

-- Whether the token may use the calendars of users who appointed its user as their delegate.
ALTER TABLE tokens ADD COLUMN for_others BOOLEAN NOT NULL DEFAULT FALSE;
