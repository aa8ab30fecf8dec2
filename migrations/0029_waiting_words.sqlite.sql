-- What a change writes into many calendars has its words put into the index a moment later, many at a time: in the change itself they took
-- more than a third of it. Whoever searches meanwhile looks at the texts of what waits. The turn says in which order it does.
ALTER TABLE search_rows ADD COLUMN turn BIGINT;

-- All that waits is together, whatever its calendar.
CREATE INDEX search_waiting ON search_rows (turn, calendar_id) WHERE turn IS NOT NULL;

-- The turn of what comes next. There is none while so many wait that a search would be long.
CREATE VIEW search_next (turn) AS
	SELECT COALESCE(last, 0) + 1 FROM (SELECT
		(SELECT turn FROM search_rows WHERE turn IS NOT NULL ORDER BY turn LIMIT 1) AS first,
		(SELECT turn FROM search_rows WHERE turn IS NOT NULL ORDER BY turn DESC LIMIT 1) AS last)
	WHERE COALESCE(last - first, 0) < 3999;

DROP TRIGGER search_added;

DROP TRIGGER search_changed;

-- An event that others have already is the copy of an invitation.
CREATE TRIGGER search_added AFTER INSERT ON objects
BEGIN
	INSERT INTO search_rows (calendar_id, name, kind, span_start, span_end, turn)
		VALUES (new.calendar_id, new.name, new.kind, new.span_start, new.span_end, (SELECT turn FROM search_next WHERE NOT new.deleted
			AND EXISTS (SELECT 1 FROM objects o WHERE o.uid = new.uid AND o.calendar_id <> new.calendar_id AND NOT o.deleted)));
	INSERT INTO search_words (rowid, words)
		SELECT id, replace(' ' || new.search, ' ', ' ' || replace(new.calendar_id, '-', '') || '§')
		FROM search_rows WHERE id = last_insert_rowid() AND turn IS NULL AND NOT new.deleted;
END;

-- What is buried keeps its row, for it may come back under its name.
CREATE TRIGGER search_changed AFTER UPDATE OF deleted, search ON objects
WHEN (old.deleted, old.search) <> (new.deleted, new.search)
BEGIN
	DELETE FROM search_words
		WHERE rowid = (SELECT id FROM search_rows WHERE calendar_id = new.calendar_id AND name = new.name AND turn IS NULL);
	UPDATE search_rows SET turn = (SELECT turn FROM search_next WHERE NOT new.deleted
			AND EXISTS (SELECT 1 FROM objects o WHERE o.uid = new.uid AND o.calendar_id <> new.calendar_id AND NOT o.deleted))
		WHERE calendar_id = new.calendar_id AND name = new.name;
	INSERT INTO search_words (rowid, words)
		SELECT id, replace(' ' || new.search, ' ', ' ' || replace(new.calendar_id, '-', '') || '§')
		FROM search_rows WHERE calendar_id = new.calendar_id AND name = new.name AND turn IS NULL AND NOT new.deleted;
END;
