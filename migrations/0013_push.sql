-- Who is told of changes elsewhere. What there is to tell is what is in the calendars' own versions by now and not yet in
-- these rows: a change writes nothing here.

-- Programs on devices, by WebDAV-Push. told and told_own are the state of the calendar that the program knows of; of a home,
-- told is a sum over its calendars.
CREATE TABLE push_subscriptions (
	id          TEXT   NOT NULL PRIMARY KEY,
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	token_id    TEXT   NOT NULL, -- the credential that made it; '' for the password. No key: whether it is good is looked at
	calendar_id TEXT   NOT NULL, -- '' for the home, hence no key; of a calendar that is gone nothing is told
	expires     BIGINT NOT NULL,
	told        BIGINT NOT NULL,
	told_own    BIGINT NOT NULL,
	due         BIGINT NOT NULL, -- not to be told earlier
	tries       BIGINT NOT NULL, -- since it was last told
	endpoint    TEXT   NOT NULL,
	public_key  BYTEA  NOT NULL,
	auth        BYTEA  NOT NULL
);

CREATE UNIQUE INDEX push_subscriptions_of ON push_subscriptions (user_id, calendar_id, endpoint);

-- Programs elsewhere, by webhooks. The secret is not here: it is made of the store's, the id and the number.
CREATE TABLE webhooks (
	id      TEXT    NOT NULL PRIMARY KEY,
	user_id TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	url     TEXT    NOT NULL,
	kinds   TEXT    NOT NULL, -- of changes, with blanks between; '' for all
	content BOOLEAN NOT NULL, -- what changed is told with its title
	number  BIGINT  NOT NULL, -- of the secret
	rotated BIGINT  NOT NULL, -- since when; the one before is used for a while
	state   TEXT    NOT NULL, -- on, gone or failing
	failing BIGINT  NOT NULL, -- since when nothing arrived; 0 where the last did
	created BIGINT  NOT NULL
);

CREATE INDEX webhooks_user ON webhooks (user_id);

-- How much of each calendar a webhook was told.
CREATE TABLE webhook_marks (
	webhook_id  TEXT   NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	told        BIGINT NOT NULL,
	PRIMARY KEY (webhook_id, calendar_id)
);

CREATE INDEX webhook_marks_calendar ON webhook_marks (calendar_id);

CREATE TABLE webhook_deliveries (
	id          TEXT   NOT NULL PRIMARY KEY,
	webhook_id  TEXT   NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
	calendar_id TEXT   NOT NULL, -- no key: what was told stays in the list
	made        BIGINT NOT NULL,
	due         BIGINT NOT NULL,
	tries       BIGINT NOT NULL,
	state       TEXT   NOT NULL, -- waiting, delivered or failed
	answer      TEXT   NOT NULL, -- to the last try
	ended       BIGINT NOT NULL, -- 0 while it waits
	body        TEXT   NOT NULL
);

CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, made);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due, id) WHERE state = 'waiting';

-- Who wants a mail of the day. posted is the last day of their own for which there was one.
CREATE TABLE digests (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	hour    BIGINT NOT NULL, -- of their day
	agenda  BOOLEAN NOT NULL, -- what is on tomorrow
	changes BOOLEAN NOT NULL, -- what assistants changed today
	posted  TEXT   NOT NULL,
	due     BIGINT NOT NULL
);

CREATE INDEX digests_due ON digests (due);
