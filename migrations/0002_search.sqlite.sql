-- The rows of the index. VACUUM may number objects anew, but not what has a number of its own;
-- and what decides which of many matches are wanted is here, so that those alone are read.
CREATE TABLE search_rows (
	id          INTEGER PRIMARY KEY,
	calendar_id TEXT    NOT NULL,
	name        TEXT    NOT NULL,
	kind        TEXT    NOT NULL,
	span_start  BIGINT  NOT NULL,
	span_end    BIGINT  NOT NULL,
	UNIQUE (calendar_id, name)
);

-- Words come here folded, in a form that the plainest tokenizer leaves as it is. Each has its
-- calendar before it: what others keep costs a search nothing.
CREATE VIRTUAL TABLE search_words USING fts5 (words, tokenize = 'ascii', content = '', contentless_delete = 1, detail = none);

CREATE TRIGGER search_added AFTER INSERT ON objects
BEGIN
	INSERT INTO search_rows (calendar_id, name, kind, span_start, span_end)
		VALUES (new.calendar_id, new.name, new.kind, new.span_start, new.span_end);
	INSERT INTO search_words (rowid, words)
		SELECT last_insert_rowid(), replace(' ' || new.search, ' ', ' ' || replace(new.calendar_id, '-', '') || '§')
		WHERE NOT new.deleted;
END;

CREATE TRIGGER search_moved AFTER UPDATE OF kind, span_start, span_end ON objects
WHEN (old.kind, old.span_start, old.span_end) <> (new.kind, new.span_start, new.span_end)
BEGIN
	UPDATE search_rows SET kind = new.kind, span_start = new.span_start, span_end = new.span_end
		WHERE calendar_id = new.calendar_id AND name = new.name;
END;

-- What is buried keeps its row, for it may come back under its name.
CREATE TRIGGER search_changed AFTER UPDATE OF deleted, search ON objects
WHEN (old.deleted, old.search) <> (new.deleted, new.search)
BEGIN
	DELETE FROM search_words
		WHERE rowid = (SELECT id FROM search_rows WHERE calendar_id = new.calendar_id AND name = new.name);
	INSERT INTO search_words (rowid, words)
		SELECT id, replace(' ' || new.search, ' ', ' ' || replace(new.calendar_id, '-', '') || '§')
		FROM search_rows WHERE calendar_id = new.calendar_id AND name = new.name AND NOT new.deleted;
END;

CREATE TRIGGER search_removed AFTER DELETE ON objects
BEGIN
	DELETE FROM search_words
		WHERE rowid = (SELECT id FROM search_rows WHERE calendar_id = old.calendar_id AND name = old.name);
	DELETE FROM search_rows WHERE calendar_id = old.calendar_id AND name = old.name;
END;
