package mcp

import (
	"cmp"
	"fmt"

	"caldav-mcp-server/calendar/query"
)

const (
	usualRows = 50
	mostRows  = 500
	// mostSkipped is how far a cursor goes: what is further off is found by another question.
	mostSkipped = 100_000
)

// paged is what lists take that come in pages.
type paged struct {
	limit int
	continued
}

func (in *paged) takes() []field {
	return []field{numberTo(&in.limit, "limit", "Default 50.").between(1, mostRows), in.takesCursor()}
}

// page is a part of a list.
type page struct{ skip, limit int }

// end is how much of the list must be known to show the page and to tell whether there is more.
func (p page) end() int { return p.skip + p.limit + 1 }

// pageView says whether there is more, and how much at least.
type pageView struct {
	Truncated  bool   `json:"truncated"`
	More       int    `json:"more,omitempty" doc:"So many are left out, at least."`
	NextCursor string `json:"next_cursor,omitempty"`
}

// note says it beside a list whose form has no place for it.
func (v pageView) note() prose {
	if !v.Truncated {
		return ""
	}
	return prose(fmt.Sprintf("This is not all. %d more, at least: call again with cursor %s", v.More, v.NextCursor))
}

// read is the page that a call asks for.
func (in paged) read(c *call) (page, error) {
	p := page{limit: cmp.Or(in.limit, usualRows)}
	_, err := in.place(c, &p.skip)
	if err == nil && (p.skip < 0 || p.skip > mostSkipped) {
		err = errCursor(in.cursor)
	}
	return p, err
}

// room is how much a list may say: what a row takes beside the texts that people wrote, how often these
// are said, and how many characters there may be in all.
type room struct{ row, times, most int }

// mostShownSize is how many characters of rows one answer has, text and structure together: with
// four to a token, less than hosts take.
const mostShownSize = 76_000

// room is that of most lists. A row is said twice, in the text and in the structure, with the names
// of its fields; to clients of the first version once.
func (c *call) room() room {
	if c.plain {
		return room{300, 1, mostShownSize}
	}
	return room{500, 2, mostShownSize}
}

// askedRoom is that of query_events when it is asked for many rows: the first version promises as many
// as that, up to 500, so that only the texts in them count.
func (c *call) askedRoom(p page) room {
	r := c.room()
	if p.limit > usualRows {
		r.row, r.most = 0, 2*mostShownSize
	}
	return r
}

// fit is how many rows of a list an answer may have, and one at least.
func fit[T any](rows []T, r room, said func(T) int) int {
	size := 0
	for i, row := range rows {
		if size += r.row + r.times*said(row); size > r.most && i > 0 {
			return i
		}
	}
	return len(rows)
}

// cutPage returns the part of a list that is the page.
func cutPage[T any](c *call, list []T, p page, r room, said func(T) int) ([]T, pageView) {
	list = list[min(p.skip, len(list)):]
	rows := list[:min(p.limit, len(list))]
	rows = rows[:fit(rows, r, said)]
	if len(rows) == len(list) {
		return list, pageView{}
	}
	return rows, pageView{Truncated: true, More: len(list) - len(rows), NextCursor: c.next(p.skip + len(rows))}
}

// sizeOf is how long the texts of an event or a task in a list are.
func sizeOf(i query.Instance) int {
	r := readViewOf(i)
	return len(r.Summary) + len(r.UID)
}
