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
