-- The rights of a token and of a future grant in each calendar: a word for all others (read, propose or write), then
-- "calendar=word" for each calendar that differs. Empty means write everywhere.
ALTER TABLE tokens ADD COLUMN rights TEXT NOT NULL DEFAULT '';

ALTER TABLE oauth_offers ADD COLUMN rights TEXT NOT NULL DEFAULT '';
