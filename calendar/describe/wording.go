package describe

import (
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
)

// Wording describes changes in a language, for one reader.
type Wording struct {
	lang *locale.Language
	// clock is 12 or 24 hours, in the words of [locale.Language.Time].
	clock string
	in    *time.Location
	quote func(string) string
	// short limits texts that are not quoted.
	short func(string) string
	// raw keeps iCalendar values such as COMPLETED.
	raw bool
}

// For returns the wording for a reader of pages and mails, with times in the location. Clock is the reader's choice
// of 12 or 24 hours. Short limits the texts that users wrote, which are quoted in the manner of the language.
func For(l *locale.Language, clock string, in *time.Location, short func(string) string) Wording {
	return Wording{lang: l, clock: clock, in: in, short: short, quote: func(text string) string {
		return l.Text("mail.quoted", "text", short(text))
	}}
}

// English returns the wording for assistants and commands, which ignores the language of the user. Quote marks text
// that users wrote.
func English(in *time.Location, quote func(string) string) Wording {
	return Wording{lang: locale.Match(), clock: "24", in: in, quote: quote, short: quote, raw: true}
}

// Change puts a change into words, to follow the name of the user who made it: `changed the event "Lunch": moved
// from Mon 3 Nov 10:00 to 11:00`. The details of a modification need Before and After, see [calendar.HistoryQuery].
func (w Wording) Change(c calendar.Change) string {
	d := describer{Wording: w, year: c.At.In(w.in).Year()}
	switch c.Subject() {
	case calendar.AboutShare:
		return d.share(c)
	case calendar.AboutCalendar:
		return d.action(c, d.named("did.thing.calendar", c.In.Name))
	case calendar.AboutObject:
	}
	thing, known := things[c.Kind]
	if !known {
		thing = things[calendar.Event] // an object that is gone for good was most likely an event
	}
	if c.Summary == "" {
		return d.action(c, w.lang.Text(thing))
	}
	return d.action(c, d.named(thing, c.Summary))
}

// Details lists every detail of a modification, in the words of Change. It is empty if Before and After are missing
// or differ in nothing that users see. Long texts, which Change only names, are included.
func (w Wording) Details(c calendar.Change) []string {
	details, err := describer{Wording: w, year: c.At.In(w.in).Year(), full: true}.details(c)
	if err != nil {
		return nil
	}
	return details
}

// Properties names properties of an object, such as SUMMARY, once each.
func (w Wording) Properties(names []string) string {
	var words []string
	for _, name := range names {
		if word := w.lang.Text(fieldOf(name)); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
