-- Of series whose rhythm is known, 256 times their reach above 3, and with it the hour of the week, from 1 on, with which one begins
-- that keeps within six hours of the week; 0 of everything else. A window of some hours finds by it the series of its own
-- hours, where before it looked at those of the whole year. The hours come when the index is rebuilt.
ALTER TABLE objects ADD COLUMN beat BIGINT NOT NULL DEFAULT 0;

UPDATE objects SET beat = 256 * (reach - 3) WHERE reach >= 4;

CREATE INDEX objects_beat ON objects
	(calendar_id, beat, span_start, span_end, known, week_1, week_2, week_3, dates, name) WHERE beat > 0;

-- Those of which nothing is known from a time on: a beat must not hide them then.
CREATE INDEX objects_known ON objects (calendar_id, known) WHERE known > 0 AND known < 9223372036854775807;
