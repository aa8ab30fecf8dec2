-- What lies in the trash is found without a walk over all that does not.
CREATE INDEX calendars_trash ON calendars (owner_id) WHERE trashed IS NOT NULL;

-- The deletions whose bytes are kept still. The journal's lines stay for ever, and most are about other changes.
CREATE INDEX journal_deletions ON journal (calendar_id, uid, version) WHERE change = 'deleted' AND before IS NOT NULL;
