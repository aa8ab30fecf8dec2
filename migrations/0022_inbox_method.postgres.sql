-- What a message is for, see the file for SQLite.
ALTER TABLE inbox_items ADD COLUMN method TEXT NOT NULL DEFAULT '';

UPDATE inbox_items SET method = 'COUNTER' WHERE gone IS NULL AND position('\x0a4d4554484f443a434f554e544552'::bytea IN data) > 0;

CREATE INDEX inbox_items_method ON inbox_items (user_id, method, version) WHERE gone IS NULL;
