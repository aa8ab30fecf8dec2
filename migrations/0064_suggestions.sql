-- Changes that assistants propose. Their users accept or decline them. The outcome is kept until they expire, for the
-- assistant.
CREATE TABLE suggestions (
	id       TEXT   NOT NULL PRIMARY KEY,
	user_id  TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	token_id TEXT   NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
	agent    TEXT   NOT NULL, -- the name of the token or its program
	state    TEXT   NOT NULL, -- open, accepted or declined
	created  BIGINT NOT NULL,
	expires  BIGINT NOT NULL,
	size     BIGINT NOT NULL, -- the size of parts in bytes
	parts    BYTEA  NOT NULL  -- the changes, as JSON (calendar.SuggestedPart); [] once it is decided
);

CREATE INDEX suggestions_user ON suggestions (user_id, created);

CREATE INDEX suggestions_token ON suggestions (token_id);

CREATE INDEX suggestions_expires ON suggestions (expires);
