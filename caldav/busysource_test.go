package caldav_test

import (
	"context"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/testdb"
)

// busySource is an account with one empty calendar that accepts no write for a while.
type busySource struct{ after time.Duration }

func (busySource) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "one", Name: "Work", Writable: true}}, nil
}

func (busySource) Changes(context.Context, string, string) (mirror.Changes, error) {
	return mirror.Changes{Cursor: "1", Whole: true}, nil
}

func (b busySource) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, &mirror.Later{After: b.after}
}

func (b busySource) Delete(context.Context, string, mirror.Object) error {
	return &mirror.Later{After: b.after}
}

// TestRetryAfterOfASource: an app learns when the provider of a linked calendar wants to be asked again.
func TestRetryAfterOfASource(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]string{
		0: "5", time.Second: "5", 90*time.Second + time.Millisecond: "91", 24 * time.Hour: "3600",
	} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, testdb.SQLite(t), nil)
			h.middle.Providers, h.middle.Sealer = map[string]mirror.Provider{"busy": {
				Title: "Busy", Every: time.Hour, Address: func(mirror.Secret) string { return "busy.example" },
				Open: func(mirror.Opening) (mirror.Source, error) { return busySource{after}, nil },
			}}, open{}
			h.remake(t, nil)
			alice := calendar.Caller{User: h.users["alice"], Scopes: calendar.ScopeAll, Agent: "test"}
			linked, _, err := h.service.Mirrors.Link(
				t.Context(),
				alice,
				mirror.NewAccount{Provider: "busy", Name: "Work"},
			)
			if err != nil {
				t.Fatal(err)
			}
			got := h.send(t, "PUT /dav/calendars/alice/"+string(linked.Calendars[0].Segment)+
				"/a.ics\nContent-Type: text/calendar", event("a", "A"))
			if got.status != 503 || got.header.Get("Retry-After") != want {
				t.Errorf(
					"the answer is %d, Retry-After %q, want %s\n%s",
					got.status,
					got.header.Get("Retry-After"),
					want,
					got.body,
				)
			}
		})
	}
}
