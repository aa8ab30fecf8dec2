-- How a sharee has the calendar for themselves; NULL is as the owner has it.
ALTER TABLE shares ADD COLUMN own_name TEXT;
ALTER TABLE shares ADD COLUMN own_color TEXT;
ALTER TABLE shares ADD COLUMN own_position BIGINT;

-- The properties that a sharee's clients made up for the calendar, as those of its owner's clients
-- stand in calendar_kept. Whoever loses the share loses them.
CREATE TABLE share_kept (
	owner TEXT NOT NULL, -- the calendar
	item  TEXT NOT NULL, -- the user
	space TEXT NOT NULL,
	name  TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (owner, item, space, name),
	FOREIGN KEY (owner, item) REFERENCES shares (calendar_id, user_id) ON DELETE CASCADE
);

CREATE INDEX share_kept_item ON share_kept (item, owner);
