package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// seen is an event as a reader finds it.
type seen struct {
	where
	uid, name string
}

// shelf is all that one server has of one calendar.
type shelf struct {
	events map[string]seen   // by identity
	etags  map[string]string // by name
	// shared is the title of the event that all write to, empty if it does not exist.
	shared string
}

var (
	titled  = regexp.MustCompile(`SUMMARY:(\S+) v(\d+)\r\n`)
	uidLine = regexp.MustCompile(`\r\nUID:(\S+)\r\n`)
)

// read asks a server by CalDAV for all of a calendar.
func (h *arena) read(t *testing.T, c client, cal string) shelf {
	t.Helper()
	a := c.must(t, http.StatusMultiStatus, "REPORT", home+cal+"/",
		`<c:calendar-query xmlns:c="urn:ietf:params:xml:ns:caldav" `+
			`xmlns="DAV:"><prop><getetag/><c:calendar-data/></prop>`+
			`<c:filter><c:comp-filter name="VCALENDAR"/></c:filter></c:calendar-query>`, "Content-Type",
		"application/xml", "Depth", "1")
	var reply struct {
		Responses []struct {
			Href string `xml:"DAV: href"`
			ETag string `xml:"DAV: propstat>prop>getetag"`
			Data string `xml:"urn:ietf:params:xml:ns:caldav propstat>prop>calendar-data"`
		} `xml:"DAV: response"`
	}
	if err := xml.Unmarshal([]byte(a.body), &reply); err != nil {
		t.Fatal(err)
	}
	found := shelf{events: map[string]seen{}, etags: map[string]string{}}
	for _, r := range reply.Responses {
		name, data := r.Href[strings.LastIndexByte(r.Href, '/')+
			1:], strings.ReplaceAll(strings.ReplaceAll(r.Data, "\r", ""), "\n", "\r\n")
		found.etags[name] = r.ETag
		what, uid := titled.FindStringSubmatch(data), uidLine.FindStringSubmatch(data)
		if what == nil || uid == nil {
			t.Errorf("%s is torn: %.300q", r.Href, r.Data)
			continue
		}
		if name == sharedName {
			found.shared = what[1] + " v" + what[2]
			continue
		}
		edition, _ := strconv.Atoi(what[2])
		if _, twice := found.events[what[1]]; twice {
			t.Errorf("%s is there twice", what[1])
		}
		found.events[what[1]] = seen{where{edition, cal}, uid[1], name}
	}
	return found
}

var listedTitle = regexp.MustCompile(`(?m)^\d+\. "(\S+) v(\d+)"`)

// list lists a calendar as an assistant does.
func (h *arena) list(t *testing.T, c client, cal string) map[string]int {
	t.Helper()
	arguments := map[string]any{"calendar_id": h.ids[cal], "start": "2026-03-01", "end": "2026-03-01", "limit": 100}
	found := map[string]int{}
	for {
		text := c.call(t, "list_events", arguments)
		for _, one := range listedTitle.FindAllStringSubmatch(text, -1) {
			found[one[1]], _ = strconv.Atoi(one[2])
		}
		_, cursor, more := strings.Cut(text, "with cursor ")
		if !more {
			return found
		}
		arguments["cursor"] = strings.Fields(cursor)[0]
	}
}

// judge reads everything over both protocols of both servers, and replays the tokens. Writers are paused.
func (h *arena) judge(t *testing.T, tokens *keptTokens, all bool) (found map[string]seen) {
	t.Helper()
	found = map[string]seen{}
	shared, etag := "", ""
	for _, cal := range calendars {
		truth := h.read(t, h.server(0), cal)
		for identity, at := range truth.events {
			if other, twice := found[identity]; twice {
				t.Errorf("%s is in two calendars: %v and %v", identity, at, other)
			}
			found[identity] = at
		}
		if truth.shared != "" {
			shared, etag = truth.shared, truth.etags[sharedName]
		}
		for n := range h.servers {
			h.agrees(t, n, cal, truth)
		}
		tokens.replay(t, h, cal, truth.etags, all)
	}
	for _, wrong := range h.ledger.settle(found) {
		t.Error(wrong)
	}
	h.shared.settle(t, shared, etag)
	return found
}

// agrees compares a server's other views with the data that was read.
func (h *arena) agrees(t *testing.T, n int, cal string, truth shelf) {
	t.Helper()
	c := h.server(n)
	if again := h.read(t, c, cal); !maps.Equal(again.etags, truth.etags) || !maps.Equal(again.events, truth.events) {
		t.Errorf("server %d has something else in %s: %d differences", n, cal, differences(truth.etags, again.etags))
	}
	fresh, ok := c.follow(t.Context(), home+cal+"/", keptToken{etags: map[string]string{}})
	if !ok || differences(truth.etags, fresh.etags) > 0 {
		t.Errorf("server %d tells who synchronizes from the start something else of %s: %d differences", n, cal,
			differences(truth.etags, fresh.etags))
	}
	byTool := h.list(t, c, cal)
	delete(byTool, sharedIdentity)
	editions := map[string]int{}
	for identity, at := range truth.events {
		editions[identity] = at.edition
	}
	if !maps.Equal(byTool, editions) {
		t.Errorf("server %d tells an assistant of %d events in %s, and programs of %d", n, len(byTool), cal,
			len(editions))
	}
}

// keptTokens are the tokens of followers, with the state they knew then.
type keptTokens struct {
	mu     sync.Mutex
	of     map[string][]keptToken
	random *rand.Rand
	// judged is how many of each calendar were replayed at least once.
	judged                 map[string]int
	replayed, honest, anew int
}

// mostReplayed is how many old tokens are replayed after a round; all that are new are, and all at the end.
const mostReplayed = 25

// follow synchronizes once, and keeps the token where it is another.
func (k *keptTokens) follow(ctx context.Context, c client, cal string, has keptToken) keptToken {
	next, ok := c.follow(ctx, home+cal+"/", has)
	if !ok {
		return has
	}
	if next.token == "" {
		return keptToken{etags: map[string]string{}}
	}
	if next.token != has.token {
		k.mu.Lock()
		k.of[cal] = append(k.of[cal], keptToken{next.token, maps.Clone(next.etags)})
		k.mu.Unlock()
	}
	return next
}

// replay requests the changes since each token. The old state plus the changes must equal the actual state, or the
// client is told to synchronize from scratch.
func (k *keptTokens) replay(t *testing.T, h *arena, cal string, truth map[string]string, all bool) {
	t.Helper()
	old, fresh := k.of[cal][:k.judged[cal]], k.of[cal][k.judged[cal]:]
	if !all && len(old) > mostReplayed {
		old = slices.Clone(old)
		k.random.Shuffle(len(old), func(i, j int) { old[i], old[j] = old[j], old[i] })
		old = old[:mostReplayed]
	}
	k.judged[cal] = len(k.of[cal])
	for i, kept := range slices.Concat(old, fresh) {
		next, ok := h.server(i%len(h.servers)).follow(t.Context(), home+cal+"/", kept)
		k.replayed++
		switch {
		case !ok:
			t.Errorf("a token was not answered")
		case next.token == "":
			k.anew++
		case differences(truth, next.etags) == 0:
			k.honest++
		default:
			t.Errorf("the token %s lies about %d of %s", kept.token, differences(truth, next.etags), cal)
		}
	}
}

// contended is one event that many write to, each only over the version they have read.
type contended struct {
	mu sync.Mutex
	n  int
	// over maps an ETag to the writers who were told that they replaced it.
	over map[string]string
	// titles are the possible titles: acknowledged ones and those without a response.
	titles map[string]bool
}

const (
	sharedIdentity = "shared"
	sharedName     = "shared.ics"
)

// step reads the event and overwrites that version.
func (s *contended) step(ctx context.Context, h *arena, c client) {
	path := home + calendars[0] + "/" + sharedName
	seen, err := c.dav(ctx, http.MethodGet, path, "")
	if err != nil || seen.status >= 500 {
		return
	}
	s.mu.Lock()
	s.n++
	text := title(sharedIdentity, s.n)
	s.mu.Unlock()
	etag, condition := seen.header.Get("ETag"), "If-Match"
	if seen.status == http.StatusNotFound {
		etag, condition = "*", "If-None-Match"
	}
	a, err := c.dav(ctx, http.MethodPut, path, event(sharedIdentity, text), condition, etag)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil || a.status >= 500 && a.status != http.StatusInsufficientStorage:
		s.titles[text] = true
	case a.status < 300:
		if other, twice := s.over[etag]; twice {
			h.ledger.complain("%q and %q were both written over %s", other, text, etag)
		}
		s.over[etag], s.titles[text] = text, true
	case a.status != http.StatusPreconditionFailed && a.status != http.StatusInsufficientStorage:
		h.ledger.complain("a write of what many write was refused with %d: %.200q", a.status, a.body)
	}
}

// settle checks that the current version is from a writer who was not refused, and that the event did not vanish.
func (s *contended) settle(t *testing.T, found, etag string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if found == "" && len(s.over) > 0 || found != "" && !s.titles[found] {
		t.Errorf("what all write to is %q, which nobody was told of", found)
	}
	if later, lost := s.over[etag]; lost {
		t.Errorf("what all write to is %q, over which %q was acknowledged", found, later)
	}
	s.titles = map[string]bool{found: true}
}

// String says how that went.
func (k *keptTokens) String() string {
	return fmt.Sprintf("%d tokens replayed: %d honest, %d begin anew", k.replayed, k.honest, k.anew)
}
