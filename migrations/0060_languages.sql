-- The languages of a user, as BCP 47 tags: the chosen one, or '' for the browser's, and the one that the browser asked for last. Mails
-- have no browser, so they use the second if nothing is chosen.
ALTER TABLE users ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE users ADD COLUMN browser_language TEXT NOT NULL DEFAULT '';
