package google

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/google/googletest"
)

// TestProvider holds that an account opens with what was kept of it: its key is renewed, kept, and good for the API.
func TestProvider(t *testing.T) {
	server := googletest.New()
	server.Add(work, "Europe/Berlin")
	mux := http.NewServeMux()
	mux.Handle("/calendar/", server.Handler())
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("refresh_token") != "r1" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
			return
		}
		_, _ = io.WriteString(w, `{"access_token":"good","refresh_token":"r2","expires_in":3599}`)
	})
	at := httptest.NewServer(mux)
	t.Cleanup(at.Close)
	client := Client("id", "secret", at.Client(), time.Now)
	client.TokenURL = at.URL + "/token"
	p := Provider(client, at.URL+"/calendar/v3", zones)
	var kept mirror.Secret
	source, err := p.Open(mirror.Opening{
		Secret: mirror.Secret{Username: work, Token: []byte(`{"refresh":"r1"}`)},
		Keep:   func(_ context.Context, next mirror.Secret) error { kept = next; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	all, err := source.Calendars(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != work {
		t.Fatal(all, err)
	}
	if kept.Username != work || !strings.Contains(string(kept.Token), `"r2"`) {
		t.Errorf("kept %s", kept.Token)
	}
	account, ok := source.(*Account)
	if !ok {
		t.Fatalf("%T", source)
	}
	if whose, err := account.Whose(t.Context()); whose != work || err != nil {
		t.Error(whose, err)
	}
}
