-- The language of the page on which a person answered a poll, for later mails. Empty before.
ALTER TABLE poll_people ADD COLUMN language TEXT NOT NULL DEFAULT '';
