-- Both engines run this file, so it knows only TEXT, BIGINT, BOOLEAN and BYTEA. Times are Unix
-- seconds in UTC, ids come from the program. The wide columns of a table come last: SQLite reads a
-- row from its beginning and stops where it may.

-- One row: what holds for the store as a whole.
CREATE TABLE meta (
	id          BIGINT PRIMARY KEY CHECK (id = 1),
	epoch       TEXT   NOT NULL, -- one life of the store; part of every sync token
	credentials BIGINT NOT NULL, -- moves on whenever a credential changes
	derivation  BIGINT NOT NULL, -- the rules by which the objects' derived columns were made
	secret      BYTEA            -- keys that all processes on the store share are derived from it; the program makes it
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

-- The edition moves on whenever objects of the calendar change in a way that its version does not
-- tell: when what is derived of them is made anew, and when the calendar comes back from the trash,
-- which may have been emptied in part.
CREATE TABLE calendars (
	id            TEXT    NOT NULL PRIMARY KEY,
	owner_id      TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	segment       TEXT    NOT NULL,
	version       BIGINT  NOT NULL, -- of the latest change
	edition       BIGINT  NOT NULL DEFAULT 0, -- with the version it names one state of the calendar's rows
	pruned        BIGINT  NOT NULL, -- of the latest tombstone that was dropped
	created       BIGINT  NOT NULL,
	modified      BIGINT  NOT NULL,
	trashed       BIGINT,           -- when it went to the trash
	name          TEXT    NOT NULL,
	color         TEXT,
	position      BIGINT,
	kinds         TEXT    NOT NULL,
	transparent   BOOLEAN NOT NULL,
	hidden        BOOLEAN NOT NULL DEFAULT FALSE, -- left out where calendars are not named; a sharee's own word is in shares
	timezone      TEXT    NOT NULL,
	description   TEXT,
	timezone_data TEXT
);

-- What lies in the trash must not block its address.
CREATE UNIQUE INDEX calendars_live_segment ON calendars (owner_id, segment) WHERE trashed IS NULL;

-- What lies in the trash is found without a walk over all that does not.
CREATE INDEX calendars_trash ON calendars (owner_id) WHERE trashed IS NOT NULL;

-- What users may do with calendars of others, and how they have them for themselves, where NULL is
-- as the owner has it. As caldav-sharing §5.5.5 wants it, a shared calendar takes none of the
-- sharee's time until they say so.
CREATE TABLE shares (
	calendar_id     TEXT    NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	user_id         TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	access          TEXT    NOT NULL,
	created         BIGINT  NOT NULL,
	own_opaque      BOOLEAN NOT NULL DEFAULT FALSE,
	own_hidden      BOOLEAN NOT NULL DEFAULT FALSE,
	own_position    BIGINT,
	own_color       TEXT,
	own_name        TEXT,
	own_description TEXT,
	PRIMARY KEY (calendar_id, user_id)
);

CREATE INDEX shares_user ON shares (user_id, calendar_id);

-- Whom the owner of a calendar offered what of it, and what they said. What they may do stands only
-- in shares, where an offer has a row from when it is accepted until it is given up or taken back.
CREATE TABLE invitations (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	access      TEXT   NOT NULL,
	status      TEXT   NOT NULL, -- pending, accepted or declined
	summary     TEXT   NOT NULL, -- what the owner calls the calendar towards them
	common_name TEXT   NOT NULL, -- what the owner calls them
	created     BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, user_id)
);

CREATE INDEX invitations_user ON invitations (user_id, calendar_id);

-- Users hear in notices what became of calendars that are shared with them, or by them.
CREATE TABLE notice_boxes (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	version BIGINT NOT NULL, -- of the latest change
	pruned  BIGINT NOT NULL  -- of the latest removal that was forgotten
);

CREATE TABLE notices (
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT   NOT NULL,
	version BIGINT NOT NULL, -- the box's, of the latest change of this notice
	created BIGINT NOT NULL,
	waits   BOOLEAN NOT NULL, -- for an answer, so that it does not grow old
	gone    BIGINT,           -- when it was removed
	data    TEXT   NOT NULL,
	PRIMARY KEY (user_id, name)
);

-- Secret addresses at which anybody reads a calendar, or when its owner is busy, without logging in.
CREATE TABLE links (
	id          TEXT   NOT NULL PRIMARY KEY,
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	name        TEXT   NOT NULL,
	access      TEXT   NOT NULL, -- in the words of shares
	hash        TEXT   NOT NULL,
	created     BIGINT NOT NULL,
	expires     BIGINT,
	used        BIGINT,
	revoked     BIGINT
);

CREATE INDEX links_calendar ON links (calendar_id);

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
	revoked BIGINT,
	-- The only tools that an assistant with the token is offered, by name, with blanks between; NULL
	-- for all. A token whose tools a later release has dropped must not become one for all.
	tools   TEXT
);

CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE token_calendars (
	token_id    TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
	calendar_id TEXT NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	PRIMARY KEY (token_id, calendar_id)
);

CREATE INDEX token_calendars_calendar ON token_calendars (calendar_id);

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
	whom        TEXT   NOT NULL DEFAULT '', -- of a change of who has the calendar: whom it is about,
	given       TEXT   NOT NULL DEFAULT '', -- and what they were given
	before      BYTEA,
	PRIMARY KEY (calendar_id, version)
);

-- The deletions whose bytes are kept still. The journal's lines stay for ever, and most are about other changes.
CREATE INDEX journal_deletions ON journal (calendar_id, uid, version) WHERE change = 'deleted' AND before IS NOT NULL;

-- The history of one object, and with the empty uid that of the calendar's own settings.
CREATE INDEX journal_uid ON journal (calendar_id, uid, version);

-- What one credential did. Most lines are of passwords, which have none.
CREATE INDEX journal_token ON journal (token_id, calendar_id, version) WHERE token_id <> '';

CREATE INDEX journal_whom ON journal (calendar_id, whom, version) WHERE whom <> '';

-- Changes that were made in one transaction are taken back together. The first of them has no row
-- here, so that a change that stands alone, as most do, costs none.
CREATE TABLE journal_units (
	calendar_id   TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	version       BIGINT NOT NULL,
	head_calendar TEXT   NOT NULL, -- the first of them; no key: that calendar may go before this one
	head_version  BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, version)
);

CREATE INDEX journal_units_head ON journal_units (head_calendar, head_version);

-- Which change took back which, both of one calendar.
CREATE TABLE journal_undone (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	version     BIGINT NOT NULL, -- of the change that was taken back
	undone_by   BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, version, undone_by)
);

CREATE INDEX journal_undone_by ON journal_undone (calendar_id, undone_by);

-- Properties that clients made up and that are kept as they were written. Of a user there are
-- those of the principal and of the home.
CREATE TABLE user_kept (
	owner TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	item  TEXT NOT NULL, -- 'principal' or 'home'
	space TEXT NOT NULL, -- the namespace of the property's name
	name  TEXT NOT NULL,
	value TEXT NOT NULL, -- the whole element
	PRIMARY KEY (owner, item, space, name)
);

CREATE TABLE calendar_kept (
	owner TEXT NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	item  TEXT NOT NULL, -- the object's name; empty for the calendar itself
	space TEXT NOT NULL,
	name  TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (owner, item, space, name)
);

-- The properties that a sharee's clients made up for the calendar, as those of its owner's clients
-- stand in calendar_kept. Whoever loses the share loses them.
CREATE TABLE share_kept (
	owner TEXT NOT NULL, -- the calendar
	item  TEXT NOT NULL, -- the user
	space TEXT NOT NULL,
	name  TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (owner, item, space, name),
	FOREIGN KEY (owner, item) REFERENCES shares (calendar_id, user_id) ON DELETE CASCADE
);

CREATE INDEX share_kept_item ON share_kept (item, owner);

-- What a home held when it was last asked what changed in it. Calendars change without touching
-- these tables, so that writers of different calendars need not wait for each other.
CREATE TABLE homes (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	version BIGINT NOT NULL, -- of the latest change that was noticed
	pruned  BIGINT NOT NULL, -- of the latest removal that was forgotten
	-- When a calendar last took the address of another one in the home. To a token that is bound to
	-- some calendars the new one does not exist, and that the old one is gone would not be told by the
	-- home's members: its programs start over.
	replaced BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE home_members (
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	address     TEXT   NOT NULL,
	calendar_id TEXT   NOT NULL, -- no key: a removal is remembered longer than the calendar
	seen        BIGINT NOT NULL, -- the calendar's version at that time
	access      BIGINT NOT NULL, -- what the user could do with it at that time
	version     BIGINT NOT NULL, -- the home's, of the latest change of this member
	gone        BIGINT,          -- when it was found to be gone
	PRIMARY KEY (user_id, address)
);

-- Calls that a client may repeat when it lost the answer, and what came of them. They are kept for a day.
CREATE TABLE attempts (
	user_id  TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	token_id TEXT   NOT NULL, -- no key: '' where there is none
	name     TEXT   NOT NULL, -- the client's, for the call
	digest   TEXT   NOT NULL, -- of what was asked
	uid      TEXT   NOT NULL, -- for what the call makes
	answer   BYTEA,           -- NULL while the call goes on
	at       BIGINT NOT NULL, -- when it last began
	PRIMARY KEY (user_id, token_id, name)
);

-- What sessions of assistants want to be told of. The process that a session is told by need not be the one that it asked.
CREATE TABLE subscriptions (
	subscriber  TEXT   NOT NULL, -- stands for the session
	name        TEXT   NOT NULL, -- what the subscriber calls it
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	uid         TEXT   NOT NULL, -- of an object in it; '' for the calendar itself
	seen        TEXT   NOT NULL, -- the state that the subscriber knows of
	until       BIGINT NOT NULL, -- when it is over
	PRIMARY KEY (subscriber, name)
);

CREATE INDEX subscriptions_user ON subscriptions (user_id, until);
CREATE INDEX subscriptions_calendar ON subscriptions (calendar_id);
