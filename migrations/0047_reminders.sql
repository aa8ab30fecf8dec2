-- The users who want to be notified without an app, and their choices. A user without a row gets nothing.
CREATE TABLE reminder_settings (
	user_id     TEXT    NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
	before      BIGINT  NOT NULL, -- minutes before the start of an event without reminders; -1 for none
	alarms      TEXT    NOT NULL, -- browser, mail or none; as the next three
	invitations TEXT    NOT NULL,
	shares      TEXT    NOT NULL,
	changes     TEXT    NOT NULL, -- made by other users
	mails       BOOLEAN NOT NULL, -- reminders with ACTION:EMAIL are mailed
	number      BIGINT  NOT NULL, -- counts the changes of this row; a plan with another number is made again
	since       BIGINT  NOT NULL, -- of the last change; earlier reminders are silent
	zone        TEXT    NOT NULL, -- the user's time zone at that time, which dates and floating times follow
	inbox       BIGINT  NOT NULL, -- the version of the inbox that was reported
	notices     BIGINT  NOT NULL  -- the version of the notices that was reported
);

-- Per user and calendar: the switch, and how far the calendar's reminders are planned.
CREATE TABLE reminder_calendars (
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	switched    TEXT   NOT NULL, -- on, off, or '' for the default: on for own calendars, except copies that cannot be written to
	number      BIGINT NOT NULL, -- of the settings that the plan follows
	since       BIGINT NOT NULL, -- when it was switched on; earlier reminders are silent
	version     BIGINT NOT NULL, -- of the calendar, as planned
	own         BIGINT NOT NULL, -- of the sharee's own parts, as planned
	reported    BIGINT NOT NULL, -- the version up to which other users' changes were reported
	token       TEXT   NOT NULL, -- the sync token of the plan; '' for none
	epoch       TEXT   NOT NULL, -- of the store, as planned
	PRIMARY KEY (user_id, calendar_id)
);

CREATE INDEX reminder_calendars_calendar ON reminder_calendars (calendar_id);

-- The next reminder of each object for each user, and the reminders that were put off.
CREATE TABLE reminders (
	user_id     TEXT   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
	calendar_id TEXT   NOT NULL REFERENCES calendars (id) ON DELETE CASCADE,
	name        TEXT   NOT NULL, -- of the object. No key: the object may be gone
	snoozed     TEXT   NOT NULL, -- the instance that was put off, by its original start; '' for the next reminder
	at          BIGINT,          -- NULL for none
	rung        BIGINT NOT NULL, -- the last time that rang
	PRIMARY KEY (user_id, calendar_id, name, snoozed)
);

CREATE INDEX reminders_due ON reminders (user_id, at);

CREATE INDEX reminders_calendar ON reminders (calendar_id);
