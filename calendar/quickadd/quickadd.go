// Package quickadd reads an event from one line: "Lunch with Ana Friday 13:00 at Lido". It reads the
// languages of the pages.
//
// The line becomes words. A table replaces the words of a language by a small vocabulary, mostly English, so
// that all languages share a grammar. Package daterange gives dates their meaning. Each pass looks for one kind of
// part and marks its words as read. All other words are the title, as they were written: text that is not understood
// is never lost.
package quickadd

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Reader holds the context of the text.
type Reader struct {
	Now  time.Time
	Zone *zone.Zone
	// Language is a BCP 47 tag. Languages without a table are read as English.
	Language string
	// WeekStart is the first day of the user's week.
	WeekStart time.Weekday
	// Length is the length of an event with a time whose end is not in the text; one hour if it is 0.
	Length time.Duration
	// Calendars are the names that may follow a #.
	Calendars []string
}

// Event is the meaning of a text.
type Event struct {
	// Title has all words that are in no part.
	Title string
	// Start is zero if the text has neither a day nor a time. It is a date for whole days, otherwise a time in the
	// zone. End is exclusive: the day after the last one.
	Start, End ical.Time
	// Repeat is nil for a single event. Its Until is a date, which means the whole day.
	Repeat *ical.Recur
	Place  string
	// Guests are mail addresses.
	Guests []string
	// Reminder is the time before the start; negative means none was asked for.
	Reminder time.Duration
	// Calendar is one of the Calendars, or empty.
	Calendar string
	// Parts are the parts of the text that were read, in order.
	Parts []Part
}

// AllDay reports whether the event takes whole days.
func (e Event) AllDay() bool { return e.Start.IsDate() }

// Kind is the kind of a part.
type Kind string

// The kinds of parts.
const (
	Day      Kind = "day"
	Time     Kind = "time"
	Duration Kind = "duration"
	Repeat   Kind = "repeat"
	Until    Kind = "until"
	Times    Kind = "times"
	Place    Kind = "place"
	Guest    Kind = "guest"
	Remind   Kind = "reminder"
	Calendar Kind = "calendar"
)

// Part is a part of the text that was read, as text[From:To].
type Part struct {
	Kind     Kind
	From, To int
	Text     string
}

// maxText limits the bytes of a text that are read; the rest belongs to the title.
const maxText = 400

// parser is one reading of a text.
type parser struct {
	Reader
	tongue *tongue
	text   string
	words  []word
	// kinds has the kind of each word that was read.
	kinds []Kind
	event Event
	when  when
	rule  *rule
	// length is the duration in the text.
	length span
	// lastDay is the last day of the repetition.
	lastDay bound
	// asked has the answers of daterange, since passes ask again.
	asked map[string]days
}

// Read reads a text. The result depends on nothing but the text and the context.
func (r Reader) Read(text string) Event {
	text = strings.ToValidUTF8(text, "\uFFFD")
	p := &parser{
		Reader: r, tongue: tongueOf(r.Language), text: text, event: Event{Reminder: -1}, asked: map[string]days{},
	}
	p.words = p.split(text)
	p.kinds = make([]Kind, len(p.words))
	p.readCalendar()
	p.readGuests()
	p.readReminder()
	p.readRepeat()
	p.readCount()
	p.readUntil()
	p.readWhen()
	p.readDuration()
	p.readPlace()
	p.place()
	p.whole()
	p.event.Title, p.event.Parts = p.title(), p.trimmed()
	return p.event
}

// take marks words as read.
func (p *parser) take(from, to int, kind Kind) {
	for i := from; i < to; i++ {
		p.kinds[i] = kind
	}
}

// at returns the word at a place. It is empty beyond the ends, for words that were read, and in quotes.
func (p *parser) at(i int) string {
	if i < 0 || i >= len(p.words) || p.kinds[i] != "" {
		return ""
	}
	return p.words[i].text
}

// ofOrFrom is a word for both, such as "de".
const ofOrFrom = "of|from"

// is reports whether the word at a place is one of several.
func (p *parser) is(i int, words ...string) bool {
	text := p.at(i)
	if text == ofOrFrom {
		return slices.Contains(words, "of") || slices.Contains(words, "from")
	}
	return text != "" && slices.Contains(words, text)
}

// skip returns the place after an optional word.
func (p *parser) skip(i int, words ...string) int {
	if p.is(i, words...) {
		return i + 1
	}
	return i
}

// starts reports whether a word begins the typed text there; "übermorgen" has three words, and one begins it.
func (p *parser) starts(i int) bool { return i < len(p.words) && p.words[i].first }

// closed reports whether a part may end before a place: at the end, at a mark, or before a part.
func (p *parser) closed(i int) bool {
	return i >= len(p.words) || p.kinds[i] != "" || p.words[i].mark
}

// parts returns the parts that were read.
func (p *parser) parts() []Part {
	var list []Part
	for i, kind := range p.kinds {
		if kind == "" {
			continue
		}
		w := p.words[i]
		n := len(list)
		if n > 0 && p.kinds[i-1] == kind && !p.bothGuests(list[n-1], w) {
			list[n-1].To = w.to
			continue
		}
		list = append(list, Part{Kind: kind, From: w.from, To: w.to})
	}
	for i := range list {
		list[i].Text = p.text[list[i].From:list[i].To]
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(a.From, b.From) })
	return list
}

// whole gives all words of a typed word such as "Freitagabend", the same kind.
func (p *parser) whole() {
	for i := 1; i < len(p.words); i++ {
		switch {
		case p.words[i].first:
		case p.kinds[i-1] != "":
			p.kinds[i] = p.kinds[i-1]
		case p.kinds[i] != "":
			for at := i - 1; at >= 0 && p.words[at].from == p.words[i].from; at-- {
				p.kinds[at] = p.kinds[i]
			}
		}
	}
}

// bothGuests reports whether a part and the next word are two addresses.
func (p *parser) bothGuests(part Part, next word) bool {
	return part.Kind == Guest && strings.Contains(p.text[part.From:part.To], "@") && strings.Contains(next.raw, "@")
}

// trimmed returns the parts without the commas at their ends.
func (p *parser) trimmed() []Part {
	list := p.parts()
	for i := range list {
		part := &list[i]
		part.Text = strings.TrimLeft(part.Text, ",; ")
		part.From = part.To - len(part.Text)
		part.Text = strings.TrimRight(part.Text, ",; ")
		part.To = part.From + len(part.Text)
	}
	return list
}

// title returns the words that were not read, with the spaces that were between them.
func (p *parser) title() string {
	var b strings.Builder
	from := 0
	for _, part := range p.parts() {
		if part.From >= from {
			b.WriteString(p.text[from:part.From] + " ")
		}
		from = max(from, part.To)
	}
	b.WriteString(p.text[from:])
	return tidy(b.String())
}
