-- What a message is for, so that proposals of another time are found without the text of all that came.
ALTER TABLE inbox_items ADD COLUMN method TEXT NOT NULL DEFAULT '';

-- Of what is there, the proposals alone are looked for.
UPDATE inbox_items SET method = 'COUNTER' WHERE gone IS NULL AND instr(data, CAST(char(10) || 'METHOD:COUNTER' AS BLOB)) > 0;

CREATE INDEX inbox_items_method ON inbox_items (user_id, method, version) WHERE gone IS NULL;
