-- When a calendar last took the address of another one in a home. To a token that is bound to some
-- calendars the new one does not exist, and that the old one is gone would not be told by the home's
-- members: its programs start over. What was before this is not known.
ALTER TABLE homes ADD COLUMN replaced BIGINT NOT NULL DEFAULT 0;

UPDATE homes SET replaced = version;
