package main

import (
	"context"
	"encoding/xml"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// follow updates a client's state. The result has no token if the server rejects the old one, and ok is false if there
// is no response, as while the database is down.
func (c client) follow(ctx context.Context, calendar string, has keptToken) (next keptToken, ok bool) {
	a, err := c.dav(ctx, "REPORT", calendar, `<d:sync-collection xmlns:d="DAV:"><d:sync-token>`+has.token+
		`</d:sync-token><d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop></d:sync-collection>`,
		"Content-Type", "application/xml")
	if err != nil {
		return next, false
	}
	if a.status == http.StatusForbidden && strings.Contains(a.body, "valid-sync-token") {
		return next, true
	}
	var reply struct {
		Token     string `xml:"DAV: sync-token"`
		Responses []struct {
			Href string `xml:"DAV: href"`
			ETag string `xml:"DAV: propstat>prop>getetag"`
		} `xml:"DAV: response"`
	}
	if a.status != http.StatusMultiStatus || xml.Unmarshal([]byte(a.body), &reply) != nil {
		return next, false
	}
	next = keptToken{reply.Token, maps.Clone(has.etags)}
	for _, r := range reply.Responses {
		name := r.Href[strings.LastIndexByte(r.Href, '/')+1:]
		if next.etags[name] = r.ETag; r.ETag == "" {
			delete(next.etags, name)
		}
	}
	return next, true
}

// judge compares the clients' knowledge with the actual state.
func (l *witness) judge(t *testing.T, nothingLost bool) {
	t.Helper()
	truth := l.truth(t)
	l.judgeWrites(t, truth, nothingLost)
	phantoms := 0
	for _, c := range l.clients {
		fresh, ok := c.follow(t.Context(), personal, keptToken{etags: map[string]string{}})
		if !ok {
			t.Fatal("a server does not answer")
		}
		phantoms += differences(truth, fresh.etags)
	}
	honest, refused, dishonest := 0, 0, 0
	for i, kept := range l.kept {
		next, ok := l.clients[i%servers].follow(t.Context(), personal, kept)
		switch {
		case !ok:
			t.Fatal("a server does not answer")
		case next.token == "":
			refused++
		case differences(truth, next.etags) == 0:
			honest++
		default:
			dishonest++
		}
	}
	t.Logf("%d acknowledged, %d without an answer; %d objects, %d phantoms or stale at %d servers; %d tokens honest, "+
		"%d refused, %d dishonest",
		l.acked.Load(), l.unknown.Load(), len(truth), phantoms, servers, honest, refused, dishonest)
	if phantoms > 0 || dishonest > 0 {
		t.Error("somebody is told of what is not there")
	}
	if honest == 0 || refused == 0 {
		t.Error("the test has seen only one side of the promotion")
	}
}

// truth asks a server that was not there before for every name, one by one.
func (l *witness) truth(t *testing.T) map[string]string {
	t.Helper()
	c := l.clients[0].at(serve(t, l.env))
	etags := map[string]string{}
	for name := range l.doubt {
		a, err := c.dav(t.Context(), http.MethodGet, personal+name, "")
		if err != nil || a.status != http.StatusOK && a.status != http.StatusNotFound {
			t.Fatalf("%s: %d, %v", name, a.status, err)
		}
		if a.status == http.StatusOK {
			etags[name] = a.header.Get("ETag")
			if !l.doubt[name] && !strings.Contains(a.body, l.told[name]) {
				etags[name] += " other"
			}
		}
	}
	return etags
}

// judgeWrites counts acknowledged writes that are missing.
func (l *witness) judgeWrites(t *testing.T, truth map[string]string, nothingLost bool) {
	t.Helper()
	lost := 0
	for name, text := range l.told {
		if l.doubt[name] {
			continue
		}
		etag, there := truth[name]
		if there != (text != "") || strings.HasSuffix(etag, " other") {
			lost++
		}
	}
	t.Logf("%d of %d acknowledged names are not as they were acknowledged", lost, len(l.told))
	if nothingLost && lost > 0 {
		t.Errorf("%d acknowledged changes are lost", lost)
	}
	if !nothingLost && lost == 0 {
		t.Error("the standby was not behind")
	}
	for name, etag := range truth {
		truth[name] = strings.TrimSuffix(etag, " other")
	}
}

// differences counts the names that two do not agree on.
func differences(a, b map[string]string) int {
	n := 0
	for name, etag := range a {
		if b[name] != etag {
			n++
		}
	}
	for name := range b {
		if _, there := a[name]; !there {
			n++
		}
	}
	return n
}
