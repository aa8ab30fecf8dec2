-- Until when (Unix seconds) some process wants to hear of changes. While none does, nobody sends a notice:
-- NOTIFY makes the commits of the whole server wait for each other.
ALTER TABLE meta ADD COLUMN watched BIGINT NOT NULL DEFAULT 0;
