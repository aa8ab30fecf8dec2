package server

import (
	"net/http"
	"strings"
	"testing"
)

// Anyone who brings credentials that are refused has a line that a watcher can count by address; anyone who brings none, or right ones, has
// none, and what was tried stands nowhere.
func TestRefusedLoginsAreLogged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		credentials string
		status      int
		want        string
	}{
		{"", http.StatusUnauthorized, ""},
		{"Basic cHJpdmF0ZTpzZWNyZXQ=", http.StatusOK, ""},
		{"Basic cHJpdmF0ZTpzZWNyZXQ=", http.StatusUnauthorized, `"msg":"login refused","id":"id-1","door":"caldav","client":"127.0.0.1","scheme":"basic","status":401`},
		{"bEaReR private", http.StatusTooManyRequests, `"client":"127.0.0.1","scheme":"bearer","status":429`},
		{"private", http.StatusUnauthorized, `"scheme":"other","status":401`},
		{"Basic cHJpdmF0ZTpzZWNyZXQ=", http.StatusForbidden, ""},
	} {
		s := open(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) }, nil)
		s.ask(t, "GET", "/dav/calendars/private", func(r *http.Request) {
			if c.credentials != "" {
				r.Header.Set("Authorization", c.credentials)
			}
		})
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		log := s.log.String()
		if strings.Contains(log, "login refused") != (c.want != "") || !strings.Contains(log, c.want) || strings.Contains(log, "rivate") {
			t.Errorf("%q, answered %d:\n%s", c.credentials, c.status, log)
		}
	}
}

// A page says by its own status what is wrong with a form, so that it tells of refused credentials itself.
func TestRefusedFormsAreLogged(t *testing.T) {
	t.Parallel()
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		RecordOf(r.Context()).RefuseForm()
		w.WriteHeader(http.StatusUnprocessableEntity)
	}, nil)
	s.ask(t, "POST", "/dav/calendars/private", func(*http.Request) {})
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); strings.Count(log, "login refused") != 1 || !strings.Contains(log, `"client":"127.0.0.1","scheme":"form","status":422`) {
		t.Error(log)
	}
}
