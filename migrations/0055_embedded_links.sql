-- Whether other sites may show the page of the link in a frame.
ALTER TABLE links ADD COLUMN embed BOOLEAN NOT NULL DEFAULT FALSE;
