-- Users whom a booking page names in addition to its owner. The page uses their times only if they agreed.
CREATE TABLE booking_people (
	page_id TEXT   NOT NULL REFERENCES booking_pages (id) ON DELETE CASCADE,
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	answer  TEXT   NOT NULL, -- yes, no, or empty while there is none
	place   BIGINT NOT NULL, -- in the page's list; -1 if a person who said no was removed
	PRIMARY KEY (page_id, user_id)
);

CREATE INDEX booking_people_user ON booking_people (user_id);

-- The user who gets the booking; empty for the page's owner.
ALTER TABLE booking_holds ADD COLUMN host TEXT NOT NULL DEFAULT '';

CREATE INDEX booking_holds_calendar ON booking_holds (calendar_id, ends);
