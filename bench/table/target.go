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

// target is a server that is measured.
type target struct {
	name, url, user, password string
	// home is where its calendars are, with a slash behind it.
	home string
	// count is how many events are in the calendar.
	count int
	token string
	// crowd are the users beside, whom an event can invite.
	crowd int
}

const (
	calendarName = "bench-table"
	davXML       = `xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/" xmlns:A="http://apple.com/ns/ical/"`
)

// request is one that is sent and checked.
type request struct {
	method, path, depth, body string
	header                    http.Header
	// want is what the answer's status is to be, and matches how often sign is to be in it.
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

// connection is a client that keeps one connection.
func connection() *http.Client {
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
}

func (t *target) calendar() string { return t.home + calendarName + "/" }

// beside is a calendar for what is put beyond the events that all questions are about: a quick server would have more to tell.
func (t *target) beside() string { return t.home + calendarName + "-beside/" }

// apart is a calendar of one connection alone.
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

// put writes an event, which is new before its first revision. As apps do, it says so.
func (t *target) put(e event, r int) request {
	text, header := e.text, http.Header{"Content-Type": {"text/calendar"}}
	if r > 0 {
		text = strings.Replace(text, "SUMMARY:", fmt.Sprintf("SEQUENCE:%d\r\nSUMMARY:", r), 1)
	} else {
		header.Set("If-None-Match", "*")
	}
	return request{method: http.MethodPut, path: t.object(e), body: text, header: header}
}

// do sends a request and sees that the answer is right.
func (t *target) do(ctx context.Context, c *http.Client, r request) (string, error) {
	body, _, err := t.timed(ctx, c, r)
	return body, err
}

// timed is do, and tells how long the answer took: to look at it is no work of the server's.
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

// prepare makes the calendars anew.
func (t *target) prepare(ctx context.Context) error {
	c := connection()
	all := []string{t.calendar(), t.beside()}
	for conn := range writers {
		all = append(all, t.apart(conn))
	}
	for _, path := range all {
		_, _ = t.do(ctx, c, request{method: http.MethodDelete, path: path}) // there may be none
		if _, err := t.do(ctx, c, request{method: "MKCALENDAR", path: path, want: http.StatusCreated}); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}
