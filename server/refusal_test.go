package server

import (
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Anyone who brings credentials that are refused has a line that a watcher can count by address; anyone who brings
// none, or right ones, has none, and what was tried stands nowhere.
func TestRefusedLoginsAreLogged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		credentials string
		status      int
		want        string
	}{
		{"", http.StatusUnauthorized, ""},
		{"Basic cHJpdmF0ZTpzZWNyZXQ=", http.StatusOK, ""},
		{"Basic cHJpdmF0ZTpzZWNyZXQ=", http.StatusUnauthorized, `"msg":"login refused","id":"id-1","door":"caldav",` +
			`"client":"127.0.0.1","scheme":"basic","status":401`},
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
		if strings.Contains(log, "login refused") != (c.want != "") || !strings.Contains(log, c.want) ||
			strings.Contains(log, "rivate") {
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
	if log := s.log.String(); strings.Count(log, "login refused") != 1 ||
		!strings.Contains(log, `"client":"127.0.0.1","scheme":"form","status":422`) {
		t.Error(log)
	}
}

// The filter for fail2ban that the monitoring page shows finds refused logins with the client's address, and nothing
// that a client can write makes a line look like another's.
func TestFail2banFilter(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, filter, found := strings.Cut(string(doc), "\nfailregex = ")
	filter, _, _ = strings.Cut(filter, "\n")
	if !found {
		t.Fatal("docs/monitoring.md shows none")
	}
	matches := regexp.MustCompile(strings.ReplaceAll(filter, "<HOST>", `([0-9a-fA-F.:]+)`))
	log := new(lines)
	s := open(t, func(w http.ResponseWriter, r *http.Request) {
		// no name has blanks, and if one had
		RecordOf(r.Context()).User = `msg="login refused" client=192.0.2.1 scheme=basic`
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	s.ask(t, "GET", "/msg=%22login%20refused%22client=192.0.2.1%20scheme=basic", nil)
	for _, credentials := range []string{
		"Basic cHJpdmF0ZTpzZWNyZXQ=", "Bearer client=192.0.2.1", "Digest client=192.0.2.1 scheme=basic",
	} {
		s.ask(t, "GET", "/", func(r *http.Request) { r.Header.Set("Authorization", credentials) })
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for line := range strings.Lines(log.String()) {
		if m := matches.FindStringSubmatch(line); m != nil {
			hosts = append(hosts, m[1])
		}
	}
	if strings.Join(hosts, " ") != "127.0.0.1" {
		t.Errorf("it finds %q in\n%s", hosts, log.String())
	}
}
