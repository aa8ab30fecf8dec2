-- Rooms and resources are users as whom nobody gets in, and who answer invitations by themselves.
ALTER TABLE users ADD COLUMN place TEXT NOT NULL DEFAULT '';          -- room or resource; '' for a person
ALTER TABLE users ADD COLUMN capacity BIGINT NOT NULL DEFAULT 0;      -- how many people it takes; 0 for any number
ALTER TABLE users ADD COLUMN bookers TEXT NOT NULL DEFAULT '';        -- who may book it: '' for users, '*' for anybody, or the id of a user or a group
ALTER TABLE users ADD COLUMN by_hand BOOLEAN NOT NULL DEFAULT FALSE;  -- only people answer for it

-- Invitations of rooms that wait for an answer: a server that was stopped between the two gives it later.
CREATE TABLE bookings (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	uid         TEXT   NOT NULL,
	posted      BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, uid)
);
