-- A proposal waits for a decision also after a program has removed its message from the inbox. What was removed until now is none.
UPDATE inbox_items SET method = '' WHERE gone IS NOT NULL AND method = 'COUNTER';

DROP INDEX inbox_items_proposals;

CREATE INDEX inbox_items_proposals ON inbox_items (user_id, created, version) WHERE method = 'COUNTER';
