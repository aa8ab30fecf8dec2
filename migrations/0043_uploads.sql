-- Files that users upload on the pages to import them. They are checked and imported in the background.
CREATE TABLE uploads (
	id        TEXT    NOT NULL PRIMARY KEY,
	user_id   TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name      TEXT    NOT NULL, -- of the file
	size      BIGINT  NOT NULL,
	target    TEXT    NOT NULL, -- the calendar's id; '' for the calendars that the file names
	replaces  BOOLEAN NOT NULL,
	state     TEXT    NOT NULL,
	report    TEXT    NOT NULL, -- JSON
	created   BIGINT  NOT NULL,
	changed   BIGINT  NOT NULL,
	holder    TEXT    NOT NULL, -- the process that works on it
	held      BIGINT  NOT NULL  -- until when no other process takes it
);

CREATE INDEX uploads_user ON uploads (user_id, created);

CREATE TABLE upload_parts (
	upload_id TEXT   NOT NULL REFERENCES uploads (id) ON DELETE CASCADE,
	number    BIGINT NOT NULL,
	data      BYTEA  NOT NULL, -- gzip
	PRIMARY KEY (upload_id, number)
);
