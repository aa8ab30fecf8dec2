-- Each new object had its calendar looked for by its foreign key, behind a statement of the same transaction that has the calendar's lock.
-- The program takes a calendar's objects away before the calendar, see docs/decisions/0085-object-keys.md. The journal keeps its key: a
-- change that is decided before the lock writes a line, and is refused by it where the calendar is gone.
--
-- What reads for long holds the tables. Whoever comes behind a migration that waits for it waits too, so that this one gives up soon, and
-- comes again. Changes lock the tables in this order.
SET LOCAL lock_timeout = '500ms';

LOCK TABLE calendars, objects IN ACCESS EXCLUSIVE MODE;

ALTER TABLE objects DROP CONSTRAINT IF EXISTS objects_calendar_id_fkey;
