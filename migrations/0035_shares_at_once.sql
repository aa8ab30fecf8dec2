-- Shares are in force at once unless SHARES_NEED_ACCEPTANCE is true, which was the default of 0.1.0. A database that has users
-- was made by 0.1.0 and goes on asking, until its administrator changes that with set-server. A new database has no users yet, and
-- gets no row.
INSERT INTO server_settings (name, value, changed)
	SELECT 'SHARES_NEED_ACCEPTANCE', 'true', (SELECT MAX(created) FROM users) WHERE EXISTS (SELECT 1 FROM users)
	ON CONFLICT (name) DO NOTHING;

-- The users whom a user has blocked. No calendar of a blocked user is shared with that user.
CREATE TABLE share_blocks (
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	blocked_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	created    BIGINT NOT NULL,
	PRIMARY KEY (user_id, blocked_id)
);

CREATE INDEX share_blocks_blocked ON share_blocks (blocked_id);

-- The new shares of the last day, counted against a limit for each pair of users, also shares that have ended since.
CREATE TABLE new_shares (
	user_id     TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE, -- the sharee
	owner_id    TEXT    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	number      BIGINT  NOT NULL, -- counts the shares of the two
	calendar_id TEXT    NOT NULL, -- no foreign key: shares of deleted calendars count
	created     BIGINT  NOT NULL,
	mailed      BOOLEAN NOT NULL DEFAULT FALSE, -- a mail asked the sharee to accept
	PRIMARY KEY (user_id, owner_id, number)
);

CREATE INDEX new_shares_owner ON new_shares (owner_id);
