-- The address that organizes events created in a linked calendar, '' if it is unknown; whether the provider has proven that it is the
-- account's; and the provider that notifies the attendees itself, '' if none does. The next listing of the account's calendars fills them.
ALTER TABLE calendars ADD COLUMN origin_address TEXT NOT NULL DEFAULT '';
ALTER TABLE calendars ADD COLUMN origin_own BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE calendars ADD COLUMN origin_notifier TEXT NOT NULL DEFAULT '';
