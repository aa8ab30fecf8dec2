-- Brings back the foreign key of objects that 0030 dropped. Rows of calendars that are gone, which a server of a version before 0030 can
-- have left, would violate it. The lock keeps other servers from writing meanwhile. A transaction that reads for long does not delay it.
SET LOCAL lock_timeout = '500ms';

LOCK TABLE calendars, objects IN SHARE ROW EXCLUSIVE MODE;

DELETE FROM objects WHERE calendar_id IN (SELECT o.calendar_id FROM (SELECT DISTINCT calendar_id FROM objects) o
	WHERE NOT EXISTS (SELECT FROM calendars c WHERE c.id = o.calendar_id));

ALTER TABLE objects ADD CONSTRAINT objects_calendar_id_fkey FOREIGN KEY (calendar_id) REFERENCES calendars (id) ON DELETE CASCADE;
