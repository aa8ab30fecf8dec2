-- Accounts elsewhere that users have linked, and the calendars that mirror what is there.

-- Whose events a calendar holds, in words for people; '' for one that lives here.
ALTER TABLE calendars ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE calendars ADD COLUMN origin_writable BOOLEAN NOT NULL DEFAULT FALSE; -- what is written here is written there

CREATE TABLE linked_accounts (
	id       TEXT   NOT NULL PRIMARY KEY,
	user_id  TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	provider TEXT   NOT NULL,
	name     TEXT   NOT NULL, -- for people
	address  TEXT   NOT NULL, -- for people: nothing in it is secret
	subject  TEXT   NOT NULL, -- what the provider calls its user; '' where it does not say
	scopes   TEXT   NOT NULL, -- what the provider let us do, in its own words
	secret   BYTEA  NOT NULL, -- sealed, see auth/vault
	key_id   TEXT   NOT NULL, -- of the key that it is sealed with
	every    BIGINT NOT NULL, -- seconds between two looks; 0 leaves it to the source
	status   TEXT   NOT NULL,
	error    TEXT   NOT NULL, -- why the last look failed; '' when it did not
	failures BIGINT NOT NULL, -- looks that failed since one did not
	failing  BIGINT,          -- since when
	created  BIGINT NOT NULL,
	checked  BIGINT,          -- when a look last did not fail
	listed   BIGINT,          -- when its calendars were last listed
	due      BIGINT NOT NULL  -- when it is looked at next
);

CREATE INDEX linked_accounts_user ON linked_accounts (user_id, created);

CREATE INDEX linked_accounts_due ON linked_accounts (due, id);

CREATE TABLE mirrors (
	calendar_id TEXT   NOT NULL PRIMARY KEY REFERENCES calendars (id) ON DELETE CASCADE,
	account_id  TEXT   NOT NULL REFERENCES linked_accounts (id) ON DELETE CASCADE,
	remote      TEXT   NOT NULL, -- what the source calls the calendar
	cursor_text TEXT   NOT NULL, -- where to go on
	round       BIGINT NOT NULL, -- counts full listings
	whole       BOOLEAN NOT NULL, -- a full listing is under way
	faults      BIGINT NOT NULL, -- objects that are kept out
	error       TEXT   NOT NULL,
	checked     BIGINT,
	UNIQUE (account_id, remote)
);

-- What was last agreed about each object.
CREATE TABLE mirror_objects (
	calendar_id TEXT   NOT NULL REFERENCES mirrors (calendar_id) ON DELETE CASCADE,
	ref         TEXT   NOT NULL, -- what the source calls it
	uid         TEXT   NOT NULL,
	version     TEXT   NOT NULL, -- the source's entity tag
	round       BIGINT NOT NULL, -- of the full listing that last told of it
	fault       TEXT   NOT NULL, -- why it is kept out, or its last good state shown; '' where it is not
	PRIMARY KEY (calendar_id, ref)
);

CREATE INDEX mirror_objects_uid ON mirror_objects (calendar_id, uid);
