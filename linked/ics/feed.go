// Package ics follows published calendars (RFC 5545, webcal). It is read-only.
package ics

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/outbound"
)

const (
	// feedBytes limits a decompressed feed, feedTime the exchange, redirects the number of redirects.
	feedBytes = 10 << 20
	feedTime  = 30 * time.Second
	redirects = 5
	// usual is the polling interval of a feed that does not name one; least and seldom limit the named interval.
	usual, least, seldom = 12 * time.Hour, 15 * time.Minute, 7 * 24 * time.Hour
	// accepted is the Accept header.
	accepted = "text/calendar, */*;q=0.1"
)

// Provider serves feeds. It uses a guarded client, because users supply the address. The budget limits the work that
// the feeds of one user may cause in a day, in bytes.
func Provider(guard *outbound.Guard, budget int64) mirror.Provider {
	return mirror.Provider{
		Title: "feed", Every: usual, Least: least, Feed: true, Budget: budget, Noted: noted, Address: shownAddress,
		Open: func(o mirror.Opening) (mirror.Source, error) { return open(guard, o.Secret) },
	}
}

// feed is a published calendar.
type feed struct {
	client *http.Client
	at     *url.URL
	user   *url.Userinfo
	// silent removes the alarms.
	silent bool
}

func open(guard *outbound.Guard, s mirror.Secret) (mirror.Source, error) {
	at, err := address(s.URL)
	if err != nil {
		return nil, err
	}
	f := &feed{
		client: guard.Client(outbound.Limits{
			Time: feedTime, Bytes: feedBytes, Redirects: redirects, Plain: true,
		}),
		at: at, user: at.User, silent: !s.Alarms,
	}
	f.at.User = nil
	if s.Username != "" {
		f.user = url.UserPassword(s.Username, s.Password)
	}
	return f, nil
}

// address parses an address as people paste it; webcal: means https:.
func address(text string) (*url.URL, error) {
	at, err := url.Parse(strings.TrimSpace(text))
	if err != nil || at.Host == "" {
		return nil, mirror.Refusef("this is no address; one begins with https:// or webcal://")
	}
	switch strings.ToLower(at.Scheme) {
	case "webcal", "webcals", "https":
		at.Scheme = "https"
	case "http":
		at.Scheme = "http"
	default:
		return nil, mirror.Refusef("an address of a calendar begins with https:// or webcal://, not %s:", at.Scheme)
	}
	at.Fragment = ""
	return at, nil
}

// shownAddress returns only the host: the rest is often the only secret.
func shownAddress(s mirror.Secret) string {
	at, err := address(s.URL)
	if err != nil {
		return "a feed"
	}
	return at.Host
}

// cursor is the last known state of the feed, and a hash of its address.
type cursor struct {
	At       string        `json:"at,omitempty"`
	ETag     string        `json:"etag,omitempty"`
	Modified string        `json:"modified,omitempty"`
	Sum      string        `json:"sum"`
	Silent   bool          `json:"silent,omitempty"`
	Wait     time.Duration `json:"wait,omitempty"`
}

// Calendars implements [mirror.Source].
func (f *feed) Calendars(ctx context.Context) ([]mirror.Remote, error) {
	file, _, _, err := f.get(ctx, cursor{})
	if err != nil {
		return nil, err
	}
	head := file.Header()
	r := mirror.Remote{
		Name: head.Name, Color: head.Color, Zone: head.Timezone, Description: head.Description, Primary: true,
	}
	r.Kinds = calendar.Kinds{calendar.Event, calendar.Todo, calendar.Journal}
	return []mirror.Remote{r}, nil
}

// Changes implements [mirror.Source]. It always returns the whole feed.
func (f *feed) Changes(ctx context.Context, _, at string) (mirror.Changes, error) {
	var was cursor
	if at != "" && json.Unmarshal([]byte(at), &was) != nil {
		return mirror.Changes{}, mirror.ErrExpired
	}
	if at := sumOf([]byte(f.at.String())); was.At != "" && was.At != at || was.Silent != f.silent {
		was = cursor{}
	}
	file, now, read, err := f.get(ctx, was)
	if err != nil {
		return mirror.Changes{Bytes: read}, err
	}
	if file == nil {
		return mirror.Changes{Cursor: at, Wait: was.Wait}, nil
	}
	text := file.Text()
	now.At, now.Sum, now.Wait, now.Silent = sumOf([]byte(f.at.String())), sumOf(text), waitOf(text), f.silent
	next, err := json.Marshal(now)
	if err != nil {
		return mirror.Changes{}, err
	}
	changes := mirror.Changes{Cursor: string(next), Wait: now.Wait, Bytes: read}
	if now.Sum == was.Sum {
		return changes, nil
	}
	changes.Objects = objects(file, f.silent)
	// A broken component without a UID may be any of the previous events, so treat none as deleted.
	changes.Whole = !slices.ContainsFunc(changes.Objects, func(o mirror.Object) bool {
		return o.Fault != "" && o.UID == ""
	})
	return changes, nil
}

// Put implements [mirror.Source].
func (f *feed) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, mirror.Refusef("a feed is only read")
}

// Delete implements [mirror.Source].
func (f *feed) Delete(context.Context, string, mirror.Object) error {
	return mirror.Refusef("a feed is only read")
}

// get fetches the feed, and returns its decompressed size, also if it cannot be read. It returns no file if the feed is
// unchanged.
func (f *feed) get(ctx context.Context, was cursor) (file *archive.File, now cursor, read int64, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.at.String(), http.NoBody)
	if err != nil {
		return nil, now, 0, mirror.Refusef("this is no address")
	}
	r.Header.Set("Accept", accepted)
	if was.ETag != "" {
		r.Header.Set("If-None-Match", was.ETag)
	}
	if was.Modified != "" {
		r.Header.Set("If-Modified-Since", was.Modified)
	}
	if f.user != nil {
		password, _ := f.user.Password()
		r.SetBasicAuth(f.user.Username(), password)
	}
	answer, err := f.client.Do(r)
	if err != nil {
		return nil, now, 0, f.away(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotModified && was.Sum != "" {
		return nil, was, 0, nil
	}
	if err := judge(answer); err != nil {
		return nil, now, 0, err
	}
	text, err := io.ReadAll(answer.Body)
	read = int64(len(text))
	if err != nil {
		return nil, now, read, f.away(err)
	}
	_, params, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		params = nil // many servers send a header that is malformed, or none
	}
	if file, err = archive.OpenFeed(text, params["charset"]); err != nil {
		return nil, now, read, mirror.Refusef("the calendar cannot be read: %v", err)
	}
	if err := whole(file.Text()); err != nil {
		return nil, now, read, err
	}
	return file, cursor{ETag: answer.Header.Get("ETag"), Modified: answer.Header.Get("Last-Modified")}, read, nil
}

// away classifies the error of a failed request. The client's own errors contain the address, which is often a secret.
func (f *feed) away(err error) error {
	if own, ok := errors.AsType[*outbound.RefusedError](err); ok {
		return &mirror.Later{Why: strings.TrimPrefix(own.Error(), "Get "), Cause: errors.New("the address is refused")}
	}
	if f.at.Scheme == "http" {
		return &mirror.Later{
			Why:   "it does not answer there, or is not in a network in FETCH_ALLOW; others need https://",
			Cause: errors.New("no answer"),
		}
	}
	return &mirror.Later{
		Why: "it does not answer there, or stands for no public address", Cause: errors.New("no answer"),
	}
}

// judge returns the error of a response's status.
func judge(answer *http.Response) error {
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusUnauthorized:
		return mirror.ErrSignIn
	case code == http.StatusNotFound, code == http.StatusGone:
		return &mirror.Later{
			Why: fmt.Sprintf("there is nothing at the address any more (%d); the last copy stays here", code),
		}
	case code == http.StatusTooManyRequests, code >= http.StatusInternalServerError:
		return &mirror.Later{Why: fmt.Sprintf("it answers %d", code), After: outbound.RetryAfter(answer.Header)}
	default:
		return mirror.Refusef("it answers %d", code)
	}
}

// whole checks that a text is a complete calendar. A truncated one would look as if events were deleted.
func whole(text []byte) error {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\uFEFF")))
	const begin, end = "BEGIN:VCALENDAR", "END:VCALENDAR"
	if len(trimmed) < len(begin) || !bytes.EqualFold(trimmed[:len(begin)], []byte(begin)) {
		return mirror.Refusef("there is no calendar in iCalendar format at this address")
	}
	if !bytes.EqualFold(trimmed[len(trimmed)-len(end):], []byte(end)) {
		return &mirror.Later{Why: "the calendar ends in the middle"}
	}
	return nil
}

// objects returns the objects of a feed. Of several events with one UID, the newest counts, else the last one. The
// others become an object with a fault, so that the user sees that something was left out.
func objects(file *archive.File, silent bool) []mirror.Object {
	zone := file.Header().Timezone
	fallback := func(string) archive.Zone { return archive.Zone{Name: zone, Of: "the feed"} }
	if zone == "" {
		fallback = nil
	}
	var all []mirror.Object
	at := map[string]int{}
	for part := range file.Parts(fallback) {
		if silent {
			part.Data = withoutAlarms(part.Data)
		}
		o := mirror.Object{Ref: part.Kind + " " + part.UID, Version: sumOf(part.Data), UID: part.UID, Data: part.Data}
		if part.UID == "" {
			o.Ref = fmt.Sprintf("line %d", part.Line)
		}
		if part.Err != nil {
			o.Fault, o.Data, o.Version = part.Err.Error(), nil, ""
		}
		if i, twice := at[o.Ref]; twice {
			all[i] = o
			continue
		}
		at[o.Ref] = len(all)
		all = append(all, o)
		if n := len(part.Replaced); n > 0 && part.Err == nil {
			all = append(all, mirror.Object{
				Ref: o.Ref + " again", UID: part.UID + " again",
				Fault: fmt.Sprintf("%d events have the UID %.100q; the newest or last one is shown", n+1, part.UID),
			})
		}
	}
	return all
}

// withoutAlarms removes the alarms of an object (RFC 5545 §3.6.6).
func withoutAlarms(text []byte) []byte {
	var kept bytes.Buffer
	inAlarm := false
	for line := range bytes.Lines(text) {
		bare := bytes.TrimSpace(line)
		if inAlarm = inAlarm || bytes.EqualFold(bare, []byte("BEGIN:VALARM")); !inAlarm {
			kept.Write(line)
		}
		inAlarm = inAlarm && !bytes.EqualFold(bare, []byte("END:VALARM"))
	}
	return kept.Bytes()
}

// sumOf returns a hash of a text without its timestamps: many servers write the time of the request into each event.
func sumOf(text []byte) string {
	sum := sha256.New()
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("DTSTAMP")) {
			sum.Write(line)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// waitOf returns the refresh interval that the feed names (RFC 7986 §5.7), or 0.
func waitOf(text []byte) time.Duration {
	head, _, _ := bytes.Cut(text, []byte("\nBEGIN:"))
	for line := range bytes.Lines(head) {
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		name, _, _ = strings.Cut(strings.ToUpper(name), ";")
		if !ok || name != "REFRESH-INTERVAL" && name != "X-PUBLISHED-TTL" {
			continue
		}
		d, err := ical.ParseDuration(value)
		if err != nil {
			continue
		}
		if wait := length(d); wait > 0 {
			return min(max(wait, least), seldom)
		}
	}
	return 0
}

func length(d ical.Duration) time.Duration {
	return time.Duration(d.NominalDays())*24*time.Hour + time.Duration(d.ExactSeconds())*time.Second
}
