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

-- What a home held when it was last asked what changed in it. Calendars change without touching
-- these tables, so that writers of different calendars need not wait for each other.
CREATE TABLE homes (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	version BIGINT NOT NULL, -- of the latest change that was noticed
	pruned  BIGINT NOT NULL  -- of the latest removal that was forgotten
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
