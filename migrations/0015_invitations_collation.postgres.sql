-- As in 0002, for what came since.
DO $$
DECLARE
	col record;
BEGIN
	FOR col IN
		SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND data_type = 'text'
			AND (table_name IN ('invitations', 'notice_boxes', 'notices') OR table_name = 'journal' AND column_name IN ('whom', 'given')
				OR table_name = 'shares' AND column_name = 'own_description')
	LOOP
		EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE TEXT COLLATE "C"', col.table_name, col.column_name);
	END LOOP;
END
$$;
