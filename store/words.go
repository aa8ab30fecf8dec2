package store

import "context"

// indexedMost bounds whose words are put into the index in one transaction, so that requests need not wait for it.
const indexedMost = 500

// IndexWords puts the words that wait into the index. Only on SQLite do any wait: those of events that others have as well, such as the
// copies of an invitation. A search finds them meanwhile by their texts. Several processes may do so at once.
func (s *Store) IndexWords(ctx context.Context) error {
	if s.engine.search.waiting == "" {
		return nil
	}
	for {
		waiting, err := rowOf(ctx, s.reads, scanOnly[bool], s.engine.search.waiting)
		if err != nil || !waiting {
			return err
		}
		err = s.transact(ctx, func(t *Tx) error {
			if err := t.run(ctx, s.engine.search.index, indexedMost); err != nil {
				return err
			}
			return t.run(ctx, s.engine.search.indexed, indexedMost)
		})
		if err != nil {
			return err
		}
	}
}
