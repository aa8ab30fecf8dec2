-- Whom the owner of a calendar offered what of it, and what they said. What they may do stands in
-- shares alone, where an offer has a row from when it is accepted until it is given up or taken back.
CREATE TABLE invitations (
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	access      TEXT   NOT NULL,
	status      TEXT   NOT NULL, -- pending, accepted or declined
	summary     TEXT   NOT NULL, -- what the owner calls the calendar towards them
	common_name TEXT   NOT NULL, -- what the owner calls them
	created     BIGINT NOT NULL,
	PRIMARY KEY (calendar_id, user_id)
);

CREATE INDEX invitations_user ON invitations (user_id, calendar_id);

INSERT INTO invitations (calendar_id, user_id, access, status, summary, common_name, created)
	SELECT calendar_id, user_id, access, 'accepted', '', '', created FROM shares;

-- What of a shared calendar is the sharee's own besides its name, colour and place. As
-- caldav-sharing §5.5.5 wants it, a shared calendar takes none of the sharee's time until they say so.
ALTER TABLE shares ADD COLUMN own_description TEXT;
ALTER TABLE shares ADD COLUMN own_opaque BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE shares ADD COLUMN own_hidden BOOLEAN NOT NULL DEFAULT FALSE;

-- Users hear in notices what became of calendars that are shared with them, or by them.
CREATE TABLE notice_boxes (
	user_id TEXT   NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	version BIGINT NOT NULL, -- of the latest change
	pruned  BIGINT NOT NULL  -- of the latest removal that was forgotten
);

CREATE TABLE notices (
	user_id TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	name    TEXT   NOT NULL,
	version BIGINT NOT NULL, -- the box's, of the latest change of this notice
	created BIGINT NOT NULL,
	waits   BOOLEAN NOT NULL, -- for an answer, so that it does not grow old
	gone    BIGINT,           -- when it was removed
	data    TEXT   NOT NULL,
	PRIMARY KEY (user_id, name)
);

-- Of a change of who has the calendar: whom it is about, and what they were given.
ALTER TABLE journal ADD COLUMN whom TEXT NOT NULL DEFAULT '';
ALTER TABLE journal ADD COLUMN given TEXT NOT NULL DEFAULT '';

CREATE INDEX journal_whom ON journal (calendar_id, whom, version) WHERE whom <> '';

-- Left out where calendars are not named; the sharees' own word for it is in shares.
ALTER TABLE calendars ADD COLUMN hidden BOOLEAN NOT NULL DEFAULT FALSE;
