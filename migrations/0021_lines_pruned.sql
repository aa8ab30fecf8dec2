-- Up to where a calendar's journal has forgotten its lines: the version and the time of the latest that is gone, 0 while all are there.
-- Whoever asks for what came since an earlier one is told so.

ALTER TABLE calendars ADD COLUMN lines_pruned BIGINT NOT NULL DEFAULT 0;
ALTER TABLE calendars ADD COLUMN lines_pruned_at BIGINT NOT NULL DEFAULT 0;
