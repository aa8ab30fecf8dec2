package oracle_test

import (
	"encoding/xml"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/slowtest"
)

// How many series are compared, and how many of them in one calendar.
const (
	few, many = 60, 10_000
	batch     = 60
	fewEdits  = 40
	manyEdits = 1_000
)

// seed is the one of ORACLE_SEED, or the same each time.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(20261122)
	if text := os.Getenv("ORACLE_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ORACLE_SEED=%d", n)
	return n
}

// TestBothDoorsAgreeWithTheOracle compares random series, in random windows, at both doors.
func TestBothDoorsAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	agree(t, newGenerator(seed(t), present()), slowtest.Rounds(t, slowtest.Random, few, many))
}

// TestSkippedDaysAgreeWithTheOracle does so about years in which whole days were left out.
func TestSkippedDaysAgreeWithTheOracle(t *testing.T) {
	t.Parallel()
	agree(t, newGenerator(seed(t)+2, skipped()), slowtest.Rounds(t, slowtest.Random, few, many/10))
}

// agree compares so many series at both doors.
func agree(t *testing.T, g *generator, n int) {
	t.Helper()
	d := open(t)
	for at := 0; at < n; at += batch {
		c := comparison{doors: d, generator: g, name: fmt.Sprintf("c%d", at)}
		c.id = string(d.calendar(c.name).ID)
		for range min(batch, n-at) {
			c.put(g.series())
		}
		for _, window := range g.windows() {
			c.compare(window)
		}
		d.ask("DELETE", c.name+"/", "")
		if t.Failed() {
			t.Fatalf("in the batch from %d on", at)
		}
	}
}

// comparison is about the series of one calendar.
type comparison struct {
	*doors
	*generator
	name, id string
	all      []series
	found    map[string][]instance
}

func (c *comparison) put(s series) {
	c.t.Helper()
	if c.found == nil {
		c.found = map[string][]instance{}
	}
	w := c.ask("PUT", c.name+"/"+s.uid+".ics", s.text())
	if w.Code != 201 {
		c.t.Fatalf("%d %s for\n%s", w.Code, w.Body, s.text())
	}
	c.all = append(c.all, s)
	c.found[s.uid] = s.instances(c.horizon.AddDate(0, 2, 0))
}

type window struct{ from, until time.Time }

// windows are some of a day, a week and a month, one of them about a change of the clocks.
func (g *generator) windows() []window {
	var list []window
	for _, days := range []int{1, 7, 31} {
		from := g.opening.AddDate(0, 0, g.IntN(500)).Add(time.Duration(g.IntN(96)) * 15 * time.Minute)
		if days == 1 && g.odds(2) {
			from = g.nearChange(placeOf(g.zones[g.IntN(4)]), from)
		}
		list = append(list, window{from, from.AddDate(0, 0, days)})
	}
	return list
}

const stamp = "20060102T150405Z"

// shown is an instance as it is compared.
func shown(uid, title string, start, end time.Time) string {
	return fmt.Sprintf("%s %s %s %s", uid, start.UTC().Format(stamp), end.UTC().Format(stamp), title)
}

func (c *comparison) compare(w window) {
	c.t.Helper()
	var objects, instances []string
	var busy []window
	for _, s := range c.all {
		any := false
		for _, i := range c.found[s.uid] {
			if !i.overlaps(w.from, w.until) {
				continue
			}
			any = true
			instances = append(instances, shown(s.uid, i.title, i.start, i.end))
			if i.end.After(i.start) {
				busy = append(busy, window{later(i.start, w.from), earlier(i.end, w.until)})
			}
		}
		if any {
			objects = append(objects, s.uid)
		}
	}
	slices.Sort(objects)
	slices.Sort(instances)
	c.same(w, "calendar-query", objects, c.query(w))
	c.same(w, "expand", instances, c.expand(w))
	c.same(w, "list_events", instances, c.listEvents(w.from, w.until))
	times := merged(busy)
	c.same(w, "free-busy-query", times, c.freeBusyQuery(w))
	c.same(w, "get_free_busy", times, c.getFreeBusy(w))
	c.lookedUp(w)
}

func (c *comparison) same(w window, what string, want, got []string) {
	c.t.Helper()
	diff := cmp.Diff(want, got)
	if diff == "" {
		return
	}
	text := ""
	for _, s := range c.all {
		if strings.Contains(diff, s.uid+" ") || strings.Contains(diff, `"`+s.uid+`"`) {
			text += s.text()
		}
	}
	c.t.Errorf("%s from %s to %s (-oracle +server): %s\n%s", what, w.from.Format(stamp), w.until.Format(stamp), diff,
		text)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// merged are busy times without overlaps.
func merged(list []window) []string {
	slices.SortFunc(list, func(a, b window) int { return a.from.Compare(b.from) })
	var joined []window
	for _, w := range list {
		if n := len(joined); n > 0 && !w.from.After(joined[n-1].until) {
			joined[n-1].until = later(joined[n-1].until, w.until)
			continue
		}
		joined = append(joined, w)
	}
	var texts []string
	for _, w := range joined {
		texts = append(texts, w.from.UTC().Format(stamp)+"/"+w.until.UTC().Format(stamp))
	}
	return texts
}

// The DAV door.

func (w window) timeRange(name string) string {
	return fmt.Sprintf(`<C:%s start="%s" end="%s"/>`, name, w.from.Format(stamp), w.until.Format(stamp))
}

func (c *comparison) report(w window, data string) []string {
	c.t.Helper()
	answer := c.ask("REPORT",
		c.name+"/", `<C:calendar-query xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:D="DAV:"><D:prop>`+data+
			`</D:prop><C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">`+
			w.timeRange("time-range")+
			`</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`)
	var read struct {
		Responses []struct {
			Href string `xml:"DAV: href"`
			Data string `xml:"propstat>prop>calendar-data"`
		} `xml:"DAV: response"`
	}
	if err := xml.Unmarshal(answer.Body.Bytes(), &read); err != nil || answer.Code != 207 {
		c.t.Fatalf("%d %v: %s", answer.Code, err, answer.Body)
	}
	var list []string
	for _, r := range read.Responses {
		if data == "" {
			r.Data = strings.TrimSuffix(r.Href[strings.LastIndex(r.Href, "/")+1:], ".ics")
		}
		list = append(list, r.Data)
	}
	slices.Sort(list)
	return list
}

func (c *comparison) query(w window) []string { return c.report(w, "") }

func (c *comparison) expand(w window) []string {
	c.t.Helper()
	var list []string
	for _, text := range c.report(w, `<C:calendar-data>`+w.timeRange("expand")+`</C:calendar-data>`) {
		for _, event := range strings.Split(text, "BEGIN:VEVENT")[1:] {
			list = append(list, readEvent(event).text())
		}
	}
	slices.Sort(list)
	return list
}

var line = regexp.MustCompile(`(?m)^([A-Z-]+)(?:;[^:\r\n]*)?:([^\r\n]*)`)

// event is an expanded VEVENT.
type event struct {
	uid, title string
	start, end time.Time
	days       bool
}

func (e event) text() string { return shown(e.uid, e.title, e.start, e.end) }

// readEvent reads an expanded VEVENT: instants, and dates and floating times of the calendar.
func readEvent(text string) event { return readEventIn(place{loc: load(calendarZone)}, text) }

// readEventIn reads one with the dates and floating times of a zone.
func readEventIn(local place, text string) event {
	values := map[string]string{}
	for _, m := range line.FindAllStringSubmatch(strings.ReplaceAll(text, "\r\n ", ""), -1) {
		values[m[1]] = m[2]
	}
	read := func(value string) time.Time {
		if at, err := time.Parse(stamp, value); err == nil {
			return at
		}
		if w, err := time.Parse("20060102T150405", value); err == nil {
			return local.at(w)
		}
		w, _ := time.Parse("20060102", value)
		return local.at(w)
	}
	e := event{uid: values["UID"], title: values["SUMMARY"], days: len(values["DTSTART"]) == len("20060102")}
	e.start = read(values["DTSTART"])
	e.end = e.start
	first, _ := time.Parse("20060102", values["DTSTART"]) // of whole days; they may begin after midnight
	if value := values["DTEND"]; value != "" {
		e.end = read(value)
	} else if value := values["DURATION"]; value != "" {
		l := readDuration(value)
		if e.days {
			e.end = local.at(first.AddDate(0, 0, l.days).Add(l.exact))
		} else if strings.HasSuffix(values["DTSTART"], "Z") {
			e.end = e.start.AddDate(0, 0, l.days).Add(l.exact)
		} else {
			e.end = l.end(local, e.start)
		}
	} else if e.days {
		e.end = local.at(first.AddDate(0, 0, 1))
	}
	return e
}

func readDuration(text string) lasting {
	days, times, _ := strings.Cut(strings.TrimPrefix(text, "P"), "T")
	l := lasting{}
	if n, ok := strings.CutSuffix(days, "W"); ok {
		l.days, _ = strconv.Atoi(n)
		l.days *= 7
	} else if n, ok := strings.CutSuffix(days, "D"); ok {
		l.days, _ = strconv.Atoi(n)
	}
	l.exact, _ = time.ParseDuration(strings.ToLower(times))
	return l
}

func (c *comparison) freeBusyQuery(w window) []string {
	c.t.Helper()
	answer := c.ask("REPORT", c.name+"/", `<C:free-busy-query xmlns:C="urn:ietf:params:xml:ns:caldav">`+
		w.timeRange("time-range")+`</C:free-busy-query>`)
	var list []string
	for _, m := range regexp.MustCompile(`FREEBUSY;FBTYPE=BUSY:(\S+)`).
		FindAllStringSubmatch(strings.ReplaceAll(answer.Body.String(), "\r\n ", ""), -1) {
		list = append(list, m[1])
	}
	return list
}

// The MCP door.

// readLocal reads a time of a tool: a moment, or a day of the calendar.
func readLocal(text string) time.Time {
	local := place{loc: load(calendarZone)}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at
	}
	if w, err := time.Parse("2006-01-02T15:04:05", text); err == nil {
		return local.at(w)
	}
	w, _ := time.Parse(time.DateOnly, text)
	return local.at(w)
}

func (c *comparison) listEvents(from, until time.Time) []string {
	c.t.Helper()
	var list []string
	args := map[string]any{
		"calendar_id": c.id, "start": from.Format(time.RFC3339), "end": until.Format(time.RFC3339), "limit": 200,
	}
	for {
		var page struct {
			Events []struct {
				UID   string `json:"event_uid"`
				Title string
				Start string
				End   string
				Whole bool `json:"all_day"`
			}
			Cursor string `json:"next_cursor"`
		}
		if refused := c.use("list_events", args, &page); refused != "" {
			c.t.Fatalf("list_events: %s", refused)
		}
		for _, e := range page.Events {
			end := readLocal(e.End)
			if e.Whole { // the last day
				w, _ := time.Parse(time.DateOnly, e.End)
				end = readLocal(w.AddDate(0, 0, 1).Format(time.DateOnly))
			}
			list = append(list, shown(e.UID, e.Title, readLocal(e.Start), end))
		}
		if page.Cursor == "" {
			slices.Sort(list)
			return list
		}
		args["cursor"] = page.Cursor
	}
}

func (c *comparison) getFreeBusy(w window) []string {
	c.t.Helper()
	var list []string
	args := map[string]any{
		"calendar_ids": []string{c.id}, "start_time": w.from.Format(time.RFC3339),
		"end_time": w.until.Format(time.RFC3339),
	}
	for {
		var page struct {
			Busy   []struct{ Start, End string }
			Cursor string `json:"next_cursor"`
		}
		if refused := c.use("get_free_busy", args, &page); refused != "" {
			c.t.Fatalf("get_free_busy: %s", refused)
		}
		for _, b := range page.Busy {
			list = append(list, readLocal(b.Start).UTC().Format(stamp)+"/"+readLocal(b.End).UTC().Format(stamp))
		}
		if page.Cursor == "" {
			return list
		}
		args["start_time"] = page.Cursor
	}
}

// lookedUp takes ids out of query_events into get_event, as the tools say that one can.
func (c *comparison) lookedUp(w window) {
	c.t.Helper()
	var page struct {
		Events []struct {
			UID   string
			ID    string `json:"recurrence_id"`
			Start string `json:"dtstart"`
			Title string `json:"summary"`
		}
	}
	args := map[string]any{
		"calendar_id": c.id, "start": w.from.Format(time.RFC3339), "end": w.until.Format(time.RFC3339),
	}
	if refused := c.use("query_events", args, &page); refused != "" {
		c.t.Fatalf("query_events: %s", refused)
	}
	for range min(len(page.Events), 6) {
		e := page.Events[c.IntN(len(page.Events))]
		ask := map[string]any{"calendar_id": c.id, "event_uid": e.UID}
		if e.ID != "" {
			ask["recurrence_id"] = e.ID
		}
		var got struct {
			Start string `json:"dtstart"`
			Title string `json:"summary"`
		}
		if refused := c.use("get_event", ask, &got); refused != "" || got.Start != e.Start || got.Title != e.Title {
			c.same(w, "get_event "+e.ID+" "+refused, []string{e.UID + " " + e.Start + " " + e.Title}, []string{
				e.UID + " " + got.Start + " " + got.Title,
			})
		}
	}
}
