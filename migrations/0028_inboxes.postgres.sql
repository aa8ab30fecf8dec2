-- A message to many is in as many inboxes, under one name.
ALTER TABLE inbox_items DROP CONSTRAINT inbox_items_pkey, ADD PRIMARY KEY (name, user_id);

-- The oldest that is there, and all of a user.
CREATE INDEX inbox_items_user ON inbox_items (user_id, gone, version);

DROP INDEX inbox_items_version;

-- Proposals alone are looked for by what they are.
CREATE INDEX inbox_items_proposals ON inbox_items (user_id, version) WHERE gone IS NULL AND method = 'COUNTER';

DROP INDEX inbox_items_method;

-- Texts of more than 2 KB are compressed by what takes a fraction of the time, where the server was built with it.
DO $$
BEGIN
	EXECUTE 'ALTER TABLE objects ALTER COLUMN data SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error OR invalid_parameter_value THEN
	NULL;
END
$$;
