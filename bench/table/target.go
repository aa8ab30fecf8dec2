package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// target is a measured server.
type target struct {
	name, url, user, password string
	// home is the path of the calendar home, with a trailing slash.
	home string
	// count is the number of events in the calendar.
	count int
	token string
	// crowd is the number of further users, whom an event can invite.
	crowd int
}

const (
	calendarName = "bench-table"
	davXML       = `xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/" ` +
		`xmlns:A="http://apple.com/ns/ical/"`
)

// request is a request with checks of its response.
type request struct {
	method, path, depth, body string
	header                    http.Header
	// want is the expected status, and matches the expected number of matches of sign.
	want    int
	sign    *regexp.Regexp
	matches int
}

var (
	responses = regexp.MustCompile(`<[\w.-]*:?response[ >]`)
	objects   = regexp.MustCompile(`BEGIN:VCALENDAR`)
	instances = regexp.MustCompile(`BEGIN:VEVENT`)
	syncToken = regexp.MustCompile(`<[\w.-]*:?sync-token>([^<]+)</`)
)

// connection returns a client with a single connection.
func connection() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
}

func (t *target) calendar() string { return t.home + calendarName + "/" }

// beside returns the calendar for additional events. They must not be in the main calendar: a fast server would then
// have larger responses.
func (t *target) beside() string { return t.home + calendarName + "-beside/" }

// apart returns a calendar for one connection only.
func (t *target) apart(conn int) string {
	return fmt.Sprintf("%s%s-apart-%d/", t.home, calendarName, conn)
}

func (t *target) object(e event) string {
	if e.n >= beyond {
		return t.beside() + e.uid + ".ics"
	}
	return t.calendar() + e.uid + ".ics"
}

func (t *target) event(n int) event { return eventOf(t.name, n) }

// put returns a write of an event; revision 0 creates it. As apps do, it sends the matching precondition.
func (t *target) put(e event, r int) request {
	text, header := e.text, http.Header{"Content-Type": {"text/calendar"}}
	if r > 0 {
		text = strings.Replace(text, "SUMMARY:", fmt.Sprintf("SEQUENCE:%d\r\nSUMMARY:", r), 1)
	} else {
		header.Set("If-None-Match", "*")
	}
	return request{method: http.MethodPut, path: t.object(e), body: text, header: header}
}

// do sends a request and checks the response.
func (t *target) do(ctx context.Context, c *http.Client, r request) (string, error) {
	body, _, err := t.timed(ctx, c, r)
	return body, err
}

// timed is do and returns the time until the response was complete; checking it does not count.
func (t *target) timed(ctx context.Context, c *http.Client, r request) (body string, took time.Duration, err error) {
	q, err := http.NewRequestWithContext(ctx, r.method, t.url+r.path, bytes.NewReader([]byte(r.body)))
	if err != nil {
		return "", 0, err
	}
	q.SetBasicAuth(t.user, t.password)
	q.Header.Set("Content-Type", "application/xml")
	maps.Copy(q.Header, r.header)
	if r.depth != "" {
		q.Header.Set("Depth", r.depth)
	}
	began := time.Now()
	answer, err := c.Do(q)
	if err != nil {
		return "", 0, err
	}
	all, err := io.ReadAll(answer.Body)
	took = time.Since(began)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return "", 0, err
	}
	if wrong := answer.StatusCode != r.want; wrong && (r.want != 0 || answer.StatusCode/100 != 2) {
		return "", 0, fmt.Errorf("%s %s: %s: %.300s", r.method, r.path, answer.Status, all)
	}
	if r.sign != nil {
		if n := len(r.sign.FindAll(all, -1)); n != r.matches {
			return "", 0, fmt.Errorf("%s %s: %d times %s, want %d", r.method, r.path, n, r.sign, r.matches)
		}
	}
	return string(all), took, nil
}

// prepare deletes and recreates the calendars.
func (t *target) prepare(ctx context.Context) error {
	c := connection()
	all := []string{t.calendar(), t.beside()}
	for conn := range writers {
		all = append(all, t.apart(conn))
	}
	for _, path := range all {
		_, _ = t.do(ctx, c, request{method: http.MethodDelete, path: path}) // it may not exist
		if _, err := t.do(ctx, c, request{method: "MKCALENDAR", path: path, want: http.StatusCreated}); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}
