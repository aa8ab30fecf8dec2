-- What a change writes into many calendars lies together where an index begins with what it is about: there all copies of an event
-- are neighbours, and not each on a page of its own. Both columns are always asked for.
CREATE UNIQUE INDEX IF NOT EXISTS objects_copies ON objects (uid, calendar_id) WHERE NOT deleted;

DROP INDEX objects_live_uid;

DROP INDEX objects_uid;

CREATE INDEX IF NOT EXISTS journal_copies ON journal (uid, calendar_id, version);

DROP INDEX journal_uid;

-- The tags of a calendar's objects are found in the index of spans, which has the names as well: whatever is near a window is found without
-- a look at the rows.
CREATE INDEX IF NOT EXISTS objects_when ON objects (calendar_id, reach, span_start, span_end, name, schedule_tag);

DROP INDEX objects_span;

DROP INDEX objects_schedule_tag;
