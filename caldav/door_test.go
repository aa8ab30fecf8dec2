package caldav_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/internal/testdb"
)

// TestVerbatim: GET and multiget return exactly the bytes of the PUT, whatever their line ends, folds and order. Only
// XML turns CRLF into a plain line end.
func TestVerbatim(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		for name, data := range map[string]string{
			"crlf":   event("crlf", "Plain"),
			"lf":     strings.ReplaceAll(event("lf", "Plain"), "\r\n", "\n"),
			"bom":    "\uFEFF" + event("bom", "Marked"),
			"folded": event("folded", "Ärger "+strings.Repeat("x", 40)+"\r\n mit \r\n\tFalten 🎉"),
			"lower":  strings.Replace(event("lower", "Words"), "SUMMARY", "summary;X-A=\"b:c\"", 1),
		} {
			path := "/dav/calendars/alice/work/" + name + ".ics"
			put := h.must(t, "PUT "+path, data)
			got := h.must(t, "GET "+path, "")
			if got.body != data {
				t.Errorf("%s: GET gives %q, PUT was %q", name, got.body, data)
			}
			if tag := got.header.Get("ETag"); tag == "" || tag != put.header.Get("ETag") {
				t.Errorf("%s: the ETag of GET is %s, of PUT %s", name, tag, put.header.Get("ETag"))
			}
			// Storing the same bytes again changes neither the tag nor the calendar's version.
			before := h.must(t, "PROPFIND /dav/calendars/alice/work/\nDepth: 0", syncTokenBody).body
			h.must(t, "PUT "+path, data)
			if after := h.must(t, "PROPFIND /dav/calendars/alice/work/\nDepth: 0", syncTokenBody).body; after !=
				before {
				t.Errorf("%s: a PUT of what is there moves the calendar on", name)
			}
		}
	})
}

const syncTokenBody = `<D:propfind xmlns:D="DAV:"><D:prop><D:sync-token/></D:prop></D:propfind>`

// TestPagesAfterPruning: the token of every page stays valid, even if the journal has been pruned before the next
// change of the oldest objects.
func TestPagesAfterPruning(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		const path = "/dav/calendars/alice/work/"
		h.must(t, "MKCALENDAR "+path, "")
		for i := range 6 {
			h.must(t, fmt.Sprintf("PUT %s%d.ics", path, i), event(fmt.Sprint(i), "Something"))
		}
		h.must(t, "DELETE "+path+"3.ics", "")
		if err := h.Store.Prune(t.Context(), now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		for i := 6; i < 9; i++ {
			h.must(t, fmt.Sprintf("PUT %s%d.ics", path, i), event(fmt.Sprint(i), "Something"))
		}
		seen := map[string]int{}
		for token, pages := "", 0; ; pages++ {
			got := h.must(t, "REPORT "+path, `<D:sync-collection xmlns:D="DAV:"><D:sync-token>`+token+
				`</D:sync-token><D:sync-level>1</D:sync-level><D:limit><D:nresults>1</D:nresults></`+
				`D:limit><D:prop><D:getetag/></D:prop></D:sync-collection>`)
			for _, name := range regexp.MustCompile(`work/(\d)\.ics`).FindAllStringSubmatch(got.body, -1) {
				seen[name[1]]++
			}
			token = regexp.MustCompile(`<d:sync-token>(.*)</d:sync-token>`).FindStringSubmatch(got.body)[1]
			if !strings.Contains(got.body, "507 Insufficient Storage") {
				break
			}
			if pages > 10 {
				t.Fatal("the pages have no end")
			}
		}
		if diff := cmp.Diff(map[string]int{"0": 1, "1": 1, "2": 1, "4": 1, "5": 1, "6": 1, "7": 1, "8": 1},
			seen); diff != "" {
			t.Errorf("what the pages told (-want +got):\n%s", diff)
		}
	})
}

// unreadable is a body that must not be read.
type unreadable struct{ t *testing.T }

func (u unreadable) Read([]byte) (int, error) {
	u.t.Error("the body was asked for")
	return 0, errors.New("not to be read")
}

// TestExpect: a client that waits for 100 Continue learns that its PUT is refused before it sends the body.
func TestExpect(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	h.must(t, "PUT /dav/calendars/alice/work/a.ics", event("a", "First"))
	server := httptest.NewServer(h)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	defer client.CloseIdleConnections()
	put := func(name, as, condition string, body io.Reader) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL+"/dav/calendars/alice/"+name, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Expect", "100-continue")
		r.Header.Set("If-None-Match", condition)
		r.Header.Set("As", as)
		r.ContentLength = int64(len(event("a", "Other")))
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got := put("work/a.ics", "alice", "*", unreadable{t}); got != http.StatusPreconditionFailed {
		t.Errorf("a PUT whose condition fails: %d", got)
	}
	if got := put("nowhere/a.ics", "alice", "*", unreadable{t}); got != http.StatusConflict {
		t.Errorf("a PUT to no calendar: %d", got)
	}
	if got := put("work/b.ics", "alice read", "*", unreadable{t}); got != http.StatusForbidden {
		t.Errorf("a PUT with a token that only reads: %d", got)
	}
	if got := put("work/b.ics", "alice", "*", strings.NewReader(event("b", "Other"))); got != http.StatusCreated {
		t.Errorf("a PUT that may: %d", got)
	}
}

// TestStaleIfMatch: another tag than the object's gives 412, whatever the bytes are, with and without 100 Continue.
// vdirsyncer's test suite requires this (clients F8).
func TestStaleIfMatch(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
		tag := h.must(t, "PUT /dav/calendars/alice/work/a.ics", event("a", "First")).header.Get("ETag")
		for _, expect := range []string{"", "\nExpect: 100-continue"} {
			for _, data := range []string{event("a", "First"), event("a", "Second")} {
				for _, stale := range []string{`"1234"`, "W/" + tag} {
					got := h.send(t, "PUT /dav/calendars/alice/work/a.ics\nIf-Match: "+stale+expect, data)
					if got.status != http.StatusPreconditionFailed {
						t.Errorf("If-Match: %s%s: %d %s", stale, expect, got.status, got.body)
					}
				}
			}
			h.must(t, "PUT /dav/calendars/alice/work/a.ics\nIf-Match: "+tag+expect, event("a", "First"))
		}
	})
}

// cutter is a client that disconnects at the first byte of a response.
type cutter struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

func (c cutter) Write(p []byte) (int, error) {
	c.leave()
	return c.ResponseRecorder.Write(p)
}

// TestBrokenAnswer: if the store fails in the middle of a multistatus, the connection is aborted. A client that took
// the truncated response for a complete one would delete the missing objects.
func TestBrokenAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	h.must(t, "MKCALENDAR /dav/calendars/alice/work/", "")
	var hrefs strings.Builder
	for i := range 3000 { // more than one flush
		fmt.Fprintf(&hrefs, "<D:href>/dav/calendars/alice/work/%d.ics</D:href>", i)
	}
	body := `<C:calendar-multiget xmlns:C="urn:ietf:params:xml:ns:caldav" ` +
		`xmlns:D="DAV:"><D:prop><C:calendar-data/></D:prop>` + hrefs.String() + "</C:calendar-multiget>"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := cutter{httptest.NewRecorder(), cancel}
	defer func() {
		if err, ok := recover().(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("the answer ended with %v", err)
		}
		if strings.Contains(w.Body.String(), "</d:multistatus>") || strings.Contains(h.Log.String(), "level=ERROR") {
			t.Errorf("the answer looks whole, or is a fault in the log though its client has gone: %s", h.Log)
		}
	}()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "REPORT", "/dav/calendars/alice/work/", strings.NewReader(body)))
}

// TestHangingUpIsNoFault: a client that disconnects causes no error in the log (security L19).
func TestHangingUpIsNoFault(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	for _, line := range []string{
		"PROPFIND /dav/calendars/alice/", "GET /dav/calendars/alice/", "REPORT /dav/calendars/alice/",
	} {
		method, path, _ := strings.Cut(line, " ")
		r := httptest.NewRequestWithContext(gone, method, "http://cal.example.com"+path, http.NoBody)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code == http.StatusInternalServerError || strings.Contains(h.Log.String(), "ERROR") {
			t.Errorf("%s: %d, and the log says %s", line, w.Code, h.Log)
		}
	}
}

// TestInnerErrors: the details of an internal error only go to the log.
func TestInnerErrors(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), nil)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	got := h.send(t, "PROPFIND /dav/calendars/alice/\nDepth: 1", "")
	if got.status != http.StatusInternalServerError && got.status != http.StatusServiceUnavailable {
		t.Errorf("without a database: %d", got.status)
	}
	if strings.Contains(got.body, "sql") || strings.Contains(got.body, "closed") {
		t.Errorf("the answer tells of the inside: %s", got.body)
	}
	if got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") == "" {
		t.Error("503 without Retry-After")
	}
	if got.status == http.StatusInternalServerError && !strings.Contains(h.Log.String(), "closed") {
		t.Errorf("the log does not say what went wrong: %s", h.Log)
	}
}

// TestBaseURL: behind a proxy that publishes the server under a path, all hrefs and redirects contain the path.
func TestBaseURL(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t), func(c *caldav.Config) {
		c.BaseURL = &url.URL{Scheme: "https", Host: "example.com", Path: "/cal/"}
	})
	if got := h.send(t, "GET /.well-known/caldav\nAs: nobody", ""); got.header.Get("Location") != "/cal/dav/" {
		t.Errorf("the well-known address leads to %q", got.header.Get("Location"))
	}
	for _, path := range []string{"/dav/calendars/alice/", "/cal/dav/calendars/alice/"} {
		got := h.must(t, "PROPFIND "+path+"\nDepth: 0",
			`<D:propfind xmlns:D="DAV:"><D:prop><D:owner/></D:prop></D:propfind>`)
		for _, want := range []string{
			"<d:href>/cal/dav/calendars/alice/</d:href>", "<d:href>/cal/dav/principals/alice/</d:href>",
		} {
			if !strings.Contains(got.body, want) {
				t.Errorf("%s: no %s in %s", path, want, got.body)
			}
		}
	}
}
