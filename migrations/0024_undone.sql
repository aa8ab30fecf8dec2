-- What a change took back is read from the index alone. Of an index that lacked the version, SQLite took the key's instead, and
-- walked over all that was ever taken back in the calendar, for each line of its journal.

DROP INDEX journal_undone_by;

CREATE INDEX journal_undone_by ON journal_undone (calendar_id, undone_by, version);
