-- Which history the server writes, of all that began with one cluster: each standby that takes over
-- begins a new one. A server that does not tell, as some that only speak Postgres' language, has one.
DO $$
BEGIN
	PERFORM pg_walfile_name(pg_current_wal_lsn());
	CREATE FUNCTION server_timeline() RETURNS TEXT LANGUAGE sql VOLATILE PARALLEL SAFE
		AS 'SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';
EXCEPTION WHEN OTHERS THEN
	CREATE FUNCTION server_timeline() RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT ''''::text';
END
$$;

-- Which cluster it is: a copy by dump, or an upgrade, is another one.
DO $$
BEGIN
	PERFORM system_identifier FROM pg_control_system();
	CREATE FUNCTION server_cluster() RETURNS TEXT LANGUAGE sql VOLATILE PARALLEL SAFE
		AS 'SELECT system_identifier::text FROM pg_control_system()';
EXCEPTION WHEN OTHERS THEN
	CREATE FUNCTION server_cluster() RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT ''''::text';
END
$$;

-- Where the epoch was begun. It has the order of bytes from the start: the view hangs on it.
ALTER TABLE meta ADD COLUMN timeline TEXT COLLATE "C" NOT NULL DEFAULT server_timeline();
ALTER TABLE meta ADD COLUMN cluster  TEXT COLLATE "C" NOT NULL DEFAULT server_cluster();

-- The store's present epoch. Where a standby took over, which may have lost changes, it is another
-- one with the next statement, before any process has noticed.
CREATE VIEW life AS
	SELECT epoch || CASE WHEN timeline = server_timeline() THEN '' ELSE '.' || server_timeline() END AS epoch FROM meta WHERE id = 1;
