package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// client speaks to one server as one user.
type client struct {
	*running
	http            *http.Client
	user, pass, tok string
}

// firstClient is the first user of a server that has shown its credentials.
func firstClient(t *testing.T, r *running) client {
	t.Helper()
	// The process wrote them before its log said "ready", but that is another pipe.
	until(t, "the first user's credentials are shown", func() bool { _, tok := r.credentials(); return tok != "" })
	pass, tok := r.credentials()
	return newClient(t, r, "admin", pass, tok)
}

func newClient(t *testing.T, r *running, user, pass, tok string) client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	return client{r, &http.Client{Transport: transport}, user, pass, tok}
}

// at is the same user at another server.
func (c client) at(r *running) client {
	c.running = r
	return c
}

// answer is an answer, read to its end.
type answer struct {
	status int
	header http.Header
	body   string
}

// send makes a request and reads the answer; headers come in pairs.
func (c client) send(ctx context.Context, method, url, body string, headers ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return answer{res.StatusCode, res.Header, string(text)}, err
}

// dav makes a CalDAV request with the user's password.
func (c client) dav(ctx context.Context, method, path, body string, headers ...string) (answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, "/", nil)
	if err != nil {
		return answer{}, err
	}
	r.SetBasicAuth(c.user, c.pass)
	return c.send(ctx, method, c.caldav(path), body, append(headers, "Authorization", r.Header.Get("Authorization"))...)
}

// must is dav for requests that have to be answered in one way.
func (c client) must(t *testing.T, want int, method, path, body string, headers ...string) answer {
	t.Helper()
	a, err := c.dav(t.Context(), method, path, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	if a.status != want {
		t.Fatalf("%s %s: answered %d, want %d\n%s\n%s", method, path, a.status, want, a.body, c.log.String())
	}
	return a
}

// call uses a tool and returns the text of its result.
func (c client) call(t *testing.T, tool string, arguments any) string {
	t.Helper()
	text, err := c.tool(t.Context(), tool, arguments)
	if err != nil {
		t.Fatalf("%s: %v\n%s", tool, err, c.log.String())
	}
	return text
}

// tool is call for callers that expect a refusal, too.
func (c client) tool(ctx context.Context, tool string, arguments any) (string, error) {
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return "", err
	}
	a, err := c.send(ctx, http.MethodPost, c.mcp(), string(message), "Authorization", "Bearer "+c.tok,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	if err != nil {
		return "", err
	}
	var reply struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &reply); err != nil || len(reply.Result.Content) == 0 ||
		reply.Result.IsError {
		return "", fmt.Errorf("answered %d with %q", a.status, a.body)
	}
	return reply.Result.Content[0].Text, nil
}

// synced is the content of a sync-collection response: status by name, and the next token.
type synced struct {
	token string
	names map[string]int
}

const personal = "/dav/calendars/admin/personal/"

// sync requests the changes in the first user's calendar since a token.
func (c client) sync(t *testing.T, token string) synced {
	t.Helper()
	body := `<d:sync-collection xmlns:d="DAV:"><d:sync-token>` + token +
		`</d:sync-token><d:sync-level>1</d:sync-level><d:prop><d:getetag/></d:prop></d:sync-collection>`
	a := c.must(t, http.StatusMultiStatus, "REPORT", personal, body, "Content-Type", "application/xml", "Depth", "0")
	var reply struct {
		Token     string `xml:"DAV: sync-token"`
		Responses []struct {
			Href   string `xml:"DAV: href"`
			Status string `xml:"DAV: status"`
		} `xml:"DAV: response"`
	}
	if err := xml.NewDecoder(bytes.NewReader([]byte(a.body))).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	s := synced{reply.Token, make(map[string]int)}
	for _, r := range reply.Responses {
		status := http.StatusOK
		if strings.Contains(r.Status, "404") {
			status = http.StatusNotFound
		}
		s.names[r.Href[strings.LastIndexByte(r.Href, '/')+1:]] = status
	}
	return s
}

// event is an object as clients write it.
func event(uid, summary string) string {
	return strings.ReplaceAll(fmt.Sprintf(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:%s
DTSTAMP:20260101T000000Z
DTSTART:20260301T090000Z
DTEND:20260301T100000Z
SUMMARY:%s
END:VEVENT
END:VCALENDAR
`, uid, summary), "\n", "\r\n")
}
