package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

// arriving applies changes from a source to the calendar that mirrors it.
type arriving struct {
	*Ledger
	in     calendar.Calendar
	caller calendar.Caller
	known  map[string]calendar.Mirrored
	// here has the UIDs of shown objects that entries of known have as well.
	here map[calendar.UID]bool
	next []incoming
	done calendar.Arrived
	// again is set if everything must be listed once more, so that a hidden object is shown.
	again bool
	// swept is set once objects missing at the source have been deleted.
	swept bool
	fence calendar.Fence
}

// incoming is an object that was checked before any lock is taken. write is set if it must be stored.
type incoming struct {
	calendar.Mirrored
	object calendar.Object
	write  bool
}

// sweepMost bounds the objects deleted in one transaction.
const sweepMost = 200

// foreignCaller returns the caller for changes that come from a calendar's source.
func foreignCaller(cal calendar.Calendar) calendar.Caller {
	return calendar.Caller{
		User: calendar.User{ID: cal.Owner, Name: cal.OwnerName}, Scopes: calendar.ScopeAll,
		Agent: calendar.SourceAgent(cal.Origin.From),
	}
}

// Arrive applies changes from a calendar's source. Callers must hold the calendar's lease, so that no other process
// syncs or writes there. Invalid or too large objects are rejected, and their last good version stays. Arrive sends no
// invitations or notifications: the source has done that.
func (s *Ledger) Arrive(ctx context.Context, cal calendar.Calendar, a calendar.Arrival) (calendar.Arrived, error) {
	if cal.Followed() {
		cal.Kinds = calendar.AllKinds() // the properties that its apps recorded name no kinds
	}
	in := arriving{Ledger: s, in: cal, caller: foreignCaller(cal), fence: a.Fence}
	refs := append([]string{}, a.Gone...)
	for _, o := range a.Objects {
		refs = append(refs, o.Ref)
	}
	var err error
	if in.known, err = s.store.Mirrored(ctx, cal.ID, refs); err != nil {
		return in.done, err
	}
	var shown []calendar.UID
	for _, m := range in.known {
		if uid, is := m.TwinOf(); is {
			shown = append(shown, uid)
		}
	}
	if in.here, err = s.store.MirroredUIDs(ctx, cal.ID, shown); err != nil {
		return in.done, err
	}
	var gone []calendar.Mirrored
	for _, ref := range a.Gone {
		gone = append(gone, in.known[ref])
	}
	if err := in.left(ctx, a.Mirror, gone); err != nil {
		return in.done, err
	}
	if in.again {
		a.Mirror.Cursor = ""
	}
	for _, o := range a.Objects {
		in.look(ctx, o)
		if err := ctx.Err(); err != nil {
			return in.done, err
		}
	}
	if !a.Sweep {
		return in.done, in.store(ctx, a)
	}
	// Store the cursor only after the sweep, but the round now. If the process stops in between, the next listing gets
	// another round, and does not take this listing's objects for its own.
	whole := a
	if whole.Mirror, err = s.store.Mirror(ctx, cal.ID); err != nil {
		return in.done, err
	}
	whole.Mirror.Round = a.Mirror.Round
	if err := in.store(ctx, whole); err != nil {
		return in.done, err
	}
	if a.Careful {
		if wait, err := in.doubt(ctx, &a.Mirror); err != nil || wait {
			return in.done, err
		}
	}
	for more := true; more; {
		if more, err = in.sweep(ctx, a.Mirror.Round); err != nil {
			return in.done, err
		}
	}
	in.next, in.known, in.swept = nil, nil, true
	if in.again {
		a.Mirror.Cursor = ""
	}
	return in.done, in.store(ctx, calendar.Arrival{Mirror: a.Mirror})
}

const (
	// A listing is doubtful if it is empty, or lacks more than half of at least doubtLeast objects. Programs that fail
	// in the middle of their work answer so. Nothing is deleted unless a listing after doubtFor is doubtful as well.
	doubtLeast = 10
	doubtFor   = 10 * time.Minute
)

// doubt reports whether the objects that a full listing lacks stay for now. It then stores the time of the first such
// listing, and no cursor, so that the next sync lists everything again.
func (a *arriving) doubt(ctx context.Context, m *calendar.Mirror) (wait bool, err error) {
	var listed, missing int64
	err = a.writer.UpdateMirror(ctx, func(tx calendar.MirrorKeeper) (err error) {
		listed, missing, err = tx.MirrorRound(ctx, a.in.ID, m.Round)
		return err
	})
	if err != nil {
		return false, err
	}
	doubtful := missing > 0 && (listed == 0 || missing > listed && listed+missing >= doubtLeast)
	if now := a.now(); doubtful && m.Doubted.IsZero() {
		m.Doubted = now
	} else if !doubtful || now.Sub(m.Doubted) >= doubtFor {
		m.Doubted = time.Time{}
		return false, nil
	}
	m.Cursor, m.Whole = "", false
	m.Error = fmt.Sprintf("the last listing lacks %d of %d entries, so they stay here for now; they are deleted if a "+
		"listing in ten minutes lacks them as well", missing, listed+missing)
	a.next, a.known, a.swept = nil, nil, true
	a.done.Missing = int(missing)
	return true, a.store(ctx, calendar.Arrival{Mirror: *m})
}

// faultMost bounds the stored reason why an object was rejected.
const faultMost = 500

func shortFault(text string) string { return strings.ToValidUTF8(text[:min(len(text), faultMost)], "") }

// look checks an object.
func (a *arriving) look(ctx context.Context, o calendar.Arriving) {
	o.Fault = shortFault(o.Fault)
	was, known := a.known[o.Ref]
	same := known && was.Version == o.Version && o.Version != "" && (was.Fault == o.Fault || a.twin(was))
	if o.Data == nil && o.Fault == "" || same {
		if was.Round, was.Unseen = o.Round, false; known {
			a.next = append(a.next, incoming{Mirrored: was})
		}
		return
	}
	n := incoming{Mirrored: o.Mirrored}
	if n.Fault == "" {
		var err error
		if n.object, err = a.prepare(ctx, o.Data); err != nil {
			n.Fault = shortFault(err.Error())
		} else {
			n.UID, n.write = n.object.UID, true
		}
	}
	if n.UID == "" {
		n.UID = was.UID
	}
	if n.UID == "" {
		n.UID = calendar.UID("without a UID: " + o.Ref)
	}
	if n.Fault != "" {
		a.done.Refused++
	}
	a.next = append(a.next, n)
}

// twin reports whether an object is not shown because another one has its UID. If that one is gone, it is shown.
func (a *arriving) twin(m calendar.Mirrored) bool {
	uid, is := m.TwinOf()
	return is && a.here[uid]
}

// left notes that objects are gone at the source. If one of them has a twin, everything is listed once more, and the
// twin is shown.
func (a *arriving) left(ctx context.Context, now calendar.Mirror, gone []calendar.Mirrored) error {
	if now.Faults == 0 || a.again {
		return nil // twins count as faults
	}
	var twins []calendar.UID
	for _, m := range gone {
		if m.UID != "" {
			twins = append(twins, m.UID.Twin())
		}
	}
	found, err := a.Ledger.store.MirroredUIDs(ctx, a.in.ID, twins)
	a.again = len(found) > 0
	return err
}

// prepare parses and validates an object.
func (a *arriving) prepare(ctx context.Context, data []byte) (calendar.Object, error) {
	cal := a.in
	o, err := (&Importer{Ledger: a.Ledger}).prepare(ctx, cal, calendar.Import{Data: data})
	if err != nil {
		return calendar.Object{}, err
	}
	return *o, nil
}

// store writes the checked objects. If nothing changes for readers of the calendar, its version stays the same.
func (a *arriving) store(ctx context.Context, all calendar.Arrival) error {
	before := a.done
	writes := len(all.Gone) > 0
	for _, n := range a.next {
		writes = writes || n.write
	}
	if writes {
		err := a.change(ctx, a.caller, func(w *work) error {
			w.FromSource, a.done = true, before
			if err := a.write(ctx, w, all.Gone); err != nil {
				return err
			}
			if a.done.Created+a.done.Modified+a.done.Deleted == 0 {
				return change.ErrSame
			}
			return a.remember(ctx, w.Tx, all)
		})
		if !errors.Is(err, change.ErrSame) {
			return err
		}
	}
	a.done = before
	return a.writer.UpdateMirror(ctx, func(tx calendar.MirrorKeeper) error { return a.remember(ctx, tx, all) })
}

// write stores objects and deletes the ones that are gone at the source.
func (a *arriving) write(ctx context.Context, w *work, gone []string) error {
	cal, err := w.Lock(ctx, a.in.ID)
	if err != nil {
		return err
	}
	if !cal.Origin.Mirrors() {
		return calendar.Errorf(calendar.NotFound, "", "the calendar is no longer linked")
	}
	here := map[calendar.UID]bool{}
	for _, n := range a.next {
		here[n.UID] = true
	}
	for _, n := range a.next {
		if was := a.known[n.Ref].UID; was != "" && was != n.UID && !here[was] {
			if err := a.away(ctx, w, was); err != nil {
				return err
			}
		}
		if !n.write {
			continue
		}
		if err := a.put(ctx, w, n.object); err != nil {
			return err
		}
	}
	for _, ref := range gone {
		if was := a.known[ref].UID; was != "" && !here[was] {
			if err := a.away(ctx, w, was); err != nil {
				return err
			}
		}
	}
	return nil
}

// put stores an object in place of the one with its UID.
func (a *arriving) put(ctx context.Context, w *work, next calendar.Object) error {
	atName, there, err := w.LiveObject(ctx, a.in.ID, next.Name, next.UID)
	if err == nil && there == nil && atName != nil {
		next.Name = change.HashedName(next.UID)
		atName, there, err = w.LiveObject(ctx, a.in.ID, next.Name, next.UID)
	}
	if err != nil {
		return err
	}
	if there == nil && atName != nil {
		next.Name = calendar.ObjectName(w.newID() + ".ics")
	}
	next.Modified = w.Now().Truncate(time.Second)
	next.Created = next.Modified
	if there != nil {
		if bytes.Equal(there.Data, next.Data) {
			return nil
		}
		next.Name, next.Created = there.Name, there.Created
		a.done.Modified++
	} else {
		a.done.Created++
	}
	_, err = w.Write(ctx, next, there)
	return err
}

// away deletes the object with a UID, if there is one.
func (a *arriving) away(ctx context.Context, w *work, uid calendar.UID) error {
	_, there, err := w.LiveObject(ctx, a.in.ID, "", uid)
	if err != nil || there == nil {
		return err
	}
	a.done.Deleted++
	return w.Bury(ctx, *there)
}

// remember stores the sync state: the mapping of objects to the source, and the cursor.
func (a *arriving) remember(ctx context.Context, tx calendar.MirrorKeeper, all calendar.Arrival) error {
	if err := a.held(ctx, tx); err != nil {
		return err
	}
	for _, ref := range all.Gone {
		if err := tx.DropMirrored(ctx, a.in.ID, ref); err != nil {
			return err
		}
	}
	for _, n := range a.next {
		if n.Mirrored == a.known[n.Ref] {
			continue
		}
		if err := tx.PutMirrored(ctx, a.in.ID, n.Mirrored); err != nil {
			return err
		}
	}
	if len(a.next) > 0 || len(all.Gone) > 0 || a.swept { // a sync without changes counts nothing
		var err error
		if all.Mirror.Faults, err = tx.MirrorFaults(ctx, a.in.ID); err != nil {
			return err
		}
	}
	if all.UpToDate {
		// The changes since the last listing lack an object that was created here after it, so it may be deleted there.
		unseen, err := tx.MirrorUnseen(ctx, a.in.ID)
		if err != nil {
			return err
		}
		if unseen {
			all.Mirror.Cursor = "" // the next sync lists everything
		}
	}
	return tx.PutMirror(ctx, all.Mirror)
}

// held checks the lease: no other process may have synced since the source was asked, since its data may be newer.
func (a *arriving) held(ctx context.Context, tx calendar.MirrorKeeper) error {
	held, err := tx.Fence(ctx, a.fence)
	if err == nil && !held {
		return calendar.ErrOverslept
	}
	return err
}

// sweep deletes some objects that a full listing did not contain, and reports whether there may be more.
func (a *arriving) sweep(ctx context.Context, round int64) (more bool, err error) {
	var left []calendar.Mirrored
	err = a.writer.UpdateMirror(ctx, func(tx calendar.MirrorKeeper) (err error) {
		left, err = tx.MirroredBefore(ctx, a.in.ID, round, sweepMost)
		return err
	})
	if err != nil || len(left) == 0 {
		return false, err
	}
	now, err := a.Ledger.store.Mirror(ctx, a.in.ID)
	if err != nil {
		return false, err
	}
	if err := a.left(ctx, now, left); err != nil {
		return false, err
	}
	err = a.change(ctx, a.caller, func(w *work) error {
		w.FromSource = true
		if err := a.held(ctx, w); err != nil {
			return err
		}
		for _, m := range left {
			if err := a.away(ctx, w, m.UID); err != nil {
				return err
			}
			if err := w.DropMirrored(ctx, a.in.ID, m.Ref); err != nil {
				return err
			}
		}
		return nil
	})
	return err == nil && len(left) == sweepMost, err
}

// Overtaken keeps a caller's write to a linked calendar that lost against a change at the source. The text becomes a
// former version of the present object, which can be restored from the history.
func (s *Ledger) Overtaken(
	ctx context.Context, c calendar.Caller, cal calendar.Calendar, lost calendar.Outgoing,
) error {
	if lost.Data == nil {
		return nil
	}
	err := s.change(ctx, c, func(w *work) error {
		w.FromSource, w.NoQuota = true, true // a full account must not lose the text
		now, err := w.Lock(ctx, cal.ID)
		if err != nil {
			return err
		}
		_, there, err := w.LiveObject(ctx, cal.ID, "", lost.UID)
		if err != nil {
			return err
		}
		d, err := w.validator.Derive(lost.Data)
		if err != nil || d.UID != lost.UID || there != nil && bytes.Equal(there.Data, lost.Data) {
			return change.ErrSame
		}
		mine := calendar.Object{
			Calendar: cal.ID, Name: nameOf(lost.UID), ETag: calendar.ETagOf(lost.Data), Size: int64(len(lost.Data)),
			Data: lost.Data, Derived: d,
			Created: w.Now().Truncate(time.Second), Modified: w.Now().Truncate(time.Second),
		}
		if there != nil {
			mine.Name, mine.Created = there.Name, there.Created
		} else if taken, _, err := w.LiveObject(ctx, cal.ID, mine.Name, ""); err != nil {
			return err
		} else if taken != nil {
			mine.Name = calendar.ObjectName(w.newID() + ".ics")
		}
		if mine, err = w.Write(ctx, mine, there); err != nil {
			return err
		}
		w.Caller = foreignCaller(now.Calendar)
		if there == nil {
			return w.Bury(ctx, mine)
		}
		// In a change of its own, so that an undo restores the caller's text.
		_, err = w.WriteScheduled(ctx, *there, &mine)
		return err
	})
	return change.UnlessSame(err)
}
