-- The network that a client was registered or described from, so that one flood cannot take all places.
ALTER TABLE oauth_clients ADD COLUMN site TEXT NOT NULL DEFAULT '';
