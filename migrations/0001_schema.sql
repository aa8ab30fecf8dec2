-- Both engines run this file, so it knows TEXT, BIGINT, BOOLEAN and BYTEA alone. Times are Unix
-- seconds in UTC, ids come from the program.

-- One row: what holds for the store as a whole.
CREATE TABLE meta (
	id          BIGINT PRIMARY KEY CHECK (id = 1),
	epoch       TEXT   NOT NULL, -- one life of the store; part of every sync token
	credentials BIGINT NOT NULL, -- moves on whenever a credential changes
	derivation  BIGINT NOT NULL  -- the rules by which the objects' derived columns were made
);

CREATE TABLE users (
	id           TEXT   NOT NULL PRIMARY KEY,
	name         TEXT   NOT NULL UNIQUE,
	display_name TEXT   NOT NULL,
	email        TEXT   NOT NULL,
	timezone     TEXT   NOT NULL,
	created      BIGINT NOT NULL
);

-- Apart from users, so that whoever lists users cannot read a hash by mistake.
CREATE TABLE credentials (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	hash    TEXT   NOT NULL,
	changed BIGINT NOT NULL
);

CREATE TABLE calendars (
	id            TEXT    NOT NULL PRIMARY KEY,
	owner_id      TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	segment       TEXT    NOT NULL,
	version       BIGINT  NOT NULL, -- of the latest change
	pruned        BIGINT  NOT NULL, -- of the latest tombstone that was dropped
	created       BIGINT  NOT NULL,
	modified      BIGINT  NOT NULL,
	trashed       BIGINT,           -- when it went to the trash
	name          TEXT    NOT NULL,
	color         TEXT,
	position      BIGINT,
	kinds         TEXT    NOT NULL,
	transparent   BOOLEAN NOT NULL,
	timezone      TEXT    NOT NULL,
	description   TEXT,
	timezone_data TEXT
);

-- What lies in the trash must not block its address.
CREATE UNIQUE INDEX calendars_live_segment ON calendars (owner_id, segment) WHERE trashed IS NULL;

CREATE TABLE shares (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	access      TEXT   NOT NULL,
	created     BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, user_id)
);

CREATE INDEX shares_user ON shares (user_id, calendar_id);

CREATE TABLE tokens (
	id      TEXT    NOT NULL PRIMARY KEY,
	user_id TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT    NOT NULL,
	hash    TEXT    NOT NULL,
	scopes  BIGINT  NOT NULL, -- a set of bits
	bound   BOOLEAN NOT NULL, -- to the rows of token_calendars, also when there are none left
	created BIGINT  NOT NULL,
	expires BIGINT,
	used    BIGINT,
	revoked BIGINT
);

CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE token_calendars (
	token_id    TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
	calendar_id TEXT NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	PRIMARY KEY (token_id, calendar_id)
);

CREATE INDEX token_calendars_calendar ON token_calendars (calendar_id);

-- The wide columns come last: SQLite reads a row from its beginning and stops where it may.
CREATE TABLE objects (
	calendar_id TEXT    NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	name        TEXT    NOT NULL,
	version     BIGINT  NOT NULL,
	deleted     BOOLEAN NOT NULL,
	etag        TEXT    NOT NULL,
	size        BIGINT  NOT NULL,
	created     BIGINT  NOT NULL,
	modified    BIGINT  NOT NULL,
	uid         TEXT    NOT NULL,
	kind        TEXT    NOT NULL,
	span_start  BIGINT  NOT NULL, -- the least BIGINT for what has no time
	span_end    BIGINT  NOT NULL, -- the greatest BIGINT for what never ends
	reach       BIGINT  NOT NULL, -- the size class of the span, see objects_span
	recurring   BOOLEAN NOT NULL,
	transparent BOOLEAN NOT NULL,
	status      TEXT    NOT NULL,
	summary     TEXT    NOT NULL,
	search      TEXT    NOT NULL,
	data        BYTEA   NOT NULL,
	PRIMARY KEY (calendar_id, name)
);

-- Unique: a version is one change, which makes the paging of changes exact.
CREATE UNIQUE INDEX objects_version ON objects (calendar_id, version);

-- Among live objects only: a deleted event must never block its UID.
CREATE UNIQUE INDEX objects_live_uid ON objects (calendar_id, uid) WHERE NOT deleted;

-- No span of a reach is longer than that reach allows, so that what overlaps a window begins at
-- most so long before it: the index finds a week among years.
CREATE INDEX objects_span ON objects (calendar_id, reach, span_start, span_end);

CREATE INDEX objects_tombstones ON objects (calendar_id, version) WHERE deleted;

-- Who changed what, and the bytes before. It outlives users and tokens, hence no keys to them.
CREATE TABLE journal (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	version     BIGINT NOT NULL,
	object      TEXT   NOT NULL, -- empty for a change of the calendar itself
	uid         TEXT   NOT NULL,
	change      TEXT   NOT NULL,
	at          BIGINT NOT NULL,
	user_id     TEXT   NOT NULL,
	token_id    TEXT   NOT NULL,
	agent       TEXT   NOT NULL,
	before      BYTEA,
	PRIMARY KEY (calendar_id, version)
);
