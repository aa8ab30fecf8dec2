package storetest

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

func searchTests() []test {
	return []test{
		{"finds all words, by their beginning", searchByWords},
		{"returns the words of a calendar", searchTexts},
		{"covers the given calendars", searchCalendars},
		{"covers one kind", searchKinds},
		{"returns the nearest first", searchOrder},
		{"follows writes", searchFollows},
		{"accepts any word", searchOddWords},
		{"is correct among many objects", searchMany},
	}
}

// said stores an event with searchable words.
func (b *bundle) said(cal calendar.Calendar, name, words string, span calendar.Span) calendar.Object {
	b.Helper()
	o := b.event(cal, name)
	o.Search, o.Span = words, span
	o, err := b.write(b.Store, o)
	b.must(err)
	return o
}

// find returns the names of the results.
func (b *bundle) find(q calendar.SearchQuery, words string) []string {
	b.Helper()
	q.Words = strings.Fields(words)
	if q.Now.IsZero() {
		q.Now = start()
	}
	if q.Kind == "" {
		q.Kind = calendar.Event
	}
	if q.Limit == 0 {
		q.Limit = 100
	}
	found, err := b.Search(b.Context(), q)
	b.must(err)
	return names(found)
}

func of(calendars ...calendar.Calendar) calendar.SearchQuery {
	var q calendar.SearchQuery
	for _, cal := range calendars {
		q.Calendars = append(q.Calendars, cal.ID)
	}
	return q
}

// soon is a one-hour span that begins some hours after the start of the clock.
func soon(hours int64) calendar.Span {
	return between(start().Unix()+hours*3600, start().Unix()+(hours+1)*3600)
}

func searchTexts(b *bundle) {
	ann := b.user("ann")
	cal, other := b.calendar(ann, "work"), b.calendar(ann, "home")
	b.said(cal, "a", "quarterly planning", soon(1))
	b.said(cal, "b", "lunch", soon(2))
	b.said(other, "c", "secret", soon(2))
	for most, want := range map[int]int{10: 2, 1: 1} {
		var got []string
		b.must(b.SearchTexts(b.Context(), []calendar.CalendarID{cal.ID}, calendar.Event, most, func(text string) error {
			got = append(got, text)
			return nil
		}))
		if len(got) != want || slices.Contains(got, "secret") {
			b.Errorf("%d at most are %q", most, got)
		}
	}
}

func searchByWords(b *bundle) {
	cal := b.home()
	o := b.said(cal, "a", "quarterly planning grosse runde", soon(1))
	b.said(cal, "b", "planning", soon(2))
	found, err := b.Search(b.Context(), calendar.SearchQuery{
		Calendars: []calendar.CalendarID{cal.ID}, Kind: calendar.Event, Words: []string{"quarter"},
		Now: start(), Limit: 2,
	})
	b.must(err)
	same(b, "with all there is", found, []calendar.Object{o})
	for words, want := range map[string][]string{
		"plan": {"a", "b"}, "plan quarterly": {"a"}, "quarterlyplanning": nil, "lanning": nil,
		"planning runde x": nil, "": nil,
	} {
		same(b, words, b.find(of(cal), words), want)
	}
}

func searchCalendars(b *bundle) {
	ann := b.user("ann")
	work, home, other := b.calendar(ann, "work"), b.calendar(ann, "home"), b.calendar(b.user("bob"), "work")
	for i, cal := range []calendar.Calendar{work, home, other} {
		b.said(cal, cal.OwnerName+string(cal.Segment), "word", soon(int64(i)))
	}
	same(b, "one", b.find(of(home), "word"), []string{"annhome"})
	same(b, "two", b.find(of(home, work), "word"), []string{"annwork", "annhome"})
	same(b, "none", b.find(of(), "word"), nil)
	same(b, "one that is not there", b.find(of(calendar.Calendar{ID: `"' OR NOT word`}), "word"), nil)
}

func searchKinds(b *bundle) {
	cal := b.home()
	b.said(cal, "event", "word", soon(1))
	task := b.event(cal, "task")
	task.Kind, task.Search, task.Span = calendar.Todo, "word", calendar.Span{}
	b.does(b.write(b.Store, task))
	q := of(cal)
	same(b, "events", b.find(q, "word"), []string{"event"})
	q.Kind = calendar.Todo
	same(b, "tasks", b.find(q, "word"), []string{"task"})
}

func searchOrder(b *bundle) {
	cal := b.home()
	for name, span := range map[string]calendar.Span{
		"long over": between(0, 1000), "over": soon(-9), "just over": between(start().Unix()-60, start().Unix()-1),
		"going on": between(0, start().Unix()), "always": {}, "soon": soon(1), "later": {Start: soon(2).Start},
		"latest": soon(3),
	} {
		b.said(cal, name, "word", span)
	}
	q := of(cal)
	coming := []string{"always", "going on", "soon", "later", "latest"}
	same(b, "to come", b.find(q, "word"), coming)
	q.Past = true
	all := append(coming, "just over", "over", "long over")
	same(b, "all", b.find(q, "word"), all)
	for limit := 1; limit < len(all); limit++ {
		q.Limit = limit
		same(b, "the first", b.find(q, "word"), all[:limit])
	}
}

func searchFollows(b *bundle) {
	ann := b.user("ann")
	cal := b.calendar(ann, "work")
	check := func(what string, one, two []string) {
		b.Helper()
		same(b, what+": one", b.find(of(cal), "one"), one)
		same(b, what+": two", b.find(of(cal), "two"), two)
	}
	a := []string{"a"}
	b.said(cal, "a", "one", soon(1))
	check("written", a, nil)
	b.said(cal, "a", "two", soon(1))
	check("changed", nil, a)
	b.said(cal, "a", "two", soon(-5))
	check("moved into the past", nil, nil)
	b.bury(b.said(cal, "a", "two", soon(1)))
	check("buried", nil, nil)
	b.said(cal, "a", "one two", soon(1))
	check("back again", a, a)
	_, err := b.Rederive(b.Context(), calendar.Walk{}, func(o calendar.Object) calendar.Derived {
		o.Search = "two"
		return o.Derived
	})
	b.must(err)
	check("derived anew", nil, a)
	b.bury(b.said(cal, "a", "two", soon(1)))
	b.pass(100 * 24 * time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	check("pruned", nil, nil)
	b.said(cal, "a", "one", soon(1))
	check("written where something was", a, nil)
}

func searchOddWords(b *bundle) {
	cal := b.home()
	words := strings.Repeat("é", 30) + " 会 議 1e5 007 " + strings.Repeat("x", 64)
	b.said(cal, "a", words, soon(1))
	for _, word := range append(strings.Fields(words), words, "1e", "xxx") {
		same(b, word, b.find(of(cal), word), []string{"a"})
	}
	for _, word := range []string{`"`, "'", `\`, "*", ":*", "a'b", "§" + string(calendar.Event) + "x", "7"} {
		same(b, word, b.find(of(cal), word), nil)
	}
}
