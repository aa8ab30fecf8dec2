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
