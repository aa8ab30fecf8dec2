package mcp

import (
	"cmp"
	"strconv"

	"caldav-mcp-server/calendar"
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

// mostShownSize is how many characters of rows one answer has, text and structure together: with
// four to a token, less than hosts take.
const mostShownSize = 76_000

// fit is how many rows of a list an answer may have, and one at least. A row is said twice, in
// the text and in the structure, with the names of its fields.
func fit[T any](rows []T, said func(T) int) int {
	const fields = 500
	size := 0
	for i, row := range rows {
		if size += fields + 2*said(row); size > mostShownSize && i > 0 {
			return i
		}
	}
	return len(rows)
}

// cutPage returns the part of a list that is the page.
func cutPage(list []calendar.Instance, p page) ([]calendar.Instance, pageView) {
	list = list[min(p.skip, len(list)):]
	rows := list[:min(p.limit, len(list))]
	rows = rows[:fit(rows, func(i calendar.Instance) int {
		r := readViewOf(i)
		return len(r.Summary) + len(r.UID)
	})]
	if len(rows) == len(list) {
		return list, pageView{}
	}
	return rows, pageView{Truncated: true, NextCursor: strconv.Itoa(p.skip + len(rows))}
}
