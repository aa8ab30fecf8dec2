-- How people sign in at the pages, and what they say of themselves there.

ALTER TABLE users ADD COLUMN admin BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE users ADD COLUMN disabled BOOLEAN NOT NULL DEFAULT FALSE; -- nobody gets in as this user
ALTER TABLE users ADD COLUMN week_start TEXT NOT NULL DEFAULT '';     -- a weekday: mon, tue …
ALTER TABLE users ADD COLUMN working_days TEXT NOT NULL DEFAULT '';   -- weekdays with blanks between
ALTER TABLE users ADD COLUMN working_hours TEXT NOT NULL DEFAULT '';  -- 09:00-17:00

-- Mail addresses beside the one in users. Whoever says that one is theirs has it once it is verified.
CREATE TABLE addresses (
	user_id  TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	address  TEXT   NOT NULL, -- in lower case
	created  BIGINT NOT NULL,
	verified BIGINT,
	PRIMARY KEY (user_id, address)
);

CREATE UNIQUE INDEX addresses_verified ON addresses (address) WHERE verified IS NOT NULL;

-- Browsers that are signed in.
CREATE TABLE sessions (
	id      TEXT   NOT NULL PRIMARY KEY,
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	hash    TEXT   NOT NULL,
	created BIGINT NOT NULL,
	seen    BIGINT NOT NULL,
	proven  BIGINT NOT NULL, -- when the person last proved who they are
	way     TEXT   NOT NULL, -- how they signed in
	agent   TEXT   NOT NULL
);

CREATE INDEX sessions_user ON sessions (user_id);
CREATE INDEX sessions_seen ON sessions (seen);

CREATE TABLE passkeys (
	id      TEXT   NOT NULL PRIMARY KEY, -- the credential's own, in base64url
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT   NOT NULL,
	created BIGINT NOT NULL,
	used    BIGINT,
	data    BYTEA  NOT NULL -- the public key and what else a signature is checked with
);

CREATE INDEX passkeys_user ON passkeys (user_id);

-- One-time codes of an app (RFC 6238). The secret is not a hash: codes are made from it.
CREATE TABLE totps (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	secret  BYTEA  NOT NULL,
	created BIGINT NOT NULL,
	step    BIGINT NOT NULL -- of the latest code that was taken: none is good twice
);

CREATE TABLE recovery_codes (
	user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	hash    TEXT NOT NULL,
	PRIMARY KEY (user_id, hash)
);

-- Whom another service (OpenID Connect) vouches for.
CREATE TABLE identities (
	issuer  TEXT   NOT NULL,
	subject TEXT   NOT NULL,
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT   NOT NULL, -- what they are called there, for people to read
	created BIGINT NOT NULL,
	PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_user ON identities (user_id);

-- Links by which somebody chooses a password, once: an invitation or a reset.
CREATE TABLE vouchers (
	id      TEXT   NOT NULL PRIMARY KEY,
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	hash    TEXT   NOT NULL,
	kind    TEXT   NOT NULL,
	created BIGINT NOT NULL,
	expires BIGINT NOT NULL
);

CREATE INDEX vouchers_user ON vouchers (user_id);

-- What is good for one use and was used, until it would have expired by itself.
CREATE TABLE spent (
	name  TEXT   NOT NULL PRIMARY KEY,
	until BIGINT NOT NULL
);
