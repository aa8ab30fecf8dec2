-- The store's present epoch, see the file for Postgres. A SQLite file has no standby that could take over.
CREATE VIEW life AS SELECT epoch FROM meta WHERE id = 1;
