package store

import (
	"context"

	"caldav-mcp-server/store/db"
)

// indexedMost is the most objects indexed in one transaction, indexedText the approximate size of their texts,
// so that requests do not wait for it: some events have a hundred times as much text as others.
const indexedMost, indexedText = 500, 512 << 10

// IndexWords adds waiting texts to the full-text index. Only copies of an event wait, such as the copies of an
// invitation, and only on SQLite. Until then, searches scan their texts. Several processes may call it at once.
func (s objectStore) IndexWords(ctx context.Context) error {
	if s.search.waiting == "" {
		return nil
	}
	for {
		last, err := s.indexSome(ctx)
		if err != nil || last == 0 {
			return err
		}
	}
}

// indexSome indexes the texts that have waited longest, and returns the turn of the last one, or 0 if none
// wait.
func (s objectStore) indexSome(ctx context.Context) (last int64, err error) {
	if last, err = db.RowOf(ctx, s.db.Reads, db.ScanNumber, s.search.waiting, indexedMost, indexedText); err != nil || last == 0 {
		return 0, err
	}
	return last, s.transact(ctx, func(t *transaction) error {
		if err := t.Run(ctx, s.search.index, last); err != nil {
			return err
		}
		return t.Run(ctx, s.search.indexed, last)
	})
}
