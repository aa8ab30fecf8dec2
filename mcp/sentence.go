package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/daterange"
	"caldav-mcp-server/calendar/query"
)

// Connectors pass on a user's own sentence: "the dentist next week", "when did I last meet Anna". No event contains all
// of these words. Therefore the date is parsed as a time range, and filler words are dropped. If still nothing has all
// words, the search returns the events and tasks that have most of them.

// searchSentence is a parsed search sentence.
type searchSentence struct {
	words []string
	// when is the time range that it names, or nil.
	when *daterange.Range
	// past is set if the sentence is about the past.
	past bool
}

const (
	// longestTime is the highest number of words in a date.
	longestTime = 6
	// mostWords limits the words that are searched one by one.
	mostWords = 8
)

// fillers are words that carry no meaning for a search. Some of them show the tense.
var fillers = wordSet(`
	a about all an and any anything appointment appointments are as at be been before can could did do does event
	events find for from get give go going got had happen happened happening happens has have how i in is it know
	let list look many me meet meeting meetings met my next of on or our please see schedule scheduled search show
	some tell that the there these this those to upcoming us was we were what when where which who whom whose will
	with would you your calendar last ago previous previously recently`)

// pasts are words that show that the sentence is about the past.
var pasts = wordSet(`did was were had happened met last ago previous previously recently`)

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// readSentence parses a sentence.
func readSentence(text string, r daterange.Reader) searchSentence {
	var s searchSentence
	said := strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(" \t\r\n?!,;\"“”()", c) })
	for i := 0; i < len(said); i++ {
		if when, n := timeAt(said[i:], r); n > 0 && s.when == nil {
			s.when = &when
			i += n - 1
			continue
		}
		for _, word := range content.Words(said[i]) {
			if s.past = s.past || pasts[word]; !fillers[word] {
				s.words = append(s.words, word)
			}
		}
	}
	return s
}

// timeAt parses the longest date at the start of the words. A bare number or month name alone is ambiguous, and is not
// taken as a date.
func timeAt(said []string, r daterange.Reader) (when daterange.Range, n int) {
	for n = min(len(said), longestTime); n > 0; n-- {
		text := strings.Join(said[:n], " ")
		if when, err := r.Parse(text); err == nil &&
			strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") {
			return when, n
		}
	}
	return when, 0
}

// searchSaid searches for a user's own sentence.
func (b searchTools) searchSaid(ctx context.Context, c *call, z zoned, said string) (query.Finds, error) {
	q := query.EventSearch{Text: said, Timezone: z.Zone, Past: true, Limit: mostConnected, Meter: c.meter}
	literal, err := b.find(ctx, c, q)
	if err != nil || len(literal.Occurrences) > 0 && literal.Meant == nil {
		return literal, err
	}
	s := readSentence(said, b.reader(c, z))
	found, err := b.searchSentence(ctx, c, z, s)
	if err != nil || len(found.Occurrences) > 0 || len(literal.Occurrences) > 0 {
		return firstOf(found, literal), err
	}
	return b.searchAny(ctx, c, z, s)
}

// firstOf returns the first result that is not empty.
func firstOf(first, second query.Finds) query.Finds {
	if len(first.Occurrences) > 0 {
		return first
	}
	return second
}

// searchSentence searches for all words of a sentence, in its time range.
func (b searchTools) searchSentence(ctx context.Context, c *call, z zoned, s searchSentence) (query.Finds, error) {
	text := strings.Join(s.words, " ")
	switch {
	case s.when != nil:
		listed, err := b.service.Agenda(ctx, c.caller, query.AgendaQuery{
			From: s.when.From, Until: s.when.Until, Timezone: z.Zone, Keyword: text, Once: true, Limit: mostConnected,
			Meter: c.meter,
		})
		if err != nil || !wholeTasks.to(c.caller) {
			return query.Finds{Occurrences: listed.Occurrences, More: listed.More > 0}, err
		}
		tasks, err := b.tasksDue(ctx, c, z, text, *s.when)
		return mergeFinds(query.Finds{Occurrences: listed.Occurrences, More: listed.More > 0}, tasks), err
	case text == "":
		return query.Finds{}, nil
	}
	found, err := b.find(ctx, c, query.EventSearch{
		Text: text, Timezone: z.Zone, Past: true, Limit: mostConnected,
		Meter: c.meter,
	})
	if err != nil || !s.past || len(found.Occurrences) == 0 || found.Meant != nil {
		return found, err
	}
	back, err := b.searchBack(ctx, c, z, text)
	if err != nil || len(back.Occurrences) == 0 {
		return found, err
	}
	return mergeFinds(back, tasksOf(found)), nil
}

// backDays are the numbers of days that a search for the last occurrence goes back, one after the other.
var backDays = [...]int{7, 31, 366, 5 * 366}

// searchBack returns the past events with the words, the latest first. For a series it uses past instances, not the
// next one.
func (b searchTools) searchBack(ctx context.Context, c *call, z zoned, text string) (found query.Finds, err error) {
	for _, days := range backDays {
		listed, err := b.service.Agenda(ctx, c.caller, query.AgendaQuery{
			From: b.now().AddDate(0, 0, -days), Until: b.now(), Timezone: z.Zone, Keyword: text, Limit: mostBack,
			Meter: c.meter,
		})
		switch {
		case err != nil:
			return found, err
		case len(listed.Occurrences) == 0:
			continue
		}
		slices.Reverse(listed.Occurrences)
		seen := make(map[eventID]bool)
		for _, o := range listed.Occurrences {
			if id := wholeOf(o); !seen[id] && len(found.Occurrences) < mostConnected {
				seen[id] = true
				found.Occurrences = append(found.Occurrences, o)
			}
		}
		found.More = listed.More > 0 || days < backDays[len(backDays)-1]
		return found, nil
	}
	return found, nil
}

// mostBack limits the instances in such a search.
const mostBack = 200

// wholeOf identifies the object of an occurrence.
func wholeOf(o query.Occurrence) eventID { return eventID{Calendar: o.Calendar.ID, UID: o.Object.UID} }

// searchAny returns objects with some of the words, best matches first.
func (b searchTools) searchAny(ctx context.Context, c *call, z zoned, s searchSentence) (all query.Finds, err error) {
	has := make(map[eventID]int)
	for _, word := range s.words[:min(len(s.words), mostWords)] {
		if s.when != nil || len(s.words) == 1 {
			break // the sentence names a time or a single word, so other matches would be no answer
		}
		found, err := b.find(ctx, c, query.EventSearch{
			Text: word, Timezone: z.Zone, Past: true, Limit: mostConnected,
			Meter: c.meter,
		})
		if err != nil {
			return all, err
		}
		if found.Meant != nil {
			continue
		}
		for _, o := range found.Occurrences {
			id := wholeOf(o)
			if has[id]++; has[id] == 1 {
				all.Occurrences = append(all.Occurrences, o)
			}
		}
		all.More = all.More || found.More
	}
	slices.SortStableFunc(all.Occurrences, func(x, y query.Occurrence) int {
		return cmp.Compare(has[wholeOf(y)], has[wholeOf(x)])
	})
	if len(all.Occurrences) > mostConnected {
		all.Occurrences, all.More = all.Occurrences[:mostConnected], true
	}
	return all, nil
}
