package gmailtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// desk sends requests to a server that accepts each token.
type desk struct {
	*testing.T
	*Server
}

func open(t *testing.T) *desk {
	t.Helper()
	d := &desk{t, New()}
	d.Good = func(string) bool { return true }
	return d
}

// ask sends a GET request, below the account unless the path begins with another user. It returns the status, and an
// error's reason.
func (d *desk) ask(path string) (string, map[string]any) {
	d.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/me/" + path
	}
	r := httptest.NewRequestWithContext(d.Context(), http.MethodGet, "/gmail/v1/users"+path, nil)
	r.Header.Set("Authorization", "Bearer x")
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	var answer map[string]any
	var failed struct {
		Error struct{ Errors []struct{ Reason string } }
	}
	_, _ = json.Unmarshal(w.Body.Bytes(), &answer), json.Unmarshal(w.Body.Bytes(), &failed)
	for _, one := range failed.Error.Errors {
		return fmt.Sprint(w.Code, " ", one.Reason), answer
	}
	return fmt.Sprint(w.Code), answer
}

func TestRefused(t *testing.T) {
	d := open(t)
	d.Server.Add("m1", "t1", "Subject: x\n\nbody\n")
	for path, want := range map[string]string{
		"messages?nothing=1":                  "400 invalid",
		"messages?maxResults=-1":              "400 invalid",
		"messages?pageToken=x":                "400 invalid",
		"messages?fields=messages(nothing)":   "400 invalidParameter",
		"messages/m1?format=everything":       "400 invalid",
		"threads/t1?format=raw":               "400 invalid",
		"messages/m2":                         "404 notFound",
		"threads/t2":                          "404 notFound",
		"messages/m1/attachments/x":           "400 invalid",
		"history":                             "400 invalid",
		"history?startHistoryId=1":            "404 notFound",
		"messages?fields=messages/id,x(":      "400 invalidParameter",
		"messages?maxResults=5000":            "200",
		"/ann@gmail.test/profile":             "200",
		"/eve@gmail.test/messages":            "403 forbidden",
		"messages/m1?format=metadata&prefer=": "400 invalid",
	} {
		if got, answer := d.ask(path); got != want {
			t.Errorf("%s: %s, want %s: %v", path, got, want, answer)
		}
	}
	d.Grant("key", scopes+"gmail.metadata")
	for path, want := range map[string]string{
		"messages?q=x": "403 forbidden", "messages/m1": "403 forbidden", "messages/m1?format=metadata": "200",
	} {
		if got, _ := d.ask(path); got != want {
			t.Errorf("%s of metadata: %s", path, got)
		}
	}
}

// TestFormats: a file has only an id in the mail, and its body is at another address.
func TestFormats(t *testing.T) {
	d := open(t)
	raw := "Subject: Plan & more\nTo: ann@gmail.test\nContent-Type: multipart/mixed; boundary=b\n\n" +
		"--b\n\nHello & bye\n--b\nContent-Type: application/pdf; name=a.pdf\n" +
		"Content-Transfer-Encoding: base64\n\nJVBERg==\n--b--\n"
	d.Server.Add("m1", "t1", raw, "INBOX")
	_, e := d.ask("messages/m1?fields=snippet,payload(headers,parts(partId,filename,body))")
	data := base64.URLEncoding.EncodeToString([]byte("Hello & bye"))
	want := map[string]any{"snippet": "Hello &amp; bye", "payload": map[string]any{
		"headers": []any{
			map[string]any{"name": "Subject", "value": "Plan & more"},
			map[string]any{"name": "To", "value": "ann@gmail.test"},
			map[string]any{"name": "Content-Type", "value": "multipart/mixed; boundary=b"},
		},
		"parts": []any{
			map[string]any{"partId": "0", "filename": "", "body": map[string]any{"size": 11.0, "data": data}},
			map[string]any{"partId": "1", "filename": "a.pdf", "body": map[string]any{
				"size": 4.0, "attachmentId": attachmentID(d.messages[0], d.messages[0].root.parts[1]),
			}},
		},
	}}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	_, e = d.ask("messages/m1/attachments/" + attachmentID(d.messages[0], d.messages[0].root.parts[1]))
	if e["data"] != "JVBERg==" {
		t.Error(e)
	}
	_, e = d.ask("messages/m1?format=metadata&metadataHeaders=subject&fields=payload")
	if diff := cmp.Diff(map[string]any{"payload": map[string]any{
		"mimeType": "multipart/mixed", "headers": []any{map[string]any{"name": "Subject", "value": "Plan & more"}},
	}}, e); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	_, e = d.ask("messages/m1?format=raw")
	if text, err := base64.URLEncoding.DecodeString(fmt.Sprint(e["raw"])); err != nil || e["payload"] != nil ||
		string(text) != strings.ReplaceAll(raw, "\n", "\r\n") {
		t.Error(e)
	}
}

func TestSearches(t *testing.T) {
	d := open(t)
	d.Server.Add("a", "t1", "From: Eve <eve@corp.test>\nSubject: Board meeting\n\nAgenda\n", "INBOX", "UNREAD")
	d.Server.Add("b", "t1", "From: Bob <bob@corp.test>\nSubject: Re: Board meeting\n\nYes\n", "INBOX")
	d.Server.Add("c", "t2", "Subject: Lunch\nDate: Sun, 1 Feb 2026 10:00:00 +0000\n\nAgenda\n", "SPAM")
	for q, want := range map[string]string{
		"": "b a", "agenda": "a", "from:eve": "a", "is:unread": "a", "board -from:eve": "b",
		"in:anywhere agenda": "c a",
		`"board meeting"`:    "b a", "from:eve OR from:bob": "b a", "in:anywhere before:2026/02/02": "c",
		"label:inbox yes": "b", "nothing": "",
	} {
		_, answer := d.ask("messages?q=" + url.QueryEscape(q))
		var got []string
		all, _ := answer["messages"].([]any)
		for _, one := range all {
			m, _ := one.(map[string]any)
			got = append(got, fmt.Sprint(m["id"]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", q, got, want)
		}
	}
	_, first := d.ask("messages?maxResults=1")
	if _, next := d.ask("messages?maxResults=1&pageToken=" + fmt.Sprint(first["nextPageToken"])); len(next) != 2 ||
		!strings.Contains(fmt.Sprint(next["messages"]), "id:a ") {
		t.Error(first, next)
	}
	_, h := d.ask("history?startHistoryId=1002")
	if !strings.Contains(fmt.Sprint(h["history"]), "threadId:t2") || strings.Contains(fmt.Sprint(h["history"]), "t1") {
		t.Error(h)
	}
}
