-- The objects that assistants created (calendar.JournalReader, Assistants).
CREATE INDEX journal_made ON journal (uid) WHERE assistant AND change = 'created';
