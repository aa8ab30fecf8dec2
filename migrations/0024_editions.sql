-- Moves on whenever objects of the calendar change in a way that its version does not tell: when
-- what is derived of them is made anew, and when the calendar comes back from the trash, which may
-- have been emptied in part. With the version it names one state of the calendar's rows.
ALTER TABLE calendars ADD COLUMN edition BIGINT NOT NULL DEFAULT 0;
