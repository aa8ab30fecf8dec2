package caldav_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/goldentest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/storetest"
)

// TestConversations compares the server with the recorded conversations in testdata. Those in clients/ come from the
// client in the file's name. The top of a file describes it. "given" is a request that must succeed, with any response.
// Each "request" is followed by the expected "response": every header and byte of it, except line breaks between two
// tags and the store's epoch.
func TestConversations(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"testdata/*.txtar", "testdata/clients/*.txtar"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no conversations in %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) { converse(t, url, file) })
		})
	}
}

func converse(t *testing.T, database, file string) {
	want, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h := newHouse(t, database, pushIn(file))
	epoch, err := h.Store.Epoch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: want.Comment}
	for _, section := range want.Files {
		if section.Name == "response" {
			continue
		}
		got.Files = append(got.Files, section)
		answer := h.answer(t, strings.ReplaceAll(string(section.Data), "EPOCH", string(epoch)))
		if section.Name == "given" {
			if !strings.HasPrefix(answer, "2") {
				t.Fatalf("given:\n%s\n%s", section.Data, answer)
			}
			continue
		}
		answer = strings.ReplaceAll(answer, string(epoch), "EPOCH")
		got.Files = append(got.Files, txtar.File{Name: "response", Data: []byte(answer)})
	}
	if h.Log.String() != "" {
		t.Errorf("the log says: %s", h.Log)
	}
	goldentest.Settle(t, file, want, got)
}

// answer sends a request in the form of the files, and returns the response in that form.
func (h *house) answer(t *testing.T, request string) string {
	t.Helper()
	head, body, _ := strings.Cut(request, "\n\n")
	if act, is := acts[strings.Fields(head)[0]]; is {
		act(h, t, strings.Fields(head))
		return "200 OK\n"
	}
	r := h.send(t, strings.ReplaceAll(head, "{link}", string(h.secret)), body)
	if h.secret != "" {
		r.body = strings.ReplaceAll(r.body, string(h.secret), "{link}")
	}
	return fmt.Sprintf("%d %s\n%s\n%s", r.status, http.StatusText(r.status), lines(r.header),
		strings.ReplaceAll(r.body, "><", ">\n<"))
}

// lines returns all headers except the length, in order.
func lines(header http.Header) string {
	var all []string
	for name, values := range header {
		if name != "Content-Length" {
			all = append(all, name+": "+strings.Join(values, ", ")+"\n")
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// acts are steps of conversations that have no CalDAV method.
var acts = map[string]func(h *house, t *testing.T, words []string){
	"ASK": (*house).asks, "SHARE": (*house).share, "LINK": (*house).newLink, "UNLINK": (*house).unlink,
	"BLOCK": (*house).block,
}

// block executes "BLOCK bob alice": bob blocks alice.
func (h *house) block(t *testing.T, words []string) {
	t.Helper()
	who := calendar.Caller{User: h.users[words[1]], Scopes: calendar.ScopeAll}
	if err := h.service.BlockUser(t.Context(), who, h.users[words[2]]); err != nil {
		t.Fatal(err)
	}
}

// newLink executes "LINK work busy"; {link} then stands for its secret.
func (h *house) newLink(t *testing.T, words []string) {
	t.Helper()
	h.publish(t, calendar.Segment(words[1]), accesses[words[2]])
}

// unlink executes "UNLINK": it revokes the last link.
func (h *house) unlink(t *testing.T, _ []string) {
	t.Helper()
	if err := h.auth.RevokeLink(t.Context(), h.link.ID); err != nil {
		t.Fatal(err)
	}
}

var accesses = map[string]calendar.Access{
	"busy": calendar.FreeBusyAccess, "read": calendar.ReadAccess, "write": calendar.WriteAccess,
}

// asks executes "ASK": shares need acceptance from then on.
func (h *house) asks(t *testing.T, _ []string) {
	t.Helper()
	h.middle.NeedAcceptance = true
	h.remake(t, nil)
}

// share executes "SHARE alice work bob read".
func (h *house) share(t *testing.T, words []string) {
	t.Helper()
	cal, err := h.Store.CalendarAt(t.Context(), h.users[words[1]].ID, calendar.Segment(words[2]))
	if err == nil {
		err = storetest.Share(t.Context(), h.Store, cal.ID, h.users[words[3]].ID, accesses[words[4]])
	}
	if err != nil {
		t.Fatal(err)
	}
}
