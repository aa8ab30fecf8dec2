-- Words come here folded, and are taken as they are: the server's parsers and dictionaries, which
-- differ from machine to machine, have no say. The calendar is a word too, which no text can
-- have: what others keep costs a search nothing.
ALTER TABLE objects ADD COLUMN words TSVECTOR GENERATED ALWAYS AS (array_to_tsvector(array_remove(
	ARRAY['§' || replace(calendar_id, '-', '')] || string_to_array(search, ' '), ''))) STORED;

CREATE INDEX objects_words ON objects USING gin (words) WHERE NOT deleted;
