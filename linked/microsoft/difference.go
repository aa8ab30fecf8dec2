package microsoft

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/linked/htmltext"
	"caldav-mcp-server/linked/vevent"
)

// plain normalizes the fields that we write, for comparison.
func (w *write) plain(e *Event) map[string]any {
	out := writer{zones: w.account.zones}
	minutes := 0
	if e.ReminderOn {
		minutes = e.Minutes
	}
	var guests []Attendee
	for _, a := range e.Attendees {
		guests = append(guests, Attendee{
			Type: cmp.Or(a.Type, required), Address: Address{
				Name: cmp.Or(a.Address.Name, a.Address.Address), Address: strings.ToLower(a.Address.Address),
			},
		})
	}
	fields := map[string]any{
		"subject": e.Subject, "start": out.plain(e.Start, e.AllDay), "end": out.plain(e.End, e.AllDay),
		"isAllDay":    e.AllDay,
		"sensitivity": cmp.Or(e.Sensitivity, normal), "showAs": cmp.Or(e.ShowAs, busy),
		"importance": cmp.Or(e.Importance, normal),
		"categories": slices.Clone(e.Categories), "location": placeName(e.Place), "attendees": guests,
		"isReminderOn": e.ReminderOn, "reminderMinutesBeforeStart": minutes,
	}
	if len(e.Categories) == 0 {
		fields["categories"] = []string(nil)
	}
	if e.Original == "" {
		fields["recurrence"] = out.plainRule(e)
	}
	return fields
}

// target matches the target of a link in a text from Graph, which writes it after the link.
var target = regexp.MustCompile(`<https?://[^<>\s]*>`)

// sameBody reports whether a description is the one at Microsoft. Graph stores HTML and returns its text. A description
// in HTML, or from version 0.1.0, has no targets of links in its text and other line breaks: its words are compared.
func sameBody(now, want *Body) bool {
	if now.text() == want.text() && now.isHTML() == want.isHTML() {
		return true
	}
	older := target.MatchString(now.text()) && !target.MatchString(want.text())
	return (older || now.isHTML() != want.isHTML()) && now.words() == want.words()
}

func (b *Body) isHTML() bool { return b.text() != "" && b.Type == htmlBody }

// text returns the description with LF as line breaks, and without the ones that Graph adds at its end.
func (b *Body) text() string {
	if b == nil {
		return ""
	}
	return strings.TrimRight(strings.ReplaceAll(b.Content, "\r\n", "\n"), " \t\n")
}

// words returns the words of a description without the targets of links.
func (b *Body) words() string {
	if b.isHTML() {
		return vevent.Spaced(htmltext.Words(b.Content))
	}
	return vevent.Spaced(target.ReplaceAllString(b.text(), ""))
}

// plain normalizes a time.
func (w writer) plain(m *Moment, day bool) string {
	if m == nil {
		return ""
	}
	if day {
		return strip(m.DateTime)
	}
	at, err := w.instant(m)
	if err != nil {
		return m.DateTime
	}
	return at.UTC().Format(time.RFC3339)
}

// plainRule returns the rule in iCalendar form, because patterns contain meaningless fields.
func (w writer) plainRule(e *Event) string {
	if e.Recurrence == nil {
		return ""
	}
	p, err := w.time("DTSTART", e.Start, e.StartZone, e.AllDay)
	if err != nil {
		return err.Error()
	}
	start, err := p.Time()
	if err != nil {
		return err.Error()
	}
	rule, err := w.rule(e.Recurrence, start)
	if err != nil {
		return err.Error()
	}
	return rule.String() + " " + start.TZID
}
