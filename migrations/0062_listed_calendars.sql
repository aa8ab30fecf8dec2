-- Calendars of linked accounts as last listed, with or without a mirror. A calendar that is listed a second time is not new: it has no
-- mirror because its owner did not choose it, or deleted it here.
CREATE TABLE listed_calendars (
	account_id TEXT    NOT NULL REFERENCES linked_accounts (id) ON DELETE CASCADE,
	remote     TEXT    NOT NULL, -- the source's identifier
	name       TEXT    NOT NULL,
	writable   BOOLEAN NOT NULL,
	missing    BOOLEAN NOT NULL, -- the last listing lacked it
	PRIMARY KEY (account_id, remote)
);

-- Whether calendars that appear at the account later are linked, too.
ALTER TABLE linked_accounts ADD COLUMN links_new BOOLEAN NOT NULL DEFAULT TRUE;
