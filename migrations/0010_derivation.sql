-- How far the making anew of derived columns is, so that one which was cut short goes on where it was.
ALTER TABLE meta ADD COLUMN deriving BIGINT NOT NULL DEFAULT 0;        -- by which rules; 0 for none under way
ALTER TABLE meta ADD COLUMN derived BIGINT NOT NULL DEFAULT 0;         -- how many objects were gone through
ALTER TABLE meta ADD COLUMN derived_calendar TEXT NOT NULL DEFAULT ''; -- the last of them
ALTER TABLE meta ADD COLUMN derived_name TEXT NOT NULL DEFAULT '';
