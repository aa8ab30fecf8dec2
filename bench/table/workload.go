package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// workload is a row of the table.
type workload struct {
	name  string
	conns int
	// once is set for a row that runs once instead of repeatedly for a time.
	once bool
	// begin returns the repeated step of one connection.
	begin func(t *target, conn int) step
	// guests is the number of further users that it needs.
	guests int
	// limit is the rate to compare with: a name in limits, onePut, or "" for the best peer. must is the required
	// multiple of it.
	limit string
	must  float64
}

// writers is the number of concurrent writers.
const writers = 4

// step sends one request and returns the time until the response.
type step func(ctx context.Context, c *http.Client, n int) (time.Duration, error)

func (t *target) takes(ctx context.Context, c *http.Client, r request) (time.Duration, error) {
	_, took, err := t.timed(ctx, c, r)
	return took, err
}

// asking repeats one request.
func asking(what func(t *target) request) func(*target, int) step {
	return func(t *target, _ int) step {
		r := what(t)
		return func(ctx context.Context, c *http.Client, _ int) (time.Duration, error) { return t.takes(ctx, c, r) }
	}
}

func workloads() []workload {
	return []workload{
		{name: "import", conns: writers, once: true, begin: puts(0, 0), limit: commits, must: 0.25},
		{name: "PUT of a new event", conns: writers, begin: puts(beyond, 0), limit: commits, must: 0.25},
		{
			name: "the same, a calendar for each connection", conns: writers, begin: putsApart,
			limit: commits, must: 0.25,
		},
		{name: "PUT over an event", conns: writers, begin: puts(0, 1), limit: commits, must: 0.25},
		{name: onePut, conns: 1, begin: invites(0)},
		{name: "PUT that invites 50", conns: 1, guests: crowd, begin: invites(crowd), limit: onePut, must: 0.1},
		{name: "GET", conns: 4, begin: gets, limit: bare4, must: 0.25},
		{name: "PROPFIND 1", conns: 1, must: 10, begin: asking(func(t *target) request {
			return report("PROPFIND", t,
				`<D:propfind `+davXML+`><D:prop><D:getetag/><D:getcontenttype/></D:prop></D:propfind>`, t.count+1)
		})},
		{name: "multiget of 50", conns: 1, must: 8, begin: asking(multiget)},
		{name: "a week", conns: 1, must: 15, begin: asking(func(t *target) request { return ofWeek(t, "") })},
		{name: "the same, expanded", conns: 1, must: 20, begin: asking(func(t *target) request {
			r := ofWeek(t,
				fmt.Sprintf(`<C:expand start="%s" end="%s"/>`, weekFrom.Format(stamp), weekUntil.Format(stamp)))
			r.sign, r.matches = instances, 0
			for n := range t.count {
				r.matches += t.event(n).during(weekFrom, weekUntil)
			}
			return r
		})},
		{name: "free/busy, four weeks", conns: 1, must: 15, begin: asking(func(t *target) request {
			r := report("REPORT",
				t, fmt.Sprintf(`<C:free-busy-query %s><C:time-range start="%s" end="%s"/></C:free-busy-query>`,
					davXML, weekFrom.Format(stamp), weekFrom.AddDate(0, 0, 28).Format(stamp)), 0)
			r.want, r.sign = http.StatusOK, nil
			return r
		})},
		{name: "first sync", conns: 1, must: 10, begin: syncs(false)},
		{name: "sync of 10 changes", conns: 1, must: 6, begin: syncs(true)},
		{name: "CTag", conns: 1, begin: asking(ctag)},
		{name: "CTag, 32 connections", conns: 32, begin: asking(ctag), limit: bare32, must: 0.25},
		{name: "the home, 39 properties", conns: 1, must: 8, begin: asking(home)},
	}
}

func report(method string, t *target, body string, want int) request {
	return request{
		method: method, path: t.calendar(), depth: "1", body: body, want: http.StatusMultiStatus, sign: responses,
		matches: want,
	}
}

// puts writes events from a number on, different ones on each connection; a revision above 0 means that they exist.
func puts(from, revision int) func(*target, int) step {
	return func(t *target, conn int) step {
		return func(ctx context.Context, c *http.Client, n int) (time.Duration, error) {
			at, r := n*writers+conn, 0
			if revision > 0 {
				at, r = at%t.count, n+1 // stays on this connection's events, as the count is a multiple of four
			}
			return t.takes(ctx, c, t.put(t.event(from+at), r))
		}
	}
}

// putsApart is puts for new events, with a separate calendar for each connection.
func putsApart(t *target, conn int) step {
	return func(ctx context.Context, c *http.Client, n int) (time.Duration, error) {
		e := t.event(beyond*300 + n*writers + conn)
		r := t.put(e, 0)
		r.path = t.apart(conn) + e.uid + ".ics"
		return t.takes(ctx, c, r)
	}
}

func gets(t *target, conn int) step {
	return func(ctx context.Context, c *http.Client, n int) (time.Duration, error) {
		return t.takes(ctx, c, request{
			method: http.MethodGet, path: t.object(t.event((n*37 + conn*11) % t.count)), want: http.StatusOK,
			sign: objects, matches: 1,
		})
	}
}

func multiget(t *target) request {
	var hrefs strings.Builder
	for n := range 50 {
		fmt.Fprintf(&hrefs, "<D:href>%s</D:href>", t.object(t.event(n*17%t.count)))
	}
	r := report("REPORT", t, `<C:calendar-multiget `+davXML+`><D:prop><D:getetag/><C:calendar-data/></D:prop>`+
		hrefs.String()+`</C:calendar-multiget>`, 50)
	r.sign = objects
	return r
}

// ofWeek requests a week's objects with their data.
func ofWeek(t *target, shape string) request {
	want := 0
	for n := range t.count {
		want += min(1, t.event(n).during(weekFrom, weekUntil))
	}
	return report("REPORT",
		t, fmt.Sprintf(`<C:calendar-query %s><D:prop><D:getetag/><C:calendar-data>%s</C:calendar-data></D:prop>
		<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">
		<C:time-range start="%s" end="%s"/></C:comp-filter>
		</C:comp-filter></C:filter></C:calendar-query>`,
			davXML, shape, weekFrom.Format(stamp), weekUntil.Format(stamp)), want)
}

// sync requests the changes since a token, page by page.
func (t *target) sync(ctx context.Context, c *http.Client,
	since string,
) (token string, n int, took time.Duration, err error) {
	for more := true; more; since = token {
		body := `<D:sync-collection ` + davXML + `><D:sync-token>` + since +
			`</D:sync-token><D:sync-level>1</D:sync-level><D:prop><D:getetag/></D:prop></D:sync-collection>`
		answer, one, err := t.timed(ctx, c, request{
			method: "REPORT", path: t.calendar(), body: body, want: http.StatusMultiStatus,
		})
		if err != nil {
			return "", 0, 0, err
		}
		took += one
		found := syncToken.FindStringSubmatch(answer)
		if found == nil {
			return "", 0, 0, fmt.Errorf("no sync-token in %.200s", answer)
		}
		token, more = found[1], strings.Contains(answer, " 507 ")
		n += len(responses.FindAllString(answer, -1))
		if more {
			n--
		}
	}
	return token, n, took, nil
}

// syncs requests everything, or ten changes that are made in advance and not measured.
func syncs(changes bool) func(*target, int) step {
	return func(t *target, _ int) step {
		return func(ctx context.Context, c *http.Client, n int) (time.Duration, error) {
			since, want := "", t.count
			if changes {
				var err error
				if since, err = t.change(ctx, n); err != nil {
					return 0, err
				}
				want = changesMade
			}
			_, got, took, err := t.sync(ctx, c, since)
			if err == nil && got != want {
				err = fmt.Errorf("%d objects in a sync, want %d", got, want)
			}
			return took, err
		}
	}
}

const changesMade = 10

// change makes some changes, and returns the token of the previous state.
func (t *target) change(ctx context.Context, round int) (string, error) {
	c := connection()
	defer c.CloseIdleConnections()
	since, _, _, err := t.sync(ctx, c, t.token)
	t.token = since
	for n := range changesMade {
		if err == nil {
			_, err = t.do(ctx, c, t.put(t.event(n*3), 1000+round*changesMade+n))
		}
	}
	return since, err
}

func ctag(t *target) request {
	return request{
		method: "PROPFIND", path: t.calendar(), depth: "0", want: http.StatusMultiStatus,
		body: `<D:propfind ` + davXML + `><D:prop><S:getctag/><D:sync-token/></D:prop></D:propfind>`, sign: responses,
		matches: 1,
	}
}

// homeProperties are the properties that Apple's Calendar requests of a calendar home.
var homeProperties = strings.Fields(`
	D:add-member D:current-user-privilege-set D:displayname D:owner D:quota-available-bytes
	D:quota-used-bytes D:resource-id
	D:resourcetype D:supported-report-set D:sync-token D:acl D:current-user-principal
	C:calendar-alarm C:calendar-availability C:calendar-description C:calendar-free-busy-set C:calendar-order
	C:calendar-timezone C:default-alarm-vevent-date C:default-alarm-vevent-datetime C:schedule-calendar-transp
	C:schedule-default-calendar-URL C:supported-calendar-component-set C:supported-calendar-component-sets
	C:max-attendees-per-instance C:max-resource-size S:allowed-sharing-modes S:getctag S:invite S:me S:pre-publish-url
	S:publish-url S:push-transports S:pushkey S:source S:subscribed-strip-alarms S:subscribed-strip-attachments
	S:subscribed-strip-todos
	A:calendar-color`)

func home(t *target) request {
	var b strings.Builder
	for _, name := range homeProperties {
		b.WriteString("<" + name + "/>")
	}
	return request{
		method: "PROPFIND", path: t.home, depth: "1", want: http.StatusMultiStatus, body: `<D:propfind ` + davXML +
			`><D:prop>` + b.String() + `</D:prop></D:propfind>`,
	}
}

// onePut is the row that invitations are compared with; crowd is the number of invited users.
const (
	onePut = "PUT, 1 connection"
	crowd  = 50
)

// invites writes new events, alternately with no attendees and with a crowd if there is one, so that both run under the
// same conditions. It measures the events with the given number of guests.
func invites(guests int) func(*target, int) step {
	return func(t *target, _ int) step {
		sizes := []int{0, crowd}
		if t.crowd < crowd {
			sizes = sizes[:1]
		}
		return func(ctx context.Context, c *http.Client, n int) (took time.Duration, err error) {
			for _, size := range sizes {
				one, failed := t.takes(ctx, c, t.put(t.invitation(beyond*(2+2*guests+size)+n, size), 0))
				err = errors.Join(err, failed)
				if size == guests {
					took = one
				}
			}
			return took, err
		}
	}
}

// invitation returns an event with so many guests.
func (t *target) invitation(n, guests int) event {
	if guests == 0 {
		return t.event(n)
	}
	return t.event(n).inviting(guests, t.user)
}
