-- A user's own number, in place of one for all: who changes a password or a token lets nobody else's be checked anew.
ALTER TABLE users ADD COLUMN credentials BIGINT NOT NULL DEFAULT 1; -- moves on whenever a credential of theirs changes

ALTER TABLE meta DROP COLUMN credentials;

-- Of the token's secret, keyed with what is derived from meta's secret; empty until it is seen for the first time.
ALTER TABLE tokens ADD COLUMN digest TEXT NOT NULL DEFAULT '';
