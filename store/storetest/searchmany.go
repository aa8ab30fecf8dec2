package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// manyFound is so many objects that a store uses its index for some words and skips it for others.
const manyFound = 2100

// searchMany compares searches for common and rare words in many objects with a scan of all of them.
func searchMany(b *bundle) {
	ann := b.user("ann")
	calendars := []calendar.Calendar{
		b.calendar(ann, "work"), b.calendar(ann, "home"),
		b.calendar(b.user("bob"), "work"),
	}
	all := b.scatter(calendars)
	for _, words := range []string{
		"common", "com half", "half", "some", "rare", "rare common", "odd rare", "none",
		"none common", "com",
	} {
		for _, of := range [][]calendar.Calendar{calendars[:1], calendars[:2]} {
			for _, limit := range []int{1, 20, 150, 370, 390, 410, 500} {
				q := calendar.SearchQuery{
					Kind: calendar.Event, Words: strings.Fields(words), Now: start(),
					Past: limit%20 != 0, Limit: limit,
				}
				for _, cal := range of {
					q.Calendars = append(q.Calendars, cal.ID)
				}
				found, err := b.Search(b.Context(), q)
				b.must(err)
				same(b, fmt.Sprintf("%s, past %v, %d of %d calendars", words, q.Past, limit, len(of)),
					names(found), wanted(all, q))
			}
		}
	}
}

// scatter stores objects around the present: single ones and series, events and tasks, some of them deleted.
func (b *bundle) scatter(calendars []calendar.Calendar) []calendar.Object {
	b.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]calendar.Object, 0, manyFound)
	b.update(func(tx calendar.Tx) error {
		for i := range manyFound {
			o := b.event(calendars[i%len(calendars)], fmt.Sprintf("%04d", i))
			from := start().Unix() + int64(random.IntN(400)-100)*86400 + int64(i)
			o.Span = between(from, from+3600)
			switch random.IntN(20) {
			case 0:
				o.Span = between(from, from+int64(random.IntN(600))*86400)
			case 1:
				o.Kind = calendar.Todo
			case 2:
				o.Span.End = nil
			}
			o.Search = mixture(random)
			if err := b.writeIn(tx, &o); err != nil {
				return err
			}
			if random.IntN(20) == 0 {
				cal, err := tx.Advance(b.Context(), o.Calendar)
				if err == nil {
					err = tx.BuryObject(b.Context(), o.Calendar, o.Name, cal.Version)
				}
				if err != nil {
					return err
				}
				continue
			}
			all = append(all, o)
		}
		return nil
	})
	return all
}

// mixture returns a text with frequent and rare words.
func mixture(random *rand.Rand) string {
	words := []string{"a"}
	for _, word := range []struct {
		text  string
		oneIn int
	}{{"commonly", 1}, {"halfway", 2}, {"somewhat", 12}, {"rare", 90}, {"oddly", 30}} {
		if random.IntN(word.oneIn) == 0 {
			words = append(words, word.text)
		}
	}
	return strings.Join(append(words, "z"), " ")
}

// wanted computes the expected result of a search from its definition.
func wanted(all []calendar.Object, q calendar.SearchQuery) []string {
	now := q.Now.Unix()
	over := func(o calendar.Object) bool { return o.Span.End != nil && *o.Span.End < now }
	var matches []calendar.Object
	for _, o := range all {
		has := func(word string) bool { return strings.Contains(" "+o.Search, " "+word) }
		lacks := slices.ContainsFunc(q.Words, func(word string) bool { return !has(word) })
		if !lacks && o.Kind == q.Kind && slices.Contains(q.Calendars, o.Calendar) && (q.Past || !over(o)) {
			matches = append(matches, o)
		}
	}
	place := func(o calendar.Object) (int, int64) {
		if over(o) {
			return 1, -*o.Span.End
		}
		return 0, max(*o.Span.Start, now)
	}
	slices.SortFunc(matches, func(x, y calendar.Object) int {
		xOver, xPlace := place(x)
		yOver, yPlace := place(y)
		return cmp.Or(cmp.Compare(xOver, yOver), cmp.Compare(xPlace, yPlace), cmp.Compare(x.Calendar, y.Calendar),
			cmp.Compare(x.Name, y.Name))
	})
	return names(matches[:min(len(matches), q.Limit)])
}
