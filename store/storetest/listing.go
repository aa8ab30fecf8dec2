package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
)

func listingTests() []test {
	return []test{
		{"returns heads or whole objects", listingDepth},
		{"returns only live objects", listingLive},
		{"covers one calendar", listingOneCalendar},
		{"selects by name", listingByName},
		{"selects by kind", listingByKind},
		{"selects by time", listingByTime},
		{"selects by time like a scan of all objects", listingByTimeExactly},
		{"finds series by their recurrence index", listingByRecurrence},
		{"spans many pages", listingPages},
		{"handles large objects", listingLarge},
		{"may be stopped early and restarted", listingTwice},
		{"does not block other work", listingLetsOthers},
	}
}

func (b *bundle) list(cal calendar.Calendar, q calendar.ObjectQuery) []calendar.Object {
	b.Helper()
	return b.all(b.Objects(b.Context(), cal.ID, q))
}

// fill stores many events in one transaction.
func (b *bundle) fill(cal calendar.Calendar, objects []calendar.Object) {
	b.Helper()
	b.update(func(tx calendar.Tx) error {
		for i := range objects {
			now, err := tx.Advance(b.Context(), cal.ID)
			if err != nil {
				return err
			}
			objects[i].Version = now.Version
			if err := tx.PutObject(b.Context(), objects[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// events returns n events, ordered by name and not stored yet.
func (b *bundle) events(cal calendar.Calendar, n int) []calendar.Object {
	objects := make([]calendar.Object, n)
	for i := range objects {
		objects[i] = b.event(cal, fmt.Sprintf("event-%06d.ics", i))
	}
	return objects
}

func listingDepth(b *bundle) {
	cal := b.home()
	o := b.put(cal, "a.ics")
	same(b, "without data", b.list(cal, calendar.ObjectQuery{}), []calendar.Object{head(o)})
	same(b, "with data", b.list(cal, calendar.ObjectQuery{WithData: true}), []calendar.Object{o})
	series := b.event(cal, "b.ics")
	series.Recurrence = &calendar.RecurrenceIndex{Known: 1 << 40}
	series.Recurrence.Add(0, 3600)
	series.Recurrence.SetFirstHour()
	b.fill(cal, []calendar.Object{series})
	both := b.list(cal, calendar.ObjectQuery{WithSpan: true})
	if len(both) != 2 || both[1].Data != nil {
		b.Fatalf("with their spans there are %v", both)
	}
	same(b, "a head's span", both[0].Span, o.Span)
	same(b, "a head's recurrence index", both[1].Recurrence, series.Recurrence)
}

func listingLive(b *bundle) {
	cal := b.home()
	b.put(cal, "a.ics")
	b.bury(b.put(cal, "b.ics"))
	b.put(cal, "c.ics")
	for _, q := range []calendar.ObjectQuery{
		{}, {Names: []calendar.ObjectName{"a.ics", "b.ics", "c.ics"}}, {From: new(int64(0))},
	} {
		same(b, "names", names(b.list(cal, q)), []string{"a.ics", "c.ics"})
	}
}

func listingOneCalendar(b *bundle) {
	ann := b.user("ann")
	work, home := b.calendar(ann, "work"), b.calendar(ann, "home")
	b.put(work, "a.ics")
	b.put(home, "b.ics")
	for _, q := range []calendar.ObjectQuery{
		{}, {Names: []calendar.ObjectName{"a.ics", "b.ics"}}, {From: new(int64(0))},
	} {
		same(b, "names", names(b.list(work, q)), []string{"a.ics"})
	}
	same(b, "of no calendar", b.list(calendar.Calendar{ID: "nowhere"}, calendar.ObjectQuery{}), nil)
}

func listingByName(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 300)
	b.fill(cal, objects)
	// Every third name exists, some names occur twice, and the order is arbitrary.
	for _, n := range []int{0, 1, 2, 8, 9, 64, 65, 200} {
		asked := []calendar.ObjectName{}
		var want []string
		for i := range n {
			asked = append(asked, objects[i].Name, "missing "+objects[i].Name, objects[i].Name)
			want = append(want, string(objects[i].Name))
		}
		slices.Reverse(asked)
		got := b.list(cal, calendar.ObjectQuery{Names: asked, WithData: true})
		same(b, fmt.Sprintf("%d names", n), names(got), want)
	}
}

func listingByKind(b *bundle) {
	cal := b.home()
	for name, kind := range map[string]calendar.Kind{
		"1": calendar.Event, "2": calendar.Todo, "3": calendar.Journal, "4": calendar.FreeBusy, "5": calendar.Todo,
	} {
		o := b.event(cal, name)
		o.Kind = kind
		b.does(b.write(b.Store, o))
	}
	for _, c := range []struct {
		kinds calendar.Kinds
		want  []string
	}{
		{nil, []string{"1", "2", "3", "4", "5"}},
		{calendar.Kinds{}, nil},
		{calendar.Kinds{"VEVENT-X"}, nil},
		{calendar.Kinds{calendar.Todo}, []string{"2", "5"}},
		{calendar.Kinds{calendar.FreeBusy, calendar.Event}, []string{"1", "4"}},
		{calendar.AllKinds(), []string{"1", "2", "3", "4", "5"}}, // the maximum number of kinds
	} {
		same(b, c.kinds.String(), names(b.list(cal, calendar.ObjectQuery{Kinds: c.kinds})), c.want)
	}
	same(b, "with names", names(b.list(cal, calendar.ObjectQuery{
		Kinds: calendar.Kinds{calendar.Todo}, Names: []calendar.ObjectName{"1", "2"},
	})), []string{"2"})
}

// between returns a span between two Unix times.
func between(from, until int64) calendar.Span { return calendar.Span{Start: &from, End: &until} }

func listingByTime(b *bundle) {
	cal := b.home()
	for name, span := range map[string]calendar.Span{
		"before": between(0, 999), "touching": between(0, 1000), "into": between(0, 1001),
		"instant": between(1000, 1000),
		"within":  between(1200, 1300), "over": between(0, 9000), "last": between(1999, 3000),
		"after":          between(2000, 3000),
		"endless before": {Start: new(int64(-5_000_000_000))},
		"endless after":  {Start: new(int64(2000))}, "timeless": {},
	} {
		o := b.event(cal, name)
		o.Span = span
		b.does(b.write(b.Store, o))
	}
	for _, c := range []struct {
		name        string
		from, until *int64
		want        []string
	}{
		{"both", new(int64(1000)), new(int64(2000)), []string{
			"endless before", "instant", "into", "last", "over",
			"timeless", "touching", "within",
		}},
		{"from", new(int64(3001)), nil, []string{"endless after", "endless before", "over", "timeless"}},
		{"until", nil, new(int64(0)), []string{"endless before", "timeless"}},
	} {
		same(b, c.name, names(b.list(cal, calendar.ObjectQuery{From: c.from, Until: c.until})), c.want)
	}
}

// listingByTimeExactly compares the index with the definition, for spans from a second to years.
func listingByTimeExactly(b *bundle) {
	const day = 86400
	cal := b.home()
	objects := b.events(cal, 1500)
	for i := range objects {
		// Two multipliers without a common factor scatter starts and lengths in the same way in every run.
		from := int64(i*7919%3000) * day / 3
		objects[i].Span = between(from, from+int64(1)<<(i*31%29))
		if i%10 == 9 {
			objects[i].Span.End = nil
		}
	}
	b.fill(cal, objects)
	for _, width := range []int64{1, day, 7 * day, 31 * day, 400 * day, 2000 * day} {
		for from := int64(-10 * day); from < 1100*day; from += 97 * day {
			until := from + width
			var want []string
			for _, o := range objects {
				if *o.Span.Start < until && (o.Span.End == nil || *o.Span.End >= from) {
					want = append(want, string(o.Name))
				}
			}
			got := names(b.list(cal, calendar.ObjectQuery{From: &from, Until: &until}))
			if !slices.Equal(got, want) {
				b.Fatalf("[%d, %d): %d objects, want %d", from, until, len(got), len(want))
			}
		}
	}
}

// listingByRecurrence compares the recurrence index with the definition, for series by days, weeks and months.
func listingByRecurrence(b *bundle) {
	const day = 86400
	cal := b.home()
	objects := b.events(cal, 600)
	for i := range objects {
		begin, every, times := int64(i*7919%3000)*day/3, []int64{day, 7 * day, 10 * day, 30 * day, 91 * day}[i%5],
			int64(2+i%60)
		end := begin + every*(times-1) + 3600
		r := &calendar.RecurrenceIndex{Known: 1<<63 - 1}
		for n := range times {
			r.Add(begin+n*every, begin+n*every+3600)
		}
		objects[i].Span = between(begin, end)
		r.SetFirstHour() // only periods of whole weeks get a first hour
		if i%7 == 3 {    // endless series, known only up to end
			objects[i].Span.End, r.Known = nil, end
		}
		objects[i].Recurrence = r
	}
	b.fill(cal, objects)
	told := 0
	for _, width := range []int64{1, 7200, day, 6 * day, 31 * day, 400 * day} {
		for from := int64(-10 * day); from < 2100*day; from += 97*day + 5000 {
			until := from + width
			window := calendar.RecurrenceOf(from, until)
			var want []string
			for _, o := range objects {
				if *o.Span.Start < until && (o.Span.End == nil || *o.Span.End >= from) {
					if !o.Recurrence.Meets(window) && (o.Span.End == nil || *o.Span.End-*o.Span.Start > day) {
						told++
						continue
					}
					want = append(want, string(o.Name))
				}
			}
			got := names(b.list(cal, calendar.ObjectQuery{From: &from, Until: &until}))
			if !slices.Equal(got, want) {
				b.Fatalf("[%d, %d): %d objects, want %d", from, until, len(got), len(want))
			}
		}
	}
	if told == 0 {
		b.Error("no window told any of them apart")
	}
	got := b.list(cal, calendar.ObjectQuery{WithData: true})
	same(b, "objects as they were put", got, objects)
	// If one end is open, every series matches.
	far := int64(-1 << 60)
	same(b, "from the beginning on", len(b.list(cal, calendar.ObjectQuery{From: &far})), len(objects))
}

func listingPages(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 1300)
	b.fill(cal, objects)
	for _, q := range []calendar.ObjectQuery{{}, {WithData: true}, {From: new(int64(0))}} {
		got := b.list(cal, q)
		same(b, "names", names(got), names(objects))
		if q.WithData && !bytes.Equal(got[1234].Data, objects[1234].Data) {
			b.Error("the data is another object's")
		}
	}
}

// listingLarge: objects so large that a page holds at most one of them.
func listingLarge(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 12)
	asked := make([]calendar.ObjectName, len(objects))
	for i := range objects {
		objects[i].Data = bytes.Repeat([]byte{byte(i)}, 1+(i%4)*700_000)
		asked[i] = objects[i].Name
	}
	b.fill(cal, objects)
	for _, q := range []calendar.ObjectQuery{
		{WithData: true}, {WithData: true, Names: asked}, {WithData: true, From: new(int64(0))},
	} {
		same(b, "objects", digests(b.list(cal, q)), digests(objects))
	}
}

// digests replaces the data by hashes, which keeps a diff short.
func digests(objects []calendar.Object) []calendar.Object {
	all := slices.Clone(objects)
	for i, o := range all {
		all[i].ETag, all[i].Data = calendar.ETagOf(o.Data), nil
	}
	return all
}

func listingTwice(b *bundle) {
	cal := b.home()
	objects := b.events(cal, 600)
	b.fill(cal, objects)
	for _, q := range []calendar.ObjectQuery{{}, {Names: []calendar.ObjectName{objects[0].Name, objects[1].Name}}} {
		listing := b.Objects(b.Context(), cal.ID, q)
		for o, err := range listing {
			b.must(err)
			same(b, "first", o.Name, objects[0].Name)
			break
		}
		if q.Names == nil {
			same(b, "again", len(b.all(listing)), len(objects))
		} else {
			same(b, "again", names(b.all(listing)), names(objects[:2]))
		}
	}
}

// listingLetsOthers: a slow consumer of a listing holds no connection or lock, even with many of them at once. Each
// consumer here uses the store itself while its listing is open.
func listingLetsOthers(b *bundle) {
	cal := b.home()
	b.fill(cal, b.events(cal, 600))
	var nested func(depth int)
	nested = func(depth int) {
		for _, err := range b.Objects(b.Context(), cal.ID, calendar.ObjectQuery{}) {
			b.must(err)
			if depth > 0 {
				nested(depth - 1)
			} else {
				b.put(cal, "new.ics")
			}
			break
		}
	}
	nested(40)
	b.pass(time.Second)
}
