-- What users have for themselves of events that others share with them: reminders, and whether the event takes their
-- time (caldav-sharing §5.5.4). What all share, and what is the owner's own, stands in objects.

-- Counts the changes of what a sharee has for themselves: it moves on for nobody else.
ALTER TABLE shares ADD COLUMN own_version BIGINT NOT NULL DEFAULT 0;

CREATE TABLE own_parts (
	calendar_id TEXT   NOT NULL,
	user_id     TEXT   NOT NULL,
	uid         TEXT   NOT NULL, -- no name: the object may move, and may come back from the trash
	version     BIGINT NOT NULL, -- the share's own_version, of the latest change
	etag        TEXT   NOT NULL, -- '' where nothing is left of it
	data        BYTEA  NOT NULL,
	PRIMARY KEY (calendar_id, user_id, uid),
	FOREIGN KEY (calendar_id, user_id) REFERENCES shares (calendar_id, user_id) ON DELETE CASCADE
);

CREATE INDEX own_parts_uid ON own_parts (calendar_id, uid);
