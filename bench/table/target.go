package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	// count is how many events are in the calendar, fresh how many were put beyond them.
	count, fresh int
	token        string
}

const (
	calendarName = "bench-table"
	davXML       = `xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:S="http://calendarserver.org/ns/" xmlns:A="http://apple.com/ns/ical/"`
)

// request is one that is sent and checked.
type request struct {
	method, path, depth, body string
	header                    [2]string
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

func (t *target) calendar() string      { return t.home + calendarName + "/" }
func (t *target) object(e event) string { return t.calendar() + e.uid + ".ics" }
func (t *target) event(n int) event     { return eventOf(t.name, n) }
func (t *target) put(e event, r int) request {
	text := e.text
	if r > 0 {
		text = strings.Replace(text, "SUMMARY:", fmt.Sprintf("SEQUENCE:%d\r\nSUMMARY:", r), 1)
	}
	return request{method: http.MethodPut, path: t.object(e), body: text, header: [2]string{"Content-Type", "text/calendar"}}
}

// do sends a request and sees that the answer is right.
func (t *target) do(ctx context.Context, c *http.Client, r request) (string, error) {
	q, err := http.NewRequestWithContext(ctx, r.method, t.url+r.path, bytes.NewReader([]byte(r.body)))
	if err != nil {
		return "", err
	}
	q.SetBasicAuth(t.user, t.password)
	q.Header.Set("Content-Type", "application/xml")
	if r.header[0] != "" {
		q.Header.Set(r.header[0], r.header[1])
	}
	if r.depth != "" {
		q.Header.Set("Depth", r.depth)
	}
	answer, err := c.Do(q)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return "", err
	}
	if wrong := answer.StatusCode != r.want; wrong && (r.want != 0 || answer.StatusCode/100 != 2) {
		return "", fmt.Errorf("%s %s: %s: %.300s", r.method, r.path, answer.Status, body)
	}
	if r.sign != nil {
		if n := len(r.sign.FindAll(body, -1)); n != r.matches {
			return "", fmt.Errorf("%s %s: %d times %s, want %d", r.method, r.path, n, r.sign, r.matches)
		}
	}
	return string(body), nil
}

// prepare makes the calendar anew.
func (t *target) prepare(ctx context.Context) error {
	c := connection()
	for _, r := range []request{
		{method: http.MethodDelete, path: t.calendar()},
		{method: "MKCALENDAR", path: t.calendar(), want: http.StatusCreated},
	} {
		if _, err := t.do(ctx, c, r); err != nil && r.want != 0 {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}
