-- The users' answers to apps that ask for a password of their own (auth.AppLogin). A row stays until the request expires, so that a
-- request is answered once, and its password is handed out once.
CREATE TABLE app_logins (
	id TEXT NOT NULL PRIMARY KEY,
	user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE, -- the user who answered
	allowed BOOLEAN NOT NULL, -- false if the user refused, and after the app has got its password
	until BIGINT NOT NULL
);

CREATE INDEX app_logins_user ON app_logins (user_id);
