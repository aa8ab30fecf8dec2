-- How long the bytes before a change are when they are unpacked; 0 for those that are kept as they were.

ALTER TABLE journal ADD COLUMN unpacked BIGINT NOT NULL DEFAULT 0;
