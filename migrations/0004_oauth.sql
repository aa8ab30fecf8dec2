-- A grant is a token that an OAuth client was given by a user: it has no hash of its own, its client
-- shows tickets for it. A token outlives its client in lists and in the journal, hence no key.
ALTER TABLE tokens ADD COLUMN client TEXT NOT NULL DEFAULT '';
ALTER TABLE tokens ADD COLUMN resource TEXT NOT NULL DEFAULT ''; -- the address that the grant is good for

CREATE INDEX tokens_client ON tokens (client) WHERE client <> '';

CREATE TABLE oauth_clients (
	id        TEXT   NOT NULL PRIMARY KEY, -- for a client that describes itself, the address where it does
	kind      TEXT   NOT NULL, -- 'described', 'registered' or 'added'
	name      TEXT   NOT NULL,
	redirects TEXT   NOT NULL, -- addresses with blanks between
	digest    TEXT   NOT NULL, -- of its secret; empty where it has none
	method    TEXT   NOT NULL, -- how it shows that
	created   BIGINT NOT NULL,
	used      BIGINT,
	fresh     BIGINT          -- until when its description holds
);

-- What a user has allowed, until the client comes with the code.
CREATE TABLE oauth_offers (
	id            TEXT    NOT NULL PRIMARY KEY,
	digest        TEXT    NOT NULL,
	client_id     TEXT    NOT NULL REFERENCES oauth_clients (id) ON DELETE CASCADE,
	user_id       TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	redirect      TEXT    NOT NULL,
	challenge     TEXT    NOT NULL,
	resource      TEXT    NOT NULL,
	name          TEXT    NOT NULL,
	scopes        BIGINT  NOT NULL,
	bound         BOOLEAN NOT NULL, -- to the calendars, also when there are none
	calendars     TEXT    NOT NULL, -- ids with blanks between
	grant_expires BIGINT,
	expires       BIGINT  NOT NULL,
	token_id      TEXT    NOT NULL  -- the grant that it became; '' while it has not, and no key
);

CREATE INDEX oauth_offers_expires ON oauth_offers (expires);
CREATE INDEX oauth_offers_client ON oauth_offers (client_id);
CREATE INDEX oauth_offers_user ON oauth_offers (user_id);

CREATE TABLE oauth_tickets (
	id       TEXT   NOT NULL PRIMARY KEY,
	digest   TEXT   NOT NULL,
	token_id TEXT   NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
	use      TEXT   NOT NULL, -- 'access' or 'refresh'
	scopes   BIGINT NOT NULL,
	created  BIGINT NOT NULL,
	expires  BIGINT NOT NULL,
	used     BIGINT,          -- when a refresh ticket was first exchanged
	parent   TEXT   NOT NULL  -- the refresh ticket that it was exchanged for; '' for a grant's first
);

CREATE INDEX oauth_tickets_token ON oauth_tickets (token_id, use, created);
CREATE INDEX oauth_tickets_expires ON oauth_tickets (expires);
