package ics_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/ics"
	"caldav-mcp-server/outbound"
)

// publisher is a server with a feed.
type publisher struct {
	*httptest.Server
	text, etag string
	status     int
	header     http.Header
	asked      []*http.Request
	packed     bool
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{header: http.Header{}}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked = append(p.asked, r)
		maps.Copy(w.Header(), p.header)
		switch {
		case p.status != 0:
			w.WriteHeader(p.status)
		case p.etag != "" && r.Header.Get("If-None-Match") == p.etag:
			w.WriteHeader(http.StatusNotModified)
		case p.packed:
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write([]byte(p.text))
			_ = z.Close()
		default:
			w.Header().Set("ETag", p.etag)
			_, _ = w.Write([]byte(p.text))
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// source follows the feed at an address of the publisher, as example.com.
func (p *publisher) source(t *testing.T, scheme string) mirror.Source {
	t.Helper()
	return p.sourceOf(t, scheme, false)
}

// sourceOf is source with or without alarms.
func (p *publisher) sourceOf(t *testing.T, scheme string, alarms bool) mirror.Source {
	t.Helper()
	c := outbound.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Roots: x509.NewCertPool(), Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	}
	c.Roots.AddCert(p.Certificate())
	_, port, _ := net.SplitHostPort(p.Listener.Addr().String())
	s, err := ics.Provider(outbound.New(c), 0).Open(mirror.Opening{
		Secret: mirror.Secret{URL: scheme + "://me:pw@example.com:" + port + "/secret-path/feed.ics", Alarms: alarms},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func feedOf(lines ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nX-WR-CALNAME:Holidays\r\n" +
		"REFRESH-INTERVAL;VALUE=DURATION:PT6H\r\n" + strings.Join(lines, "") + "END:VCALENDAR\r\n"
}

func event(uid, summary string) string {
	id := ""
	if uid != "" {
		id = "UID:" + uid + "\r\n"
	}
	return "BEGIN:VEVENT\r\n" + id + "DTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20261225\r\nSUMMARY:" + summary +
		"\r\nEND:VEVENT\r\n"
}

func TestAFeedIsFollowed(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	p.text, p.etag = feedOf(event("a", "one"), event("b", "two"), event("", "no uid")), `"1"`
	s := p.source(t, "webcal")
	all, err := s.Calendars(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "Holidays" || all[0].Writable {
		t.Fatalf("calendars %+v, %v", all, err)
	}
	if user, password, _ := p.asked[0].BasicAuth(); user != "me" || password != "pw" {
		t.Error("the name and password of the address are not used")
	}
	first, err := s.Changes(t.Context(), "", "")
	if err != nil || len(first.Objects) != 3 || !first.Whole || first.Wait != 6*time.Hour {
		t.Fatalf("changes %+v, %v", first, err)
	}
	if strings.Contains(first.Cursor, "secret") {
		t.Error("the address is in the cursor")
	}
	same, err := s.Changes(t.Context(), "", first.Cursor)
	if err != nil || same.Whole || len(same.Objects) != 0 || same.Cursor != first.Cursor || same.Wait != first.Wait {
		t.Errorf("a second look: %+v, %v", same, err)
	}
	// Another ETag, and another time of writing, are no other events.
	p.text, p.etag = strings.ReplaceAll(p.text, "20260101T000000Z", "20270101T000000Z"), `"2"`
	if next, err := s.Changes(t.Context(), "", first.Cursor); err != nil || len(next.Objects) != 0 {
		t.Errorf("what was only written anew: %+v, %v", next, err)
	}
	p.text, p.etag = strings.Replace(p.text, "two", "changed", 1), `"3"`
	next, err := s.Changes(t.Context(), "", first.Cursor)
	if err != nil || len(next.Objects) != 3 || !next.Whole {
		t.Fatalf("%+v, %v", next, err)
	}
	for i, o := range next.Objects {
		if same := o.Version == first.Objects[i].Version; same == strings.Contains(string(o.Data), "changed") ||
			o.Ref != first.Objects[i].Ref {
			t.Errorf("object %d: %q, version alike %v", i, o.Ref, same)
		}
	}
}

func TestABrokenFeedChangesNothing(t *testing.T) {
	t.Parallel()
	good := feedOf(event("a", "one"))
	for name, test := range map[string]struct {
		set  func(*publisher)
		want string
	}{
		"no calendar": {func(p *publisher) { p.text = "<html>sorry</html>" }, "no calendar"},
		"nothing":     {func(p *publisher) { p.text = "" }, "no calendar"},
		"cut off":     {func(p *publisher) { p.text = good[:len(good)-30] }, "ends in the middle"},
		"gone":        {func(p *publisher) { p.status = http.StatusGone }, "the last copy stays"},
		"away":        {func(p *publisher) { p.status = http.StatusBadGateway }, "502"},
		"not let in":  {func(p *publisher) { p.status = http.StatusUnauthorized }, "linked again"},
		"large":       {func(p *publisher) { p.text = good + strings.Repeat("X", 11<<20) }, "larger than"},
		"bomb": {
			func(p *publisher) { p.packed, p.text = true, good+strings.Repeat("X", 50<<20) }, "larger than",
		},
		"leads inside": {
			func(p *publisher) { p.status = http.StatusFound; p.header.Set("Location", "https://10.0.0.1/x") },
			"is an address",
		},
		"leads to http": {
			func(p *publisher) { p.status = http.StatusFound; p.header.Set("Location", "http://example.com/x") },
			"not https",
		},
	} {
		p := newPublisher(t)
		test.set(p)
		c, err := p.source(t, "https").Changes(t.Context(), "", "")
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if p.status == 0 && c.Bytes < int64(min(len(p.text), 8<<20)) {
			t.Errorf("%s: %d bytes are counted of %d", name, c.Bytes, len(p.text))
		}
		if err != nil && (strings.Contains(err.Error(), "secret-path") ||
			strings.Contains(fmt.Sprint(errors.Unwrap(err)), "secret-path")) {
			t.Errorf("%s: the address is told: %v", name, err)
		}
	}
	p := newPublisher(t)
	p.status = http.StatusTooManyRequests
	p.header.Set("Retry-After", "120")
	_, err := p.source(t, "https").Changes(t.Context(), "", "")
	if later, ok := errors.AsType[*mirror.Later](err); !ok || later.After != 2*time.Minute {
		t.Errorf("asked to wait: %v", err)
	}
}

func TestOnlyWhatIsBrokenIsKeptOut(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	p.text = feedOf(event("a", "one"), "BEGIN:VEVENT\r\nUID:b\r\nno line\r\nEND:VEVENT\r\n", event("c", "two"))
	got, err := p.source(t, "https").Changes(t.Context(), "", "")
	if err != nil || len(got.Objects) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	faults := 0
	for _, o := range got.Objects {
		if o.Fault != "" {
			faults++
		} else if !bytes.Contains(o.Data, []byte("BEGIN:VCALENDAR")) {
			t.Errorf("%q", o.Data)
		}
	}
	if faults != 1 {
		t.Errorf("%d faults", faults)
	}
}

// TestFeedsInLatin1 follows feeds of old programs, with and without a charset in the header.
func TestFeedsInLatin1(t *testing.T) {
	t.Parallel()
	for header, summary := range map[string]string{
		"text/calendar; charset=iso-8859-1": "K\xf6ln", "text/calendar": "K\xf6ln", "": "K\xf6ln",
		"text/calendar; charset=windows-1251": "\xca\xe8\xe5\xe2", // which only the header tells from Windows-1252
		"text/calendar; charset=ISO-8859-15":  "Köln",             // it is UTF-8
	} {
		want := map[string]string{"K\xf6ln": "Köln", "\xca\xe8\xe5\xe2": "Киев", "Köln": "Köln"}[summary]
		p := newPublisher(t)
		p.header.Set("Content-Type", header)
		p.text = feedOf(event("a", summary))
		got, err := p.source(t, "https").Changes(t.Context(), "", "")
		if err != nil || len(got.Objects) != 1 || !strings.Contains(string(got.Objects[0].Data), "SUMMARY:"+want) {
			t.Errorf("%s: %+v, %v", header, got, err)
		}
	}
}

// TestAUIDTwice: of two events with one UID the newer one is shown, or the last one, and a fault names the other.
func TestAUIDTwice(t *testing.T) {
	t.Parallel()
	revised := func(summary, line string) string {
		return strings.Replace(event("d", summary), "SUMMARY", line+"\r\nSUMMARY", 1)
	}
	for name, events := range map[string][2]string{
		"the last":         {event("d", "other"), event("d", "shown")},
		"by SEQUENCE":      {revised("shown", "SEQUENCE:2"), revised("other", "SEQUENCE:1")},
		"by LAST-MODIFIED": {revised("shown", "LAST-MODIFIED:20260102T000000Z"), revised("other", "CLASS:PUBLIC")},
	} {
		p := newPublisher(t)
		p.text = feedOf(events[0], event("x", "x"), events[1])
		got, err := p.source(t, "https").Changes(t.Context(), "", "")
		if err != nil || len(got.Objects) != 3 || !got.Whole {
			t.Fatalf("%s: %+v, %v", name, got, err)
		}
		if text := string(got.Objects[0].Data); !strings.Contains(text, "SUMMARY:shown") ||
			strings.Contains(text, "SUMMARY:other") {
			t.Errorf("%s: %s", name, text)
		}
		if why := got.Objects[1].Fault; !strings.Contains(why, `2 events have the UID "d"`) {
			t.Errorf("%s: it says %q", name, why)
		}
	}
}

// TestPlainFeedsAtHome: http is for networks that the administrator names.
func TestPlainFeedsAtHome(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(feedOf(event("a", "one"))))
	}))
	t.Cleanup(server.Close)
	at := mirror.Opening{Secret: mirror.Secret{URL: server.URL + "/feed.ics"}}
	home := outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}
	s, err := ics.Provider(outbound.New(home), 0).Open(at)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Changes(t.Context(), "", ""); err != nil || len(got.Objects) != 1 {
		t.Errorf("in an allowed network: %+v, %v", got, err)
	}
	elsewhere := outbound.Config{Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("192.0.9.9")}, nil
	}}
	for _, url := range []string{"http://example.com/a.ics", "http://example.com:443/a.ics"} {
		s, err := ics.Provider(outbound.New(elsewhere), 0).Open(mirror.Opening{Secret: mirror.Secret{URL: url}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.Changes(t.Context(), "", ""); err == nil ||
			!strings.Contains(err.Error(), "https") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	t.Parallel()
	provider := ics.Provider(outbound.New(outbound.Config{}), 0)
	for _, bad := range []string{
		"", "file:///etc/passwd", "gopher://x/", "https://", "::",
	} {
		if _, err := provider.Open(mirror.Opening{Secret: mirror.Secret{URL: bad}}); err == nil {
			t.Errorf("%q is opened", bad)
		}
	}
	if got := provider.Address(mirror.Secret{URL: "https://me:pw@example.com/private-123/basic.ics"}); got !=
		"example.com" {
		t.Errorf("shown as %q", got)
	}
}

// TestFeedsAreSilent: the alarms of a feed are removed, unless its follower wants them. A feed that was followed before
// that is read once more.
func TestFeedsAreSilent(t *testing.T) {
	t.Parallel()
	p := newPublisher(t)
	p.etag = `"1"`
	p.text = feedOf(strings.ReplaceAll(`BEGIN:VEVENT
UID:a
DTSTAMP:20260101T000000Z
DTSTART:20260301T090000Z
SUMMARY:Trash
BEGIN:VALARM
ACTION:DISPLAY
DESCRIPTION:x
TRIGGER:-PT5M
END:VALARM
LOCATION:Kerb
END:VEVENT
`, "\n", "\r\n"))
	for alarms, want := range map[bool]int{false: 0, true: 1} {
		source := p.sourceOf(t, "https", alarms)
		got, err := source.Changes(t.Context(), "", "")
		if err != nil || len(got.Objects) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		text := string(got.Objects[0].Data)
		if strings.Count(text, "VALARM") != 2*want || !strings.Contains(text, "LOCATION:Kerb") {
			t.Errorf("with alarms %v the event is\n%s", alarms, text)
		}
		if same, err := source.Changes(t.Context(), "", got.Cursor); err != nil || len(same.Objects) != 0 {
			t.Errorf("an unchanged feed: %+v, %v", same, err)
		}
		other, err := p.sourceOf(t, "https", !alarms).Changes(t.Context(), "", got.Cursor)
		if err != nil || len(other.Objects) != 1 || other.Objects[0].Version == got.Objects[0].Version {
			t.Errorf("after another choice: %+v, %v", other, err)
		}
	}
}
