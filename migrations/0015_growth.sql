-- When the instances of a series take place, as a pattern of hours of the week and of dates: what overlaps a window by its
-- span alone is most of a large calendar's series. All zero where nothing is known, and a reach from 4 on where it is.
ALTER TABLE objects ADD COLUMN known BIGINT NOT NULL DEFAULT 0;  -- until when, in Unix seconds
ALTER TABLE objects ADD COLUMN week_1 BIGINT NOT NULL DEFAULT 0; -- the hours of the week, 56 bits in each
ALTER TABLE objects ADD COLUMN week_2 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE objects ADD COLUMN week_3 BIGINT NOT NULL DEFAULT 0;
ALTER TABLE objects ADD COLUMN dates BIGINT NOT NULL DEFAULT 0;  -- days of the month and months

-- All that decides, so that series which do not meet a window are not read.
CREATE INDEX objects_rhythm ON objects
	(calendar_id, reach, span_start, span_end, known, week_1, week_2, week_3, dates, name) WHERE reach >= 4;
