package describe

import (
	"cmp"
	"strings"

	"caldav-mcp-server/calendar"
)

// By names the author of a change, and the owner if a delegate made it. It is empty if the author no longer exists.
func (w Wording) By(c calendar.Change) string {
	if c.For == "" {
		return c.UserName
	}
	owner := cmp.Or(c.ForName, w.lang.Text("did.by.deleted"))
	return strings.TrimSpace(w.lang.Text("did.by.delegate", "who", c.UserName, "owner", owner))
}

// Left explains why a change cannot be taken back.
func (w Wording) Left(u calendar.UndoConflict) string {
	d := describer{Wording: w, year: u.At.In(w.in).Year()}
	at := func(c calendar.Change) string { return d.stamp(&moment{c.At.In(w.in), false}) }
	change := u.Change
	change.Before = nil // only name it
	var reason string
	switch {
	case u.Answer:
		reason = "did.left.answer"
	case u.LinesGone:
		return w.lang.Text("did.left.journal", "calendar", w.quote(u.In.Name), "when", at(u.Change))
	case u.Forgotten:
		reason = "did.left.forgotten"
	case u.By == nil:
		reason = "did.left.trash"
	default:
		who := cmp.Or(w.short(Program(u.By.Agent)), w.short(w.By(*u.By)), w.lang.Text("did.share.another-user"))
		text := w.lang.Text("did.left.followed", "change", w.Change(change), "when", at(u.Change), "who", who,
			"later", at(*u.By))
		if len(u.Differs) > 0 {
			text = w.lang.Text("did.left.fields", "reason", text, "fields", w.Properties(u.Differs))
		}
		return text
	}
	return w.lang.Text(reason, "change", w.Change(change), "when", at(u.Change))
}

// AllLeft explains why several changes cannot be taken back, and what to do.
func (w Wording) AllLeft(all []calendar.UndoConflict) string {
	const named = 5
	var text string
	for i, u := range all[:min(named, len(all))] {
		if text = cmp.Or(text, w.Left(u)); i > 0 {
			text = w.lang.Text("did.list", "first", text, "next", w.Left(u))
		}
	}
	if more := len(all) - named; more > 0 {
		text = w.lang.Text("did.list", "first", text, "next", w.lang.Text("did.more", "count", more))
	}
	if all[0].By != nil {
		text = w.lang.Text("did.left.hint", "reason", text)
	}
	return text
}
