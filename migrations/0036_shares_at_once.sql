-- Shares are in force at once unless the server asks (SHARES_NEED_ACCEPTANCE), which 0.1.0 did by default. A database that has users by
-- now was made by 0.1.0: it goes on asking until its administrator says otherwise. The row is one that set-server writes; a new
-- database has no users yet, and gets none.
INSERT INTO server_settings (name, value, changed)
	SELECT 'SHARES_NEED_ACCEPTANCE', 'true', (SELECT MAX(created) FROM users) WHERE EXISTS (SELECT 1 FROM users)
	ON CONFLICT (name) DO NOTHING;

-- Whom users have blocked: no calendar of these users is shared with them.
CREATE TABLE share_blocks (
	user_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	blocked_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	created    BIGINT NOT NULL,
	PRIMARY KEY (user_id, blocked_id)
);

CREATE INDEX share_blocks_blocked ON share_blocks (blocked_id);

-- Which calendars a user shared with another one within a day, also those that are no longer shared.
CREATE TABLE new_shares (
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE, -- the sharee
	owner_id    TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	calendar_id TEXT   NOT NULL, -- no key: a deleted calendar counts as well
	created     BIGINT NOT NULL,
	mailed      BOOLEAN NOT NULL DEFAULT FALSE, -- the sharee was asked by mail
	PRIMARY KEY (user_id, owner_id, calendar_id)
);

CREATE INDEX new_shares_owner ON new_shares (owner_id);
