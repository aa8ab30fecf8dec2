package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/migrations"
	"caldav-mcp-server/store/db"
)

// TestWordsOfOthers: a search in Postgres' index does not touch the words of other users' events, so these cost
// nothing. With the calendar as a separate word, a prefix matched all events of the store.
func TestWordsOfOthers(t *testing.T) {
	t.Parallel()
	q := calendar.SearchQuery{
		Calendars: []calendar.CalendarID{"6e2b1d80-0a6f-4f0e-9a53-c0ffee123456", "home"},
		Words:     []string{"dinner", "agenda"},
	}
	want := `('ee123456§dinner':* | 'home§dinner':*) & ('ee123456§agenda':* | 'home§agenda':*)`
	if got := postgresExpression(q); got != want {
		t.Errorf("it asks for\n%s\nwant\n%s", got, want)
	}
	q.Calendars = q.Calendars[:1]
	if got := sqliteExpression(q); strings.Count(got, "6e2b1d800a6f4f0e9a53c0ffee123456§") != 2 {
		t.Errorf("SQLite is asked for %s", got)
	}
}

// wordly is a store with a list of its objects, by calendar and name.
type wordly struct {
	*Store

	t      *testing.T
	random *rand.Rand
	live   map[string]calendar.Object
}

// homes creates a store with a user's calendars.
func homes(t *testing.T, s *Store, seed uint64, ids ...calendar.CalendarID) *wordly {
	t.Helper()
	w := &wordly{Store: s, t: t, random: rand.New(rand.NewPCG(seed, 2)), live: map[string]calendar.Object{}}
	err := s.InsertUser(t.Context(), calendar.User{ID: "u", Name: "u"}, "")
	if err != nil {
		t.Fatal(err)
	}
	w.update(func(ctx context.Context, tx calendar.Tx) error {
		for _, id := range ids {
			if err := tx.InsertCalendar(ctx,
				calendar.Calendar{ID: id, Owner: "u", Segment: calendar.Segment(id)}); err != nil {
				return err
			}
		}
		return nil
	})
	return w
}

func (w *wordly) update(work func(context.Context, calendar.Tx) error) {
	w.t.Helper()
	if err := w.Update(w.t.Context(), func(tx calendar.Tx) error { return work(w.t.Context(), tx) }); err != nil {
		w.t.Fatal(err)
	}
}

// some returns a few of the calendars, at least one.
func (w *wordly) some(of []calendar.CalendarID) []calendar.CalendarID {
	of = slices.Clone(of)
	w.random.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of[:1+w.random.IntN(len(of))]
}

// text returns a text of few words, so that texts partly agree.
func (w *wordly) text() string {
	words := []string{"meeting", "meet", "dinner", "agenda", "board", "boat", "zürich"}
	w.random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	return strings.Join(words[:w.random.IntN(4)], " ")
}

// put writes one event into calendars, as an invitation is written.
func (w *wordly) put(uid calendar.UID, text string, in []calendar.CalendarID) {
	kind, from := calendar.Event, w.random.Int64N(2000)
	if w.random.IntN(8) == 0 {
		kind = calendar.Todo
	}
	w.update(func(ctx context.Context, tx calendar.Tx) error {
		for _, id := range in {
			cal, err := tx.Advance(ctx, id)
			if err != nil {
				return err
			}
			o := calendar.Object{
				Calendar: id, Name: calendar.ObjectName(uid) + ".ics", Version: cal.Version,
				ETag: "e", Data: []byte("d"), Size: 1,
			}
			start, end := from, from+10
			o.Derived = calendar.Derived{
				UID: uid, Kind: kind, Search: text,
				Span: calendar.Span{Start: &start, End: &end},
			}
			if err := tx.PutObject(ctx, o); err != nil {
				return err
			}
			w.live[string(id)+"/"+string(o.Name)] = o
		}
		return nil
	})
}

// bury deletes an event in a calendar, if it is there.
func (w *wordly) bury(uid calendar.UID, in calendar.CalendarID) {
	name := calendar.ObjectName(uid) + ".ics"
	if _, there := w.live[string(in)+"/"+string(name)]; !there {
		return
	}
	delete(w.live, string(in)+"/"+string(name))
	w.update(func(ctx context.Context, tx calendar.Tx) error {
		cal, err := tx.Advance(ctx, in)
		if err != nil {
			return err
		}
		return tx.BuryObject(ctx, in, name, cal.Version)
	})
}

// step makes one random change.
func (w *wordly) step(in []calendar.CalendarID) {
	uid := calendar.UID(fmt.Sprint(w.random.IntN(12)))
	switch n := w.random.IntN(10); {
	case n < 6:
		w.put(uid, w.text(), w.some(in))
	case n < 9:
		w.bury(uid, w.some(in)[0])
	default:
		if _, err := w.write(w.t.Context(), `DELETE FROM objects WHERE deleted`); err != nil {
			w.t.Fatal(err)
		}
	}
}

// compare checks the search results, indexed or waiting, against a scan of all objects.
func (w *wordly) compare(in []calendar.CalendarID) {
	w.t.Helper()
	for range 6 {
		q := calendar.SearchQuery{
			Calendars: w.some(in), Kind: calendar.Event, Past: w.random.IntN(4) > 0,
			Now: time.Unix(1000, 0), Limit: 1000,
			Words: [][]string{
				{"meet"},
				{"board", "meeting"},
				{"b"},
				{"z", "dinner"},
				{"agenda", "meet", "di"},
				{"none"},
			}[w.random.IntN(6)],
		}
		found, err := w.Search(w.t.Context(), q)
		if err != nil {
			w.t.Fatal(err)
		}
		var got, want []string
		for _, o := range found {
			got = append(got, string(o.Calendar)+"/"+string(o.Name)+" "+o.Search)
		}
		for o := range maps.Values(w.live) {
			lacks := func(word string) bool { return !strings.Contains(" "+o.Search, " "+word) }
			if o.Kind == q.Kind && slices.Contains(q.Calendars,
				o.Calendar) && (q.Past || *o.Span.End >= q.Now.Unix()) && !slices.ContainsFunc(q.Words, lacks) {
				want = append(want, string(o.Calendar)+"/"+string(o.Name)+" "+o.Search)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			w.t.Fatalf("%v in %v, past %v:\n%q\nwant\n%q", q.Words, q.Calendars, q.Past, got, want)
		}
	}
}

// waiting returns how many objects wait for the index, and how many entries it has.
func (w *wordly) waiting() (waiting, indexed int64) {
	w.t.Helper()
	for text, n := range map[string]*int64{
		`SELECT count(*) FROM search_rows WHERE turn IS NOT NULL`: &waiting, `SELECT count(*)
			FROM search_words_docsize`: &indexed,
	} {
		var err error
		if *n, err = db.RowOf(w.t.Context(), w.db.Reads, db.ScanNumber, text); err != nil {
			w.t.Fatal(err)
		}
	}
	return waiting, indexed
}

// TestWordsThatWait: after any sequence of writes, deletions, restores and indexing, a search finds the same as
// a scan of all objects. This includes objects from before there was a queue.
func TestWordsThatWait(t *testing.T) {
	t.Parallel()
	testdb.EachBlank(t, func(t *testing.T, url string) {
		before := until(t, "9999").(fstest.MapFS)
		delete(before, "0029_waiting_words.sqlite.sql")
		s := bare(t, url, before)
		migrate(t, s)
		ids := []calendar.CalendarID{"c-1", "c-2", "c-3", "c-4", "c-5", "c-6"}
		w := homes(t, s, 1, ids...)
		for range 30 {
			w.step(ids)
		}
		s.db.Files = migrations.Files
		migrate(t, s)
		w.compare(ids)
		for range slowtest.Rounds(t, slowtest.Random, 150, 3000) {
			w.step(ids)
			if w.random.IntN(5) == 0 {
				if err := s.IndexWords(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			w.compare(ids)
		}
		if err := s.IndexWords(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.compare(ids)
		if s.search.waiting == "" {
			return
		}
		if waiting, indexed := w.waiting(); waiting != 0 || indexed != int64(len(w.live)) {
			t.Errorf("%d wait, and %d of %d are in the index", waiting, indexed, len(w.live))
		}
	})
}

// TestSearchReadsWhatWaits: a search scans the waiting objects, but not all objects of its calendars.
func TestSearchReadsWhatWaits(t *testing.T) {
	t.Parallel()
	s := bare(t, testdb.SQLite(t), migrations.Files)
	migrate(t, s)
	steps := strings.Join(plan(t, s, s.search.text), "\n")
	if !strings.Contains(steps, "SEARCH r USING INDEX search_waiting (turn>?)") ||
		strings.Contains(steps, "sqlite_autoindex_search_rows") {
		t.Errorf("a search does\n%s", steps)
	}
}

// fiftyHomes returns a store with fifty calendars that can receive an invitation.
func fiftyHomes(t *testing.T) (s *Store, w *wordly, ids []calendar.CalendarID) {
	t.Helper()
	s = bare(t, testdb.SQLite(t), migrations.Files)
	migrate(t, s)
	for i := range 50 {
		ids = append(ids, calendar.CalendarID(fmt.Sprintf("c-%d", i)))
	}
	return s, homes(t, s, 1, ids...), ids
}

// TestCopiesWait: the copies of an invitation wait for the index, events in one calendar do not. If too many
// wait, no more are added, which would slow down searches.
func TestCopiesWait(t *testing.T) {
	t.Parallel()
	s, w, ids := fiftyHomes(t)
	w.put("alone", "dinner", ids[:1])
	w.put("all", "meeting", ids)
	if waiting, indexed := w.waiting(); waiting != 49 || indexed != 2 {
		t.Errorf("%d wait and %d are indexed", waiting, indexed)
	}
	for i := range 90 {
		w.put(calendar.UID(fmt.Sprint(i)), "meeting", ids)
	}
	waiting, indexed := w.waiting()
	if waiting != 4000 || waiting+indexed != int64(len(w.live)) {
		t.Errorf("%d wait and %d are indexed, of %d", waiting, indexed, len(w.live))
	}
	w.compare(ids[:6])
	if err := s.IndexWords(t.Context()); err != nil {
		t.Fatal(err)
	}
	if waiting, indexed = w.waiting(); waiting != 0 || indexed != int64(len(w.live)) {
		t.Errorf("%d wait and %d are indexed, of %d", waiting, indexed, len(w.live))
	}
	w.compare(ids[:6])
}

// TestLongWordsTakeTurns: of long texts, fewer are indexed in one transaction; a single text over the limit is
// indexed, too.
func TestLongWordsTakeTurns(t *testing.T) {
	t.Parallel()
	s, w, ids := fiftyHomes(t)
	long := strings.Repeat("meeting ", 2000)
	w.put("all", long, ids)
	for _, want := range []int64{49 - 33, 0} {
		if _, err := s.indexSome(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waiting, _ := w.waiting(); waiting != want {
			t.Errorf("%d wait, want %d", waiting, want)
		}
	}
	w.put("huge", strings.Repeat("dinner ", indexedText), ids[:3])
	if err := s.IndexWords(t.Context()); err != nil {
		t.Fatal(err)
	}
	if waiting, indexed := w.waiting(); waiting != 0 || indexed != 53 {
		t.Errorf("%d wait, and %d are indexed", waiting, indexed)
	}
}
