package views

import (
	"encoding/json"
	"strings"
	"time"
)

// Change is a change that the user reviews.
type Change struct {
	What string
	// Start is a local time, a date, or "".
	Start string
	// Conflicts are events at the same time, Declined are rooms that decline, Warnings are further texts.
	Conflicts, Declined, Warnings []string
	// Call is the change as change_many takes it, nil if the view cannot make it. ETag is the version that it changes.
	Call json.RawMessage
	// Object identifies the changed event.
	Object, ETag string
}

// Bundle is a list of changes that belong together.
type Bundle struct {
	Title   string
	Changes []Change
	// Link is the address of the page where the user decides, "" if there is none. Withdraw is the id of the suggestion
	// if the view may withdraw it.
	Link, Withdraw string
}

type reviewData struct {
	common
	Bundles []bundleShown `json:"bundles"`
	// Accept is set if the view may make the changes, Done if they are made.
	Accept bool `json:"accept,omitempty"`
	Done   bool `json:"done,omitempty"`
}

type bundleShown struct {
	Title    string        `json:"title,omitempty"`
	Link     string        `json:"link,omitempty"`
	Withdraw string        `json:"withdraw,omitempty"`
	Changes  []changeShown `json:"changes"`
}

type changeShown struct {
	What   string          `json:"what"`
	When   string          `json:"when,omitempty"`
	Notes  []string        `json:"notes"`
	Call   json.RawMessage `json:"call,omitempty"`
	Object string          `json:"object,omitempty"`
	ETag   string          `json:"etag,omitempty"`
}

// Review returns the data for changes. done is set if they are made.
func (m Maker) Review(bundles []Bundle, done bool) any {
	d := reviewData{
		common: m.common(m.Text("suggestions.title"), "conversation.made", "page.none", "suggestion.accept",
			"suggestion.look", "suggestion.withdraw", "suggestion.withdrawn"),
		Bundles: []bundleShown{}, Done: done,
	}
	for _, b := range bundles {
		shown := bundleShown{b.Title, b.Link, b.Withdraw, []changeShown{}}
		for _, c := range b.Changes {
			one := changeShown{c.What, m.local(c.Start), append([]string{}, c.Warnings...), c.Call, c.Object, c.ETag}
			if len(c.Conflicts) > 0 {
				one.Notes = append(one.Notes, m.Text("conversation.clash", "events", strings.Join(c.Conflicts, "; ")))
			}
			if len(c.Declined) > 0 {
				one.Notes = append(one.Notes, m.Text("conversation.declined", "rooms", strings.Join(c.Declined, "; ")))
			}
			d.Accept = d.Accept || c.Call != nil
			shown.Changes = append(shown.Changes, one)
		}
		d.Bundles = append(d.Bundles, shown)
	}
	return d
}

// Moment formats a time on the clock of its own zone.
func (m Maker) Moment(at time.Time) string {
	return m.words.Date(at) + ", " + m.words.Time(at, m.user.View.Clock)
}

// local formats a local time as results have it.
func (m Maker) local(text string) string {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return m.words.Date(day)
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if at, err := time.Parse(form, text); err == nil {
			return m.Moment(at)
		}
	}
	return ""
}
