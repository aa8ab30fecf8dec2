package db

// lifeFunctions adapts server_timeline and server_cluster to the server, which may be another than the one that made
// the tables:
//
//   - Postgres numbers its histories. Neon names them in a setting, and its number stays 1.
//   - A server that hides the number begins another history only with another start of its process.
//   - YugabyteDB has a process for each node, and one history.
//
// Without the cluster's identifier, the timeline alone tells servers apart.
const lifeFunctions = `DO $$
DECLARE
	timeline TEXT := 'SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)';
	cluster  TEXT := 'SELECT system_identifier::text FROM pg_control_system()';
	none     TEXT := 'SELECT ''''::text';
BEGIN
	IF current_setting('neon.timeline_id', true) <> '' THEN
		timeline := 'SELECT current_setting(''neon.timeline_id'')';
	END IF;
	BEGIN
		EXECUTE timeline;
	EXCEPTION WHEN OTHERS THEN
		timeline := 'SELECT to_hex((extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint)';
	END;
	IF to_regproc('yb_servers') IS NOT NULL THEN
		timeline := none;
	END IF;
	BEGIN
		EXECUTE timeline;
	EXCEPTION WHEN OTHERS THEN
		timeline := none;
	END;
	BEGIN
		EXECUTE cluster;
	EXCEPTION WHEN OTHERS THEN
		cluster := none;
	END;
	IF timeline <> (SELECT prosrc FROM pg_proc WHERE oid = to_regproc('server_timeline')) THEN
		EXECUTE 'CREATE OR REPLACE FUNCTION server_timeline() RETURNS TEXT LANGUAGE sql VOLATILE PARALLEL SAFE AS '
			|| quote_literal(timeline);
	END IF;
	IF cluster <> (SELECT prosrc FROM pg_proc WHERE oid = to_regproc('server_cluster')) THEN
		EXECUTE 'CREATE OR REPLACE FUNCTION server_cluster() RETURNS TEXT LANGUAGE sql VOLATILE PARALLEL SAFE AS '
			|| quote_literal(cluster);
	END IF;
END
$$`
