package acme

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// A try that the authority refuses is told as a task that failed, by no name.
func TestTriesAreTold(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := housetest.Open(t, url, housetest.At(time.Unix(1_700_000_000, 0)))
		ctx, cancel := context.WithCancel(t.Context())
		authority := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			cancel() // it is not tried again
		}))
		defer authority.Close()
		k := New(Config{
			Names: []string{"calendar.example"}, Directory: authority.URL, Log: h.Logger(), Now: h.Now,
			Task: h.TaskLog.Task,
		})
		k.Run(ctx, h.Store, false)
		if told := h.TaskLog.Ended(); !slices.Equal(told, []string{"certificate failed"}) {
			t.Errorf("the tasks are %q", told)
		}
	})
}
