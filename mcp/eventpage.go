package mcp

import (
	"cmp"
	"strconv"
)

const (
	usualRows = 50
	mostRows  = 500
	// mostSkipped is how far a cursor goes: what is further off is found by another question.
	mostSkipped = 100_000
)

// What lists take and give that come in pages.
var (
	takesPage = []field{
		{name: "limit", kind: number, doc: "How many: 50 if missing, 500 at most.", optional: true, least: 1, most: mostRows},
		{name: "cursor", kind: text, doc: "next_cursor of the page before.", optional: true},
	}
	givesPage = []field{
		{name: "truncated", kind: yesNo},
		{name: "next_cursor", kind: text, doc: "Give it as cursor to get more.", optional: true},
	}
)

// page is a part of a list.
type page struct{ skip, limit int }

// end is how much of the list must be known to show the page and to tell whether there is more.
func (p page) end() int { return p.skip + p.limit + 1 }

// pageView says whether there is more.
type pageView struct {
	Truncated  bool   `json:"truncated"`
	NextCursor string `json:"next_cursor,omitempty"`
}

func readPage(a arguments) (page, error) {
	p := page{limit: cmp.Or(a.number("limit"), usualRows)}
	cursor := a.text("cursor")
	if cursor == "" {
		return p, nil
	}
	var err error
	if p.skip, err = strconv.Atoi(cursor); err != nil || p.skip < 1 || p.skip > mostSkipped {
		return p, errArgument(`"cursor" is the next_cursor of the page before, not %s`, quote(cursor))
	}
	return p, nil
}

// cutPage returns the part of a list that is the page.
func cutPage[T any](list []T, p page) ([]T, pageView) {
	list = list[min(p.skip, len(list)):]
	if len(list) <= p.limit {
		return list, pageView{}
	}
	return list[:p.limit], pageView{Truncated: true, NextCursor: strconv.Itoa(p.skip + p.limit)}
}
