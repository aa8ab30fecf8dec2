package letter

import (
	"fmt"
	"slices"
)

// change is a difference since the recipient's last mail.
type change struct{ What, Was, Now string }

// changes compares the recipient's last mail with the present one.
func changes(was, now view) []change {
	var list []change
	add := func(what, was, now string) {
		if was != now && len(list) < listMost {
			list = append(list, change{what, was, now})
		}
	}
	add("Title", was.Title, now.Title)
	add("When", was.When, now.When)
	add("Repeats", was.Repeats, now.Repeats)
	add("Where", was.Where, now.Where)
	for _, m := range now.Moved {
		i := slices.IndexFunc(was.Moved, func(o moved) bool { return o.Of == m.Of })
		switch {
		case i < 0 && m.differs(now):
			add(m.Of, "", m.words(now))
		case i >= 0:
			add(m.Of, was.Moved[i].words(was), m.words(now))
		}
	}
	for _, of := range now.Cancelled {
		if !slices.Contains(was.Cancelled, of) {
			add(of, "", "does not take place")
		}
	}
	if was.Description != now.Description {
		list = append(list, change{What: "Description", Now: "was changed, see below"})
	}
	if was.Others > 0 || now.Others > 0 {
		return list
	}
	in, out := joined(was.Attendees, now.Attendees), joined(now.Attendees, was.Attendees)
	add("Also invited", "", in)
	add("No longer invited", "", out)
	return list
}

// words describe an instance.
func (m moved) words(series view) string {
	words := m.When
	if m.Title != series.Title {
		words += fmt.Sprintf(", %q", m.Title)
	}
	if m.Where != series.Where && m.Where != "" {
		words += ", at " + m.Where
	}
	return words
}

// differs reports whether an instance has another place, time or title. Answers of attendees do not count.
func (m moved) differs(series view) bool {
	return m.Title != series.Title || m.Where != series.Where || len(m.When) < len(m.Of) || m.When[:len(m.Of)] != m.Of
}

// joined returns the people who are in the second list only.
func joined(before, after []Person) string {
	var names []string
	for _, p := range after {
		if !slices.ContainsFunc(before, func(o Person) bool { return o.Address == p.Address }) {
			names = append(names, p.String())
		}
	}
	return and(bounded(names))
}
