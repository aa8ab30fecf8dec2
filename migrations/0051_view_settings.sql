-- How a user sees the calendar pages (calendar.ViewSettings).
ALTER TABLE users ADD COLUMN second_zone TEXT NOT NULL DEFAULT '';            -- another time zone to show
ALTER TABLE users ADD COLUMN clock TEXT NOT NULL DEFAULT '';                  -- 12 or 24; '' is as the language
ALTER TABLE users ADD COLUMN week_numbers_off BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE users ADD COLUMN working_hours_off BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE users ADD COLUMN shortcuts_off BOOLEAN NOT NULL DEFAULT FALSE;
