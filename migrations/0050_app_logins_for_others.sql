-- Whether the app's password also reaches the calendars of people who made the user their delegate (auth.AllowedApp).
ALTER TABLE app_logins ADD COLUMN for_others BOOLEAN NOT NULL DEFAULT FALSE;
