package google

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/google/googletest"
)

// TestQuiet holds that a write of which guests are to hear nothing says so, and no other does.
func TestQuiet(t *testing.T) {
	server := googletest.New()
	server.Add(work, "Europe/Berlin")
	var told string
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			told += r.Method + " " + r.URL.Query().Get("sendUpdates") + "\n"
		}
		server.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(at.Close)
	a := Open(at.URL+"/calendar/v3", at.Client(), zones, func(context.Context, string) (string, error) {
		return "good", nil
	})
	text := event("ORGANIZER:mailto:"+work, "ATTENDEE:mailto:"+work, "ATTENDEE:mailto:eve@example.net")
	for _, c := range []struct {
		quiet bool
		want  string
	}{
		{false, "POST all\nDELETE all\n"},
		{true, "PUT none\nDELETE none\n"}, // the deleted one comes back
	} {
		told = ""
		held := put(t, a, mirror.Object{UID: "u1", Data: text, Quiet: c.quiet})
		held.Quiet = c.quiet
		if err := a.Delete(t.Context(), work, held); err != nil {
			t.Fatal(err)
		}
		if told != c.want {
			t.Errorf("quiet is %v, and it says\n%s", c.quiet, told)
		}
	}
}
