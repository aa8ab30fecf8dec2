package storetest

import (
	"bytes"

	"caldav-mcp-server/calendar"
)

func objectTests() []test {
	return []test{
		{"round-trips", objectComesBack},
		{"is the same by name and by UID", objectByUID},
		{"is replaced", objectIsReplaced},
		{"keeps any bytes", objectKeepsBytes},
		{"needs a text", objectHasText},
		{"keeps an open span", objectKeepsSpan},
		{"becomes a tombstone with its bytes", objectBecomesTombstone},
		{"can be recreated at its name", objectRevives},
		{"frees its UID when deleted", objectFreesUID},
		{"has a UID of its own", objectOwnsUID},
		{"is found with the calendar's lock", objectWithLock},
		{"may share its UID with an object in another calendar", objectElsewhere},
		{"is deleted once", objectBuriedOnce},
		{"has its own version", objectOwnsVersion},
	}
}

func objectComesBack(b *bundle) {
	cal := b.home()
	want := b.put(cal, "a.ics")
	want.Recurring, want.Transparent = true, true
	want.Name, want.UID = "b.ics", "another"
	want, err := b.write(b.Store, want)
	b.must(err)
	gives(b, "object", want)(b.Object(b.Context(), cal.ID, "b.ics"))
	b.refuses(calendar.NotFound, "")(b.Object(b.Context(), cal.ID, "c.ics"))
	b.refuses(calendar.NotFound, "")(b.Object(b.Context(), "elsewhere", "b.ics"))
}

func objectByUID(b *bundle) {
	cal := b.home()
	want := b.put(cal, "a.ics")
	gives(b, "object", want)(b.ObjectByUID(b.Context(), cal.ID, want.UID))
	b.refuses(calendar.NotFound, "")(b.ObjectByUID(b.Context(), cal.ID, "unknown"))
}

func objectIsReplaced(b *bundle) {
	cal := b.home()
	old := b.put(cal, "a.ics")
	next := b.event(cal, "a.ics")
	next.Data = []byte("other")
	next.Size, next.ETag, next.Summary, next.Kind = 5, calendar.ETagOf(next.Data), "", calendar.Todo
	next.Span, next.Status = calendar.Span{}, ""
	next, err := b.write(b.Store, next)
	b.must(err)
	got, err := b.Object(b.Context(), cal.ID, "a.ics")
	b.must(err)
	same(b, "object", got, next)
	if got.Version != old.Version+1 {
		b.Errorf("version %d after %d", got.Version, old.Version)
	}
}

// objectKeepsBytes: GET returns exactly the bytes of the PUT, even if they are not text.
func objectKeepsBytes(b *bundle) {
	cal := b.home()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, data := range map[string][]byte{
		"binary": all, "large": bytes.Repeat(all, 16<<10), // 4 MiB
	} {
		o := b.event(cal, name)
		o.Data, o.Size = data, int64(len(data))
		b.does(b.write(b.Store, o))
		for got, err := range b.Objects(b.Context(), cal.ID,
			calendar.ObjectQuery{Names: []calendar.ObjectName{o.Name}, WithData: true}) {
			b.must(err)
			if !bytes.Equal(got.Data, data) {
				b.Errorf("%s: %d bytes went in, %d others came out", name, len(data), len(got.Data))
			}
		}
		got, err := b.Object(b.Context(), cal.ID, o.Name)
		b.must(err)
		if large := got.Size > calendar.LargeObject; got.Size != o.Size ||
			large != (len(got.Data) == 0 && got.Size > 0) {
			b.Errorf("%s: %d bytes of %d came by themselves", name, len(got.Data), got.Size)
		}
	}
}

func objectHasText(b *bundle) {
	o := b.event(b.home(), "a.ics")
	o.Data, o.Size = nil, 0
	_, err := b.write(b.Store, o)
	b.refused(err, calendar.Internal, "")
}

func objectKeepsSpan(b *bundle) {
	cal := b.home()
	var zero int64
	for name, span := range map[string]calendar.Span{
		"timeless": {}, "endless": {Start: &zero}, "beginningless": {End: &zero}, "epoch": {Start: &zero, End: &zero},
	} {
		o := b.event(cal, name)
		o.Span = span
		b.does(b.write(b.Store, o))
		got, err := b.Object(b.Context(), cal.ID, o.Name)
		b.must(err)
		same(b, name, got.Span, span)
	}
}

func objectBecomesTombstone(b *bundle) {
	cal := b.home()
	want := b.bury(b.put(cal, "a.ics"))
	b.refuses(calendar.NotFound, "")(b.Object(b.Context(), cal.ID, "a.ics"))
	b.refuses(calendar.NotFound, "")(b.ObjectByUID(b.Context(), cal.ID, want.UID))
	b.update(func(tx calendar.Tx) error {
		atName, withUID, err := tx.Duplicates(b.Context(), cal.ID, "a.ics", want.UID)
		same(b, "at the name", atName, &want)
		same(b, "with the UID", withUID, nil)
		return err
	})
}

func objectRevives(b *bundle) {
	cal := b.home()
	b.bury(b.put(cal, "a.ics"))
	want := b.put(cal, "a.ics")
	gives(b, "object", want)(b.Object(b.Context(), cal.ID, "a.ics"))
	if want.Version != 3 {
		b.Errorf("version %d after two changes", want.Version)
	}
	same(b, "changes", b.all(b.Changes(b.Context(), cal.ID, calendar.VersionRange{Until: 9})),
		[]calendar.Object{change(want)})
}

func objectFreesUID(b *bundle) {
	cal := b.home()
	old := b.bury(b.put(cal, "a.ics"))
	next := b.event(cal, "b.ics")
	next.UID = old.UID
	next, err := b.write(b.Store, next)
	b.must(err)
	gives(b, "object", next)(b.ObjectByUID(b.Context(), cal.ID, old.UID))
	b.update(func(tx calendar.Tx) error {
		atName, withUID, err := tx.Duplicates(b.Context(), cal.ID, old.Name, old.UID)
		same(b, "at the name", atName, &old)
		same(b, "with the UID", withUID, &next)
		return err
	})
}

func objectOwnsUID(b *bundle) {
	cal := b.home()
	first := b.put(cal, "a.ics")
	b.update(func(tx calendar.Tx) error {
		atName, withUID, err := tx.Duplicates(b.Context(), cal.ID, first.Name, first.UID)
		same(b, "at the name", atName, &first)
		same(b, "with the UID", withUID, &first)
		return err
	})
	second := b.event(cal, "b.ics")
	second.UID = first.UID
	b.refuses(calendar.Exists, calendar.RuleUIDConflict)(b.write(b.Store, second))
	if got := b.read(cal).Version; got != first.Version {
		b.Errorf("a refused write left version %d", got)
	}
}

func objectElsewhere(b *bundle) {
	ann := b.user("ann")
	b.put(b.calendar(ann, "work"), "a.ics")
	b.put(b.calendar(ann, "home"), "a.ics")
}

func objectBuriedOnce(b *bundle) {
	cal := b.home()
	b.bury(b.put(cal, "a.ics"))
	for _, name := range []calendar.ObjectName{"a.ics", "never.ics"} {
		err := b.Update(b.Context(), func(tx calendar.Tx) error { return tx.BuryObject(b.Context(), cal.ID, name, 9) })
		b.refused(err, calendar.NotFound, "")
	}
}

// objectOwnsVersion: a sync token could not separate two objects with the same version.
func objectOwnsVersion(b *bundle) {
	cal := b.home()
	first := b.put(cal, "a.ics")
	second := b.event(cal, "b.ics")
	second.Version = first.Version
	err := b.Update(b.Context(), func(tx calendar.Tx) error { return tx.PutObject(b.Context(), second) })
	if err == nil {
		b.Error("two objects have one version")
	}
}

func objectWithLock(b *bundle) {
	cal := b.home()
	first, gone := b.put(cal, "a.ics"), b.bury(b.put(cal, "b.ics"))
	b.update(func(tx calendar.Tx) error {
		now, atName, withUID, err := tx.AdvanceTo(b.Context(), cal.ID, gone.Name, first.UID)
		same(b, "version", now.Version, gone.Version+1)
		same(b, "at the name", atName, &gone)
		same(b, "with the UID", withUID, &first)
		return err
	})
	b.refuses(calendar.NotFound, "")(nil, b.Update(b.Context(), func(tx calendar.Tx) error {
		_, _, _, err := tx.AdvanceTo(b.Context(), "nowhere", first.Name, first.UID)
		return err
	}))
}
