-- Whether the user was notified of a suggestion. Those from before were not, and are too old for that.
ALTER TABLE suggestions ADD COLUMN told BOOLEAN NOT NULL DEFAULT TRUE;
