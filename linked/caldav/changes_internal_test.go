package caldav

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/outbound"
)

// shelf is a calendar on a server that lists a few at a time, and does not hand over all that it lists.
type shelf struct {
	objects map[string]string // texts by href
	refs    []string
	hidden  string // what it does not hand over
	plain   bool   // knows no sync-collection
	some    int    // how many it lists then, and says that it is not all; 0 for all
	written []string
}

const listed = 4

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var all strings.Builder
	switch {
	case r.Method == http.MethodPut, r.Method == http.MethodDelete:
		s.written = append(s.written, r.URL.Path)
		return
	case strings.Contains(string(body), "calendar-multiget"):
		for _, m := range regexp.MustCompile(`<d:href>([^<]*)`).FindAllStringSubmatch(string(body), -1) {
			if text := s.objects[m[1]]; m[1] != s.hidden && text != "" {
				// It writes @ in the other of two ways.
				fmt.Fprintf(&all,
					`<d:response><d:href>%s</d:href><d:propstat><d:prop><d:getetag>"%s"</`+
						`d:getetag><c:calendar-data>%s</c:calendar-data></d:prop><d:status>HTTP/1.1 200 `+
						`OK</d:status></d:propstat></d:response>`,
					strings.ReplaceAll(m[1], "@", "%40"), text, text)
			} else if text == "" {
				fmt.Fprintf(&all,
					`<d:response><d:href>%s</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>`, m[1])
			}
		}
	case strings.Contains(string(body), "sync-collection") && s.plain:
		w.WriteHeader(http.StatusForbidden)
		return
	case strings.Contains(string(body), "sync-collection"):
		from := 0
		if m := regexp.MustCompile(`<d:sync-token>t(\d+)`).FindStringSubmatch(string(body)); m != nil {
			_, _ = fmt.Sscan(m[1], &from)
		}
		to := min(from+listed, len(s.refs))
		s.list(&all, s.refs[from:to])
		if to < len(s.refs) {
			all.WriteString(`<d:response><d:href>/cal/</d:href><d:status>HTTP/1.1 507 Insufficient ` +
				`Storage</d:status></d:response>`)
		}
		fmt.Fprintf(&all, `<d:sync-token>t%d</d:sync-token>`, to)
	case s.some > 0:
		s.list(&all, s.refs[:s.some])
		all.WriteString(`<d:response><d:href>/cal/</d:href><d:status>HTTP/1.1 507 Insufficient ` +
			`Storage</d:status></d:response>`)
	default:
		s.list(&all, s.refs)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(http.StatusMultiStatus)
	_, _ = fmt.Fprintf(w, `<d:multistatus xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">%s</d:multistatus>`,
		all.String())
}

func (s *shelf) list(w io.Writer, refs []string) {
	for _, ref := range refs {
		if text, ok := s.objects[ref]; ok {
			_, _ = fmt.Fprintf(
				w, `<d:response><d:href>%s</d:href><d:propstat><d:prop><d:getetag>"%s"</d:getetag><d:resourcetype/></`+
					`d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`, ref, text,
			)
		}
	}
}

func newShelf(t *testing.T, plain bool) (*shelf, *account) {
	t.Helper()
	s := &shelf{objects: map[string]string{}, plain: plain}
	for i := range 11 {
		ref := fmt.Sprintf("/cal/%02d@a.ics", i)
		s.refs, s.objects[ref] = append(s.refs, ref), fmt.Sprint("text ", i)
	}
	web := httptest.NewTLSServer(s)
	t.Cleanup(web.Close)
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	guard := outbound.New(outbound.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Roots: roots,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	base, err := url.Parse(web.URL)
	if err != nil {
		t.Fatal(err)
	}
	base.Host = "example.com:" + base.Port()
	return s, &account{newWire(guard, base, &signIn{"a", "b", new(nonces)}), 3}
}

// look takes over what a mirror would: what is there, what is broken and what is gone, and whether that is all.
func look(t *testing.T, a *account, cursor string, have map[string]string,
	faults map[string]bool,
) (next string, whole bool) {
	t.Helper()
	for range 20 {
		c, err := a.Changes(t.Context(), "https://"+a.base.Host+"/cal/", cursor)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Objects) > 3+1 {
			t.Errorf("a page has %d objects", len(c.Objects))
		}
		for _, o := range c.Objects {
			if delete(faults, o.Ref); o.Fault != "" {
				faults[o.Ref] = true
			} else {
				have[o.Ref] = string(o.Data)
			}
		}
		for _, ref := range c.Gone {
			delete(have, ref)
			delete(faults, ref)
		}
		if cursor = c.Cursor; !c.More {
			return cursor, c.Whole
		}
		if c.Whole {
			t.Error("a page that is not the last one says that it is all")
		}
	}
	t.Fatal("it never ends")
	return "", false
}

// TestAListThatIsNotHandedOver: a server that lists what it does not hand over loses nothing of it here, by pages.
func TestAListThatIsNotHandedOver(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		s, a := newShelf(t, plain)
		s.hidden = s.refs[5]
		have, faults := map[string]string{}, map[string]bool{}
		cursor, whole := look(t, a, "", have, faults)
		if !whole || len(have) != 10 || !maps.Equal(faults, map[string]bool{s.hidden: true}) {
			t.Fatalf("plain=%v: whole %v, %d objects, faults %v", plain, whole, len(have), faults)
		}
		// It is asked for until it comes; what goes is gone.
		cursor, whole = look(t, a, cursor, have, faults)
		if whole || len(have) != 10 || len(faults) != 1 {
			t.Fatalf("plain=%v: whole %v, %d objects, faults %v", plain, whole, len(have), faults)
		}
		s.hidden = ""
		if plain {
			delete(s.objects, s.refs[2])
		}
		look(t, a, cursor, have, faults)
		want := maps.Clone(s.objects)
		if !maps.Equal(have, want) || len(faults) != 0 {
			t.Errorf("plain=%v: %v instead of %v, faults %v", plain, slices.Sorted(maps.Keys(have)),
				slices.Sorted(maps.Keys(want)), faults)
		}
	}
}

// TestHalfAListIsNone: a server that says that it lists only some has lost nothing.
func TestHalfAListIsNone(t *testing.T) {
	t.Parallel()
	s, a := newShelf(t, true)
	have := map[string]string{}
	cursor, _ := look(t, a, "", have, map[string]bool{})
	s.some = 2
	for _, at := range []string{cursor, ""} {
		c, err := a.Changes(t.Context(), "https://"+a.base.Host+"/cal/", at)
		if later, ok := errors.AsType[*mirror.Later](err); !ok || len(c.Gone) > 0 || c.Whole {
			t.Errorf("from %q: %+v, %v", at, c, later)
		}
	}
}

// TestAnswersAreBounded: an answer costs little more than its size to read, and a list has an end.
func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	body := func(inner string, n int) reply {
		return reply{
			status: http.StatusMultiStatus, body: []byte(`<multistatus xmlns="DAV:"><response>` +
				strings.Repeat(inner, n) + `</response></multistatus>`),
		}
	}
	m, err := read(body("<propstat/>", 900_000))
	if err != nil || len(m.Responses) != 1 || m.Responses[0].Found.prop != nil {
		t.Errorf("%d responses, %v", len(m.Responses), err)
	}
	_, err = read(body("</response><response>", listMost))
	if no, ok := errors.AsType[*mirror.Refusal](err); !ok {
		t.Errorf("%d responses: %v", listMost+1, no)
	}
	if _, err = read(body("<href>"+strings.Repeat("x", nameBytes+1)+"</href>", 1)); err == nil {
		t.Error("a name may be as long as it likes")
	}
}

// TestNothingIsWrittenBlindly: where no version is known, nobody knows what would be written over.
func TestNothingIsWrittenBlindly(t *testing.T) {
	t.Parallel()
	s, a := newShelf(t, false)
	remote := "https://" + a.base.Host + "/cal/"
	if _, err := a.Put(t.Context(), remote, mirror.Object{Ref: s.refs[0], Data: []byte("x")}); err == nil {
		t.Error("it is written over")
	}
	if err := a.Delete(t.Context(), remote, mirror.Object{Ref: s.refs[0]}); err == nil {
		t.Error("it is deleted")
	}
	if len(s.written) > 0 {
		t.Errorf("asked for %v", s.written)
	}
}
