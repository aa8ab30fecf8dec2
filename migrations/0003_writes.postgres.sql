-- Every change of a calendar updates its row: room on the page keeps that from growing the indexes.
ALTER TABLE calendars SET (fillfactor = 50);
ALTER TABLE meta SET (fillfactor = 50);

-- Until when (Unix seconds) some process wants to hear of changes. While none does, nobody sends a notice:
-- NOTIFY makes the commits of the whole server wait for each other.
ALTER TABLE meta ADD COLUMN watched BIGINT NOT NULL DEFAULT 0;
