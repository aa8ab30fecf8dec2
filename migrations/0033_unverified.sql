-- Invitations that came by mail and were not followed, for their addressees to see.
CREATE TABLE unverified (
	user_id   TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name      TEXT    NOT NULL,
	created   BIGINT  NOT NULL,
	method    TEXT    NOT NULL,
	sender    TEXT    NOT NULL,
	proven    BOOLEAN NOT NULL,
	organizer TEXT    NOT NULL,
	title     TEXT    NOT NULL,
	start     TEXT    NOT NULL,
	why       TEXT    NOT NULL,
	known     BOOLEAN NOT NULL,
	PRIMARY KEY (user_id, name)
);
