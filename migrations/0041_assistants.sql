-- Whether a change was made through MCP. Earlier lines do not say it; those of programs that asked for access by OAuth count, since
-- only assistants do so.
ALTER TABLE journal ADD COLUMN assistant BOOLEAN NOT NULL DEFAULT FALSE;

CREATE INDEX journal_assistant ON journal (calendar_id, version) WHERE assistant;

UPDATE journal SET assistant = TRUE
	WHERE token_id <> '' AND token_id IN (SELECT id FROM tokens WHERE client <> '');
