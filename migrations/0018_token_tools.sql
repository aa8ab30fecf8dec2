-- The only tools that an assistant with the token is offered, by name, with blanks between; null for
-- all there are. A token whose tools a later release has dropped must not become one for all.
ALTER TABLE tokens ADD COLUMN tools TEXT;
