package store

import "context"

// indexedMost bounds whose words are put into the index in one transaction, and indexedText about how much of them, so that requests need not
// wait for it: the words of some events are a hundred times as long as those of others.
const indexedMost, indexedText = 500, 512 << 10

// IndexWords puts the words that wait into the index. Only on SQLite do any wait: those of events that others have as well, such as the
// copies of an invitation. A search finds them meanwhile by their texts. Several processes may do so at once.
func (s *Store) IndexWords(ctx context.Context) error {
	if s.engine.search.waiting == "" {
		return nil
	}
	for {
		last, err := s.indexSome(ctx)
		if err != nil || last == 0 {
			return err
		}
	}
}

// indexSome puts in those that have waited for longest, and returns the turn of the last of them; 0 where none wait.
func (s *Store) indexSome(ctx context.Context) (last int64, err error) {
	if last, err = rowOf(ctx, s.reads, scanNumber, s.engine.search.waiting, indexedMost, indexedText); err != nil || last == 0 {
		return 0, err
	}
	return last, s.transact(ctx, func(t *Tx) error {
		if err := t.run(ctx, s.engine.search.index, last); err != nil {
			return err
		}
		return t.run(ctx, s.engine.search.indexed, last)
	})
}
