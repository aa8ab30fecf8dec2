-- Polls: times that a user offers to several people by link.
CREATE TABLE polls (
	id          TEXT   NOT NULL PRIMARY KEY,
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	link        TEXT   NOT NULL UNIQUE, -- the secret of the link for everyone
	state       TEXT   NOT NULL,        -- open, picked or cancelled
	version     BIGINT NOT NULL,
	closes      BIGINT NOT NULL,        -- no answers afterwards
	ends        BIGINT NOT NULL,        -- deleted afterwards
	created     BIGINT NOT NULL,
	settings    BYTEA  NOT NULL,        -- JSON (poll.Settings)
	picked      BIGINT NOT NULL,        -- the id of the time; 0 before
	calendar_id TEXT   NOT NULL,        -- of the event
	uid         TEXT   NOT NULL
);

CREATE INDEX polls_user ON polls (user_id, created);

CREATE INDEX polls_ends ON polls (ends);

-- People who were asked, or who answered by the link for everyone.
CREATE TABLE poll_people (
	id        TEXT    NOT NULL PRIMARY KEY,
	poll_id   TEXT    NOT NULL REFERENCES polls (id) ON DELETE CASCADE,
	link      TEXT    NOT NULL UNIQUE, -- the secret of their own link
	invited   BOOLEAN NOT NULL,        -- by the owner
	name      TEXT    NOT NULL,
	address   TEXT    NOT NULL,        -- may be empty
	zone      TEXT    NOT NULL,
	network   TEXT    NOT NULL,        -- a hash
	created   BIGINT  NOT NULL,
	answers   BYTEA   NOT NULL,        -- JSON (poll.Answers)
	changes   BIGINT  NOT NULL,        -- the version of the answers; 0 without any
	reminded  BIGINT  NOT NULL,        -- when, the last time
	reminders BIGINT  NOT NULL
);

CREATE INDEX poll_people_poll ON poll_people (poll_id, created);

CREATE INDEX poll_people_network ON poll_people (network, created);
