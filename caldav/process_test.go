package caldav_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
)

// process is a server on a database that several are on, with its real login.
type process struct {
	*housetest.House
	auth    *auth.Service
	service *service.Service
	http    *httptest.Server
}

// newProcess starts one more server on a database.
func newProcess(t *testing.T, database string, c *housetest.Clock) *process {
	t.Helper()
	p := &process{House: housetest.Open(t, database, c)}
	p.auth, p.service = auth.New(p.Login()), service.New(p.Middle())
	h, err := caldav.New(caldav.Config{
		Service: p.service, Limits: caldav.DefaultLimits(), Logger: p.Logger(), Now: p.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.http = httptest.NewServer(h.Public(h.Links(p.auth.VerifyLink, p.auth.Require(auth.Door{
		Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Refuse: auth.RefuseText,
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	}, h.ServeDAV))))
	t.Cleanup(p.http.Close)
	return p
}

// send sends a request with headers in pairs, and reads the answer.
func (p *process) send(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.http.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := p.http.Client().Do(r)
	if errors.Is(err, io.EOF) {
		return reply{} // the answer broke off
	}
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return reply{}
	}
	text, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return reply{res.StatusCode, res.Header, string(text)}
}

// basic is what a client shows with a name and a password.
func basic(name, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(name, password)
	return r.Header.Get("Authorization")
}
