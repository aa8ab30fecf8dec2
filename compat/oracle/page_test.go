package oracle_test

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

const (
	// pageBatch is the number of series on a page: with more of them it does not show all.
	pageBatch           = 20
	fewPages, manyPages = 2, 60
)

// visitorZones are the zones of the visitor, and of the calendar: its floating times are read there.
var visitorZones = []string{
	calendarZone, "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "America/Santiago", "Asia/Beirut",
	"Africa/Cairo", "Asia/Kathmandu", "America/Havana",
}

// TestPagesAgreeWithCalendarQuery compares days, weeks, months and lists of the calendar page with calendar-query, for
// random series and zones. About every second week has a change of the clocks.
func TestPagesAgreeWithCalendarQuery(t *testing.T) {
	t.Parallel()
	first := seed(t)
	testdb.Each(t, func(t *testing.T, url string) {
		g := newGenerator(first+3, present())
		d := openOn(t, url)
		v := visit(d)
		d.calendar("default") // it cannot be deleted
		rounds := slowtest.Rounds(t, slowtest.Random, fewPages, manyPages)
		for round := range rounds {
			c := comparison{doors: d, generator: g, name: fmt.Sprintf("p%d", round)}
			zone := visitorZones[g.IntN(len(visitorZones))]
			g.zones = append([]string{zone, zone, zone, zone, zone, zone, zone}, zones[:7]...) // many near its changes
			c.id = string(d.calendarIn(c.name, zone).ID)
			for range pageBatch {
				c.put(g.series())
			}
			_, err := v.people.ChangeUser(t.Context(), d.caller.User.Name, auth.UserEdit{Timezone: &zone})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				c.comparePages(v, placeOf(zone))
			}
			if w := d.ask("DELETE", c.name+"/", ""); w.Code != http.StatusNoContent {
				t.Fatalf("deleting the calendar is answered %d: %s", w.Code, w.Body)
			}
			if t.Failed() {
				t.Fatalf("in round %d", round)
			}
		}
	})
}

// visitor is a user who is signed in on the pages.
type visitor struct {
	people  *auth.Service
	pages   http.Handler
	cookies []*http.Cookie
}

// visit signs the user in.
func visit(d *doors) *visitor {
	d.t.Helper()
	const password = "correct horse battery"
	ids := 0
	newID := func() string { ids++; return fmt.Sprintf("10000000-0000-4000-8000-%012d", ids) }
	log := slog.New(slog.DiscardHandler)
	now := func() time.Time { return opening }
	v := &visitor{people: auth.New(auth.Config{
		Store: d.store, Now: now, NewID: newID,
		Logger: log, Hasher: auth.Argon2id{Cost: auth.DefaultCost()}, Limits: auth.DefaultLimits(),
	})}
	if err := v.people.SetPassword(d.t.Context(), d.caller.User.Name, password); err != nil {
		d.t.Fatal(err)
	}
	pages, err := web.New(web.Config{
		Auth: v.people, Service: d.service, Now: now, Version: "test", Logger: log,
		LinkPath:   func(auth.Link, auth.Secret) string { return "" },
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	})
	if err != nil {
		d.t.Fatal(err)
	}
	v.pages = pages.Before(http.NotFoundHandler())
	form := url.Values{"name": {d.caller.User.Name}, "password": {password}}.Encode()
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "/account/sign-in", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	w := httptest.NewRecorder()
	v.pages.ServeHTTP(w, r)
	if v.cookies = w.Result().Cookies(); len(v.cookies) == 0 {
		d.t.Fatalf("signing in is answered %d: %s", w.Code, w.Body)
	}
	return v
}

// get returns the elements of a page.
func (c *comparison) get(v *visitor, path string) *html.Node {
	c.t.Helper()
	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodGet, path, nil)
	for _, cookie := range v.cookies {
		r.AddCookie(cookie)
	}
	w := httptest.NewRecorder()
	v.pages.ServeHTTP(w, r)
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "too many events") {
		c.t.Fatalf("%s is answered %d: %s", path, w.Code, w.Body)
	}
	page, err := html.Parse(w.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return page
}

// comparePages compares a day, its week, its month and its list in the zone of the visitor.
func (c *comparison) comparePages(v *visitor, local place) {
	c.t.Helper()
	wall := c.opening.AddDate(0, 0, c.IntN(450))
	if c.odds(2) {
		wall = c.nearChange(local, wall).Truncate(24 * time.Hour)
	}
	week := wall
	for week.Weekday() != time.Monday {
		week = week.AddDate(0, 0, -1)
	}
	month := wall.AddDate(0, 0, 1-wall.Day())
	for month.Weekday() != time.Monday {
		month = month.AddDate(0, 0, -1)
	}
	from := wall.AddDate(0, 0, -45)
	around := window{from, from.AddDate(0, 0, 120)}
	var events []event
	for _, text := range c.report(around, `<C:calendar-data>`+around.timeRange("expand")+`</C:calendar-data>`) {
		for _, part := range strings.Split(text, "BEGIN:VEVENT")[1:] {
			events = append(events, readEventIn(local, part))
		}
	}
	about := local.tzid + " " + wall.Format(time.DateOnly)
	page := c.get(v, "/calendar/week/"+wall.Format(time.DateOnly))
	c.agree("week "+about, wantedDays(local, events, week, 7), daysOf(page))
	page = c.get(v, "/calendar/day/"+wall.Format(time.DateOnly))
	c.agree("day "+about, wantedDays(local, events, wall, 1), daysOf(page))
	page = c.get(v, "/calendar/month/"+wall.Format(time.DateOnly))
	got := monthOf(page)
	c.agree("month "+about, wantedCounts(local, events, month, len(got)), got)
	page = c.get(v, "/calendar/list/"+wall.Format(time.DateOnly))
	c.agree("list "+about, wantedList(local, events, wall, 30), listOf(page))
}

func (c *comparison) agree(what string, want, got []string) {
	c.t.Helper()
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		text := ""
		for _, s := range c.all {
			if strings.Contains(diff, s.title+" ") || strings.Contains(diff, s.title+`"`) {
				text += s.text()
			}
		}
		c.t.Errorf("%s (-calendar-query +page): %s\n%s", what, diff, text)
	}
}

// on reports whether an event takes place on a day of a zone, and on days before and after it.
func (e event) on(local place, day time.Time) (is, before, after bool) {
	begin, next := local.at(day), local.at(day.AddDate(0, 0, 1))
	is = e.start.Before(next) && (e.end.After(begin) || !e.start.Before(begin))
	return is, e.start.Before(begin), e.end.After(next)
}

// long reports whether an event belongs to the whole days.
func (e event) long() bool { return e.days || e.end.Sub(e.start) >= 24*time.Hour }

const unit = 5 // minutes

// wantedDays returns the lines of some days: "2026-03-29 t24 h12 Series 5", and "2026-03-29 bar Series 5" for one of
// whole days.
func wantedDays(local place, events []event, from time.Time, days int) (lines []string) {
	for n := range days {
		day := from.AddDate(0, 0, n)
		for _, e := range events {
			is, before, after := e.on(local, day)
			switch {
			case !is:
			case e.long():
				lines = append(lines, day.Format(time.DateOnly)+" bar "+e.title)
			default:
				top, bottom := 0, 24*60
				if !before {
					top = int(local.shows(e.start).Sub(day) / time.Minute)
				}
				if !after {
					bottom = int(local.shows(e.end).Sub(day) / time.Minute)
				}
				if !before && !after && bottom <= top { // the clocks went back meanwhile
					bottom = top + int(e.end.Sub(e.start)/time.Minute)
				}
				bottom = min(max(bottom, top+1), 24*60)
				height := max((bottom+unit-1)/unit-top/unit, 1)
				lines = append(lines,
					fmt.Sprintf("%s t%d h%d %s", day.Format(time.DateOnly), top/unit, height, e.title))
			}
		}
	}
	return lines
}

// wantedCounts returns the number of events of each day: "2026-03-29 3".
func wantedCounts(local place, events []event, from time.Time, days int) (lines []string) {
	for n := range days {
		day := from.AddDate(0, 0, n)
		count := 0
		for _, e := range events {
			if is, _, _ := e.on(local, day); is {
				count++
			}
		}
		lines = append(lines, fmt.Sprint(day.Format(time.DateOnly), " ", count))
	}
	return lines
}

// wantedList returns the events of each day: "2026-03-29 Series 5".
func wantedList(local place, events []event, from time.Time, days int) (lines []string) {
	for n := range days {
		day := from.AddDate(0, 0, n)
		for _, e := range events {
			if is, _, _ := e.on(local, day); is {
				lines = append(lines, day.Format(time.DateOnly)+" "+e.title)
			}
		}
	}
	return lines
}

// The pages.

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, name string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), name)
}

// each calls a function for the elements below a node that have a class.
func each(n *html.Node, class string, do func(*html.Node)) {
	for below := range n.Descendants() {
		if below.Type == html.ElementNode && hasClass(below, class) {
			do(below)
		}
	}
}

// inside returns the text of the first element of a kind.
func inside(n *html.Node, kind string) string {
	for below := range n.Descendants() {
		if below.Type == html.ElementNode && below.Data == kind {
			text := ""
			for child := range below.Descendants() {
				if child.Type == html.TextNode {
					text += child.Data
				}
			}
			return text
		}
	}
	return ""
}

func daysOf(page *html.Node) (lines []string) {
	each(page, "allday", func(day *html.Node) {
		each(day, "bar", func(bar *html.Node) {
			if !hasClass(bar, "gap") {
				lines = append(lines, attr(day, "data-day")+" bar "+inside(bar, "b"))
			}
		})
	})
	each(page, "day", func(day *html.Node) {
		each(day, "block", func(block *html.Node) {
			place := strings.Fields(attr(block, "class"))
			line := []string{attr(day, "data-day"), place[1], place[2], inside(block, "b")}
			lines = append(lines, strings.Join(line, " "))
		})
	})
	return lines
}

func monthOf(page *html.Node) (lines []string) {
	for cell := range page.Descendants() {
		if cell.Data != "td" || attr(cell, "data-day") == "" {
			continue
		}
		count := 0
		each(cell, "bar", func(bar *html.Node) {
			if !hasClass(bar, "gap") {
				count++
			}
		})
		each(cell, "line", func(line *html.Node) {
			if !hasClass(line, "printed") { // it repeats, for a print, what "more" counts
				count++
			}
		})
		each(cell, "more", func(more *html.Node) {
			text := strings.FieldsFunc(more.FirstChild.Data, func(r rune) bool { return r < '0' || r > '9' })
			n, _ := strconv.Atoi(cmp.Or(strings.Join(text, ""), "0"))
			count += n
		})
		lines = append(lines, fmt.Sprint(attr(cell, "data-day"), " ", count))
	}
	return lines
}

func listOf(page *html.Node) (lines []string) {
	for section := range page.Descendants() {
		day, found := strings.CutPrefix(attr(section, "aria-labelledby"), "d")
		if section.Data != "section" || !found || len(day) != len(time.DateOnly) {
			continue
		}
		each(section, "what", func(what *html.Node) { lines = append(lines, day+" "+inside(what, "a")) })
	}
	return lines
}
