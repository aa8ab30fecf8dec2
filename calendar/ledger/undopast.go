package ledger

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// ofUID and ofShare query the changes of an object or a share, starting from the earliest chosen one.
func (p *undoPlace) ofUID(uid calendar.UID) calendar.JournalQuery {
	return calendar.JournalQuery{From: p.first[uid], Of: &uid}
}

func (p *undoPlace) ofShare(user calendar.UserID) calendar.JournalQuery {
	return calendar.JournalQuery{From: p.whom[user], Whom: user}
}

// hold counts bytes before they are read.
func (u *undoing) hold(size int64) error {
	if u.held += size; u.held <= u.limits.UndoBytes {
		return nil
	}
	return calendar.Errorf(calendar.TooLarge, "", "the versions before these changes have more than %d KiB",
		u.limits.UndoBytes>>10).
		Advising("take back fewer of them, the later ones first, or correct the event by hand")
}

// past returns the changes that can be undone, with bytes, see fill.
func (t *undoIn) past(ctx context.Context, q calendar.JournalQuery) ([]calendar.Change, error) {
	var past []calendar.Change
	for e, err := range t.Journal(ctx, t.place.ID, q) {
		if err != nil {
			return nil, err
		}
		if !e.Did.Answers() {
			past = append(past, e)
		}
	}
	return past, t.fill(ctx, q, past)
}

// pasts returns the changes of several objects that can be undone, without bytes. It reads them in one query, because
// an import creates thousands.
func (t *undoIn) pasts(ctx context.Context, uids []calendar.UID) (map[calendar.UID][]calendar.Change, error) {
	q := calendar.JournalQuery{Among: uids, From: t.place.first[uids[0]]}
	for _, uid := range uids {
		q.From = min(q.From, t.place.first[uid])
	}
	pasts := make(map[calendar.UID][]calendar.Change, len(uids))
	for e, err := range t.Journal(ctx, t.place.ID, q) {
		if err != nil {
			return nil, err
		}
		if !e.Did.Answers() && e.Version >= t.place.first[e.UID] {
			pasts[e.UID] = append(pasts[e.UID], e)
		}
	}
	return pasts, nil
}

// fill loads the bytes of the chosen changes of one object, and of the changes right after them, which show their
// results. It skips the others, because there may be any number of them.
func (t *undoIn) fill(ctx context.Context, q calendar.JournalQuery, past []calendar.Change) error {
	needed := func(i int) bool {
		return t.undoing.chosen(past[i]) || i+1 < len(past) && t.undoing.chosen(past[i+1])
	}
	for i := 0; i < len(past); i++ {
		first, size := i, int64(0)
		for i < len(past) && needed(i) {
			size += past[i].Size
			i++
		}
		if size == 0 {
			continue
		}
		if err := t.undoing.hold(size); err != nil {
			return err
		}
		if err := t.read(ctx, q, past[first:i]); err != nil {
			return err
		}
	}
	return nil
}

// read loads the bytes of consecutive changes.
func (t *undoIn) read(ctx context.Context, q calendar.JournalQuery, run []calendar.Change) error {
	q.WithBefore, q.From, q.Until = true, run[len(run)-1].Version, run[0].Version
	for e, err := range t.Journal(ctx, t.place.ID, q) {
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(run, func(c calendar.Change) bool { return c.Version == e.Version }); i >= 0 {
			run[i].Before = e.Before
		}
	}
	return nil
}
