-- What administrators need for many users: quotas, groups, and settings that belong to the server.

-- What a user may have: 0 is what the server's settings say, -1 no bound.
ALTER TABLE users ADD COLUMN quota_calendars BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN quota_objects BIGINT NOT NULL DEFAULT 0;
ALTER TABLE users ADD COLUMN quota_bytes BIGINT NOT NULL DEFAULT 0;
-- A group is a name among those of users, with which calendars are shared. Nobody gets in as one.
ALTER TABLE users ADD COLUMN is_group BOOLEAN NOT NULL DEFAULT FALSE;

-- How many live objects a calendar holds, and their bytes: counted as they come and go, since to add them up with each
-- change would take as long as the calendar is large.
ALTER TABLE calendars ADD COLUMN objects BIGINT NOT NULL DEFAULT 0;
ALTER TABLE calendars ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0;

UPDATE calendars SET
	objects = (SELECT COUNT(*) FROM objects o WHERE o.calendar_id = calendars.id AND NOT o.deleted),
	bytes = (SELECT COALESCE(SUM(o.size), 0) FROM objects o WHERE o.calendar_id = calendars.id AND NOT o.deleted);

CREATE TABLE group_members (
	group_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	user_id  TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	created  BIGINT NOT NULL,
	PRIMARY KEY (group_id, user_id)
);

CREATE INDEX group_members_user ON group_members (user_id, group_id);

-- What of a share was given to its user by name; the rest of its access came by a group. '' for nothing.
ALTER TABLE shares ADD COLUMN direct TEXT NOT NULL DEFAULT '';

UPDATE shares SET direct = access;

-- Members who do not want a calendar that a group of theirs has.
CREATE TABLE group_leavers (
	calendar_id TEXT NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	PRIMARY KEY (calendar_id, user_id)
);

CREATE INDEX group_leavers_user ON group_leavers (user_id);

-- Settings of the server that all its processes follow, and that change while they run.
CREATE TABLE server_settings (
	name    TEXT   NOT NULL PRIMARY KEY,
	value   TEXT   NOT NULL,
	changed BIGINT NOT NULL
);

-- What an authority for certificates gave this server, and the keys to it, for all processes.
CREATE TABLE certificates (
	name    TEXT   NOT NULL PRIMARY KEY,
	changed BIGINT NOT NULL,
	data    BYTEA  NOT NULL
);
