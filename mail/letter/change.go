package letter

import (
	"slices"

	"caldav-mcp-server/locale"
)

// change is a difference since the recipient's last mail.
type change struct{ What, Was, Now string }

// changes compares the recipient's last mail with the present one.
func changes(l *locale.Language, was, now view) []change {
	var list []change
	add := func(what, was, now string) {
		if was != now && len(list) < listMost {
			list = append(list, change{what, was, now})
		}
	}
	add(l.Text("mail.title"), was.Title, now.Title)
	add(l.Text("mail.when"), was.When, now.When)
	add(l.Text("mail.repeats"), was.Repeats, now.Repeats)
	add(l.Text("mail.where"), was.Where, now.Where)
	for _, m := range now.Moved {
		i := slices.IndexFunc(was.Moved, func(o moved) bool { return o.Of == m.Of })
		switch {
		case i < 0 && m.differs(now):
			add(m.Of, "", m.words(l, now))
		case i >= 0:
			add(m.Of, was.Moved[i].words(l, was), m.words(l, now))
		}
	}
	for _, of := range now.Cancelled {
		if !slices.Contains(was.Cancelled, of) {
			add(of, "", l.Text("mail.instance-off"))
		}
	}
	if was.Description != now.Description {
		list = append(list, change{What: l.Text("mail.description"), Now: l.Text("mail.changed-below")})
	}
	if was.Others > 0 || now.Others > 0 {
		return list
	}
	in, out := joined(l, was.Attendees, now.Attendees), joined(l, now.Attendees, was.Attendees)
	add(l.Text("mail.also-invited"), "", in)
	add(l.Text("mail.no-longer-invited"), "", out)
	return list
}

// words describe an instance.
func (m moved) words(l *locale.Language, series view) string {
	words := m.When
	if m.Title != series.Title {
		words += ", " + l.Text("mail.quoted", "text", m.Title)
	}
	if m.Where != series.Where && m.Where != "" {
		words += ", " + l.Text("mail.at-place", "place", m.Where)
	}
	return words
}

// differs reports whether an instance has another place, time or title. Answers of attendees do not count.
func (m moved) differs(series view) bool {
	return m.Title != series.Title || m.Where != series.Where || len(m.When) < len(m.Of) || m.When[:len(m.Of)] != m.Of
}

// joined returns the people who are in the second list only.
func joined(l *locale.Language, before, after []Person) string {
	var names []string
	for _, p := range after {
		if !slices.ContainsFunc(before, func(o Person) bool { return o.Address == p.Address }) {
			names = append(names, p.String())
		}
	}
	return and(l, bounded(l, names))
}
