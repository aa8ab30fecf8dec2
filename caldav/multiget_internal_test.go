package caldav

import (
	"encoding/xml"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// TestMultigetRequests: the hand-written parser gives the same result as encoding/xml.
func TestMultigetRequests(t *testing.T) {
	t.Parallel()
	parts := []string{
		"<D:href>/a/b.ics</D:href>", "<D:href>/a%20b</D:href>", "<D:href>/a&amp;b</D:href>", "<D:href/>",
		"<D:href></D:href>", " \r\n",
		"<D:href >/c</D:href >", "<D:href x=''>/f</D:href>", "<D:href>/ü</D:href>", "<D:hrefs>/i</D:hrefs>",
		"<D:href>" + strings.Repeat("/long", 2000) + "</D:href>", "text", "<!-- -->",
		"<D:href>/a<!-- -->/b<![CDATA[/c]]></D:href>", "<D:href>/d<x>/e<y>/f</y></x>/g</D:href>",
		"<href>/not/dav</href>",
		"<D:prop><D:getetag/></D:prop>", "<D:prop/>", "<D:propname/>", "<D:allprop/>",
		"<x><D:href>/below</D:href><D:propname/></x>",
	}
	random := rand.New(rand.NewPCG(17, 2026))
	for range 3000 {
		var b strings.Builder
		b.WriteString(`<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">`)
		for range random.IntN(8) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		b.WriteString("</C:calendar-multiget>")
		var want struct {
			Prop     *requested `xml:"DAV: prop"`
			PropName *struct{}  `xml:"DAV: propname"`
			Hrefs    []string   `xml:"DAV: href"`
		}
		if err := xml.Unmarshal([]byte(b.String()), &want); err != nil {
			t.Fatal(err)
		}
		got := multigetRequest{guard: dav.NewGuard(strings.NewReader(b.String()), dav.DefaultLimits())}
		d := xml.NewTokenDecoder(got.guard)
		if err := d.Decode(&got); err != nil {
			t.Fatalf("%s: %v", &b, err)
		}
		alike := slices.Equal(got.hrefs, want.Hrefs) && got.propName == (want.PropName != nil) &&
			(got.prop == nil) == (want.Prop == nil)
		if !alike || got.prop != nil && !slices.Equal(got.prop.names, want.Prop.names) {
			t.Fatalf("%s\nis %+v, want %+v", &b, got, want)
		}
	}
}

// TestHrefsAreCheap: an href allocates only its text, and counts as if it were read as tokens.
func TestHrefsAreCheap(t *testing.T) {
	body := `<C:calendar-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">` +
		strings.Repeat("<D:href>/dav/calendars/alice/work/event.ics</D:href>", 1000) + "</C:calendar-multiget>"
	limits := dav.DefaultLimits()
	read := func() (q multigetRequest, err error) {
		q.guard = dav.NewGuard(strings.NewReader(body), limits)
		defer q.guard.Release()
		err = xml.NewTokenDecoder(q.guard).Decode(&q)
		return q, err
	}
	if q, err := read(); err != nil || len(q.hrefs) != 1000 {
		t.Fatal(len(q.hrefs), err)
	}
	if n := testing.AllocsPerRun(5, func() { _, _ = read() }); n > 1500 {
		t.Errorf("1,000 hrefs take %.0f pieces of memory", n)
	}
	limits.Hrefs = 999
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "999 addresses") {
		t.Errorf("of one too many: %v", err)
	}
}

// TestPlainPlaces: an href that is used as written names the same place as after full parsing.
func TestPlainPlaces(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "https://example.org/cal", "https://example.org/dav/calendars"} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		a, err := newAddresses(u)
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range []place{
			{form: formCalendar, user: "ann", calendar: "work"},
			{form: formCalendar, user: "ann b", calendar: "w%rk"},
			{form: formHome, user: "ann"},
			{form: formObject, user: "ann", calendar: "work", object: "a.ics"},
		} {
			x := &request{Handler: &Handler{addresses: a}, at: own}
			f := newFetcher(x, false, calendar.Calendar{})
			for _, end := range []string{
				"", "a.ics", "a.ics/", "/a.ics", ".", "..", ".a", "a/b", "a%2Fb", "%61.ics", "%", "ä", "a b", "a?b",
				"a#b", "a\x00", "a;b", "a&b=c@d:e+f$g", " a ",
			} {
				for _, href := range []string{
					x.href(own) + end, "/dav/calendars/ann/work/" + end, "/dav/calendars/bob/work/" + end,
				} {
					want, err := a.parseHref(href)
					if err != nil || !own.contains(want) {
						want = place{}
					}
					if got := f.place(href); got != want {
						t.Errorf("at %+v, %q is %+v, want %+v", own, href, got, want)
					}
				}
			}
		}
	}
}
