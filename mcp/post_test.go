package mcp

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/internal/testdb"
)

// lapsing is a body at whose end its sender's token is no longer good.
type lapsing struct{ *strings.Reader }

func (l lapsing) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		err = auth.ErrUnauthorized
	}
	return n, err
}

// TestRevokedWhileTheMessageArrives: a call whose token is no longer good by the end of the message
// is not made (security M3).
func TestRevokedWhileTheMessageArrives(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_calendar",` +
		`"arguments":{"name":"Late"}}}`
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp", lapsing{strings.NewReader(call)})
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	New(h.config()).ServeMCP(w, r, h.callers["alice"])
	if w.Code != http.StatusUnauthorized || !strings.Contains(w.Body.String(), `"unauthorized"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	all, err := h.service.Calendars(t.Context(), h.callers["alice"])
	if err != nil || len(all) != 3 {
		t.Errorf("%d calendars, %v", len(all), err)
	}
}
