-- What keys are derived from that all processes on the store share. The program makes it.
ALTER TABLE meta ADD COLUMN secret BYTEA;
