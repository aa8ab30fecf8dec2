-- The browsers that get notifications by Web Push. One ends with the session in which it was added.
CREATE TABLE browsers (
	id         TEXT   NOT NULL PRIMARY KEY,
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	session_id TEXT   NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
	agent      TEXT   NOT NULL, -- the browser's User-Agent
	created    BIGINT NOT NULL,
	endpoint   TEXT   NOT NULL,
	public_key BYTEA  NOT NULL,
	auth       BYTEA  NOT NULL
);

CREATE UNIQUE INDEX browsers_endpoint ON browsers (endpoint);

CREATE INDEX browsers_user ON browsers (user_id);

CREATE INDEX browsers_session ON browsers (session_id);

-- Notifications that wait to be sent.
CREATE TABLE browser_messages (
	id         TEXT   NOT NULL PRIMARY KEY,
	browser_id TEXT   NOT NULL REFERENCES browsers (id) ON DELETE CASCADE,
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	due        BIGINT NOT NULL,
	expires    BIGINT NOT NULL,
	tries      BIGINT NOT NULL,
	body       BYTEA  NOT NULL
);

CREATE INDEX browser_messages_due ON browser_messages (due, id);

CREATE INDEX browser_messages_user ON browser_messages (user_id);

CREATE INDEX browser_messages_browser ON browser_messages (browser_id);
