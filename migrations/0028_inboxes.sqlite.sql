-- A message to many is in as many inboxes, under one name. SQLite has no other key for a table that is there.
CREATE TABLE inbox_items_next (
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT   NOT NULL,
	version BIGINT NOT NULL,
	created BIGINT NOT NULL,
	gone    BIGINT,
	data    BYTEA  NOT NULL,
	method  TEXT   NOT NULL DEFAULT '',
	PRIMARY KEY (name, user_id)
);

INSERT INTO inbox_items_next SELECT user_id, name, version, created, gone, data, method FROM inbox_items;

DROP TABLE inbox_items;

ALTER TABLE inbox_items_next RENAME TO inbox_items;

-- The oldest that is there, and all of a user.
CREATE INDEX inbox_items_user ON inbox_items (user_id, gone, version);

-- Proposals alone are looked for by what they are.
CREATE INDEX inbox_items_proposals ON inbox_items (user_id, version) WHERE gone IS NULL AND method = 'COUNTER';
