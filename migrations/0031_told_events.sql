-- Events as organizers elsewhere last told them. An attendee's own copy also has the attendee's changes.
CREATE TABLE told_events (
	user_id TEXT  NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	uid     TEXT  NOT NULL, -- no calendar: the copy may move, and may come back from the trash
	data    BYTEA NOT NULL,
	PRIMARY KEY (user_id, uid)
);
