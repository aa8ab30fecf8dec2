-- The token that set up a webhook, a share or a linked account, and its name then; '' for the user's own pages and the command line.
-- No key: what a token set up outlives it.
ALTER TABLE webhooks ADD COLUMN maker_token TEXT NOT NULL DEFAULT '';
ALTER TABLE webhooks ADD COLUMN maker TEXT NOT NULL DEFAULT '';
ALTER TABLE invitations ADD COLUMN maker_token TEXT NOT NULL DEFAULT '';
ALTER TABLE invitations ADD COLUMN maker TEXT NOT NULL DEFAULT '';
ALTER TABLE linked_accounts ADD COLUMN maker_token TEXT NOT NULL DEFAULT '';
ALTER TABLE linked_accounts ADD COLUMN maker TEXT NOT NULL DEFAULT '';
