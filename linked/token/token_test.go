package token

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
)

// provider answers at the token endpoint, and remembers what it was sent.
type provider struct {
	answer string
	status int
	got    []url.Values
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.got = append(p.got, r.PostForm)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.status)
	_, _ = io.WriteString(w, p.answer)
}

func begin(t *testing.T, status int, answer string) (*provider, *Client) {
	t.Helper()
	p := &provider{status: status, answer: answer}
	at := httptest.NewServer(p)
	t.Cleanup(at.Close)
	return p, &Client{
		ID: "our-id", Secret: "our-secret", AuthURL: "https://accounts.example/auth", TokenURL: at.URL,
		Scopes: []string{"https://x.example/Calendars.Read", "offline_access"},
		Ask:    map[string]string{"access_type": "offline"}, Ended: "It dies after seven days.", HTTP: at.Client(),
		Now: time.Now,
	}
}

func TestAddress(t *testing.T) {
	_, c := begin(t, 200, "")
	at, err := url.Parse(c.Address("http://localhost:5234", "st", Verifier()))
	if err != nil {
		t.Fatal(err)
	}
	q := at.Query()
	for name, want := range map[string]string{
		"client_id": "our-id", "state": "st", "code_challenge_method": "S256", "access_type": "offline",
		"response_type": "code", "redirect_uri": "http://localhost:5234",
	} {
		if q.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	if strings.Contains(at.String(), "our-secret") || len(q.Get("code_challenge")) != 43 {
		t.Error(at)
	}
}

func TestExchange(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		answer, want string
	}{
		"good": {
			200, `{"access_token":"a","refresh_token":"r","expires_in":3600,"scope":"x/Calendars.Read"}`, "",
		},
		"short scope": {
			200, `{"access_token":"a","refresh_token":"r","scope":"https://x.example/Calendars.Read openid"}`, "",
		},
		"last part":   {200, `{"access_token":"a","refresh_token":"r","scope":"openid profile Calendars.Read"}`, ""},
		"another one": {200, `{"access_token":"a","refresh_token":"r","scope":"Read"}`, "leave all boxes ticked"},
		"unticked":    {200, `{"access_token":"a","refresh_token":"r","scope":"openid"}`, "leave all boxes ticked"},
		"no key":      {200, `{"access_token":"a","scope":"https://x.example/Calendars.Read"}`, "no lasting access"},
		"code used":   {400, `{"error":"invalid_grant"}`, "linked again"},
		"wrong client": {
			401, `{"error":"invalid_client","error_description":"our-secret"}`, "client id or secret is wrong",
		},
		"out of order": {503, `nothing`, "does not answer now"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "good" {
				c.answer = strings.Replace(c.answer, "x/", "https://x.example/", 1)
			}
			p, client := begin(t, c.status, c.answer)
			got, err := client.Exchange(t.Context(), "http://localhost:5234", "the-code", "the-verifier")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if err == nil && (got.Refresh != "r" || got.Access != "a") {
				t.Errorf("%+v", got)
			}
			if err != nil && strings.Contains(err.Error(), "our-secret") {
				t.Errorf("a secret is told: %v", err)
			}
			if v := p.got[0].Get("code_verifier"); v != "the-verifier" {
				t.Errorf("verifier %q", v)
			}
		})
	}
}

// TestAccess holds that a token is renewed five minutes early, once, and that a key in the place of another is kept
// before it is used.
func TestAccess(t *testing.T) {
	p, c := begin(t, 200, `{"access_token":"new","refresh_token":"r2","expires_in":3600}`)
	kept := ""
	keep := func(_ context.Context, next json.RawMessage) error { //nolint:unparam // its shape is asked for
		kept = string(next)
		return nil
	}
	hold := func(lasts time.Duration) *Holder {
		raw, _ := json.Marshal(Token{Access: "old", Refresh: "r1", Expires: time.Now().Add(lasts), Scopes: "s"})
		h, err := Hold(c, raw, keep)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if got, err := hold(6*time.Minute).Access(t.Context(), ""); got != "old" || err != nil || len(p.got) != 0 {
		t.Errorf("%q %v after %d requests", got, err, len(p.got))
	}
	if got, _ := hold(6*time.Minute).Access(t.Context(), "old"); got != "new" {
		t.Errorf("a refused token is given again: %q", got)
	}
	h := hold(4 * time.Minute)
	for range 3 {
		if got, err := h.Access(t.Context(), ""); got != "new" || err != nil {
			t.Errorf("%q %v", got, err)
		}
	}
	if len(p.got) != 2 || p.got[1].Get("refresh_token") != "r1" {
		t.Errorf("%d requests: %v", len(p.got), p.got)
	}
	if !strings.Contains(kept, `"r2"`) || !strings.Contains(kept, `"scopes":"s"`) {
		t.Errorf("kept %s", kept)
	}
	lost := errors.New("the store is away")
	keep = func(context.Context, json.RawMessage) error { return lost }
	if _, err := hold(0).Access(t.Context(), ""); !errors.Is(err, lost) {
		t.Errorf("a key that was not kept is used: %v", err)
	}
}

func TestEnded(t *testing.T) {
	_, c := begin(t, 400, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`)
	h, err := Hold(c, json.RawMessage(`{"refresh":"r1"}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.Access(t.Context(), "")
	if !errors.Is(err, mirror.ErrSignIn) || !strings.Contains(err.Error(), "seven days") {
		t.Error(err)
	}
	if _, err := Hold(c, nil, nil); !errors.Is(err, mirror.ErrSignIn) {
		t.Error(err)
	}
}

// shelf is where the key of an account is kept, for several who renew it.
type shelf struct {
	mu   sync.Mutex
	kept json.RawMessage
	// late is how often a look finds what was there before.
	late int
	old  json.RawMessage
}

// opening is an account as somebody opens it who is asked for what was there then.
func (s *shelf) opening() mirror.Opening {
	before := s.kept
	return mirror.Opening{
		Secret: mirror.Secret{Token: before},
		Keep: func(_ context.Context, next mirror.Secret) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			if string(s.kept) != string(before) {
				return mirror.ErrRenewed
			}
			s.old, s.kept, before = s.kept, next.Token, next.Token
			return nil
		},
		Kept: func(context.Context) (mirror.Secret, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.late--; s.late >= 0 {
				return mirror.Secret{Token: s.old}, nil
			}
			before = s.kept
			return mirror.Secret{Token: s.kept}, nil
		},
	}
}

// TestOvertaken holds that of two who renew one key at once neither fails: the second finds its key used up, or another
// one in the place of it, and takes that.
func TestOvertaken(t *testing.T) {
	for name, late := range map[string]int{"used up": 0, "used up, and written down late": 2, "written over": -1} {
		t.Run(name, func(t *testing.T) {
			p, c := begin(t, 200, `{"access_token":"first","refresh_token":"r2","expires_in":3600}`)
			s := &shelf{kept: json.RawMessage(`{"refresh":"r1"}`)}
			one, err := Of(c, s.opening())
			if err != nil {
				t.Fatal(err)
			}
			other, err := Of(c, s.opening())
			if err != nil {
				t.Fatal(err)
			}
			if got, err := one.Access(t.Context(), ""); got != "first" || err != nil {
				t.Fatal(got, err)
			}
			if p.answer = `{"access_token":"second","expires_in":3600}`; late >= 0 {
				p.status, p.answer, s.late = 400, `{"error":"invalid_grant"}`, late
			}
			if got, err := other.Access(t.Context(), ""); got != "first" || err != nil {
				t.Errorf("the other is given %q, %v", got, err)
			}
			if !strings.Contains(string(s.kept), `"r2"`) {
				t.Errorf("kept %s", s.kept)
			}
		})
	}
}

// TestSealedAnew holds that a key which was sealed with another master key in the middle is kept all the same.
func TestSealedAnew(t *testing.T) {
	_, c := begin(t, 200, `{"access_token":"a","refresh_token":"r2","expires_in":3600}`)
	var kept string
	times := 0
	h, err := Of(c, mirror.Opening{
		Secret: mirror.Secret{Token: json.RawMessage(`{"refresh":"r1"}`)},
		Keep: func(_ context.Context, next mirror.Secret) error {
			if times++; times == 1 {
				return mirror.ErrRenewed
			}
			kept = string(next.Token)
			return nil
		},
		Kept: func(context.Context) (mirror.Secret, error) {
			return mirror.Secret{Token: json.RawMessage(`{"refresh":"r1"}`)}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := h.Access(t.Context(), ""); got != "a" || err != nil || !strings.Contains(kept, "r2") {
		t.Errorf("%q %v, kept %s", got, err, kept)
	}
}
