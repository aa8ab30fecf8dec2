-- What a linked calendar is called where it is from, as last seen: a calendar that its owner has renamed here keeps their name.

ALTER TABLE mirrors ADD COLUMN remote_name TEXT NOT NULL DEFAULT '';
