-- Byte order and byte equality, as SQLite has them, whatever locale the database was made with:
-- paging by name must not depend on the machine, and an upgrade of the C library must not corrupt
-- an index.
DO $$
DECLARE
	col record;
BEGIN
	FOR col IN
		SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND data_type = 'text' AND table_name IN
			('meta', 'users', 'credentials', 'calendars', 'shares', 'tokens', 'token_calendars', 'objects', 'journal')
	LOOP
		EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE TEXT COLLATE "C"', col.table_name, col.column_name);
	END LOOP;
END
$$;

-- Every change of a calendar updates its row: room on the page keeps that from growing the indexes.
ALTER TABLE calendars SET (fillfactor = 50);
ALTER TABLE meta SET (fillfactor = 50);
