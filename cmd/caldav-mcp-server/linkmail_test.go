package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/linked/gmail"
	"caldav-mcp-server/linked/gmail/gmailtest"
	"caldav-mcp-server/linked/rest/resttest"
)

// mailReader is a user whose mail an assistant reads.
type mailReader struct {
	name string
	mail *gmailtest.Server
	keys *resttest.Keys
	tok  string
}

// readWalk has assistants of two users read the mail of two accounts, which have mails of the same names.
type readWalk struct {
	*testing.T
	*rand.Rand
	readers    []*mailReader
	env        []string
	c          client
	database   string
	said, logs strings.Builder
	good, bad  int
	codes      map[string]int
}

// marked is a word in all mails of a user and in no other user's.
func (r *mailReader) marked() string { return "Zebrafink-" + r.name }

// host is Google, as far as it has mail: an account is known by the key that opens it.
func (w *readWalk) host() map[string]http.Handler {
	by := func(secret string) *mailReader {
		for _, r := range w.readers {
			if slices.Contains(r.keys.Given(), secret) {
				return r
			}
		}
		return w.readers[0]
	}
	return map[string]http.Handler{
		"gmail.googleapis.com": http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			by(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")).mail.Handler().ServeHTTP(rw, r)
		}),
		"oauth2.googleapis.com": http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			by(r.PostFormValue("refresh_token")+r.PostFormValue("code")).keys.Handler().ServeHTTP(rw, r)
		}),
	}
}

// TestMailWalk: tokens expire, responses are lost and truncated, Gmail limits the rate, and our server is killed. An
// assistant still gets only the mail of its own user, or an error that explains the problem.
func TestMailWalk(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers that read mail")
	each(t, func(t *testing.T, database string) {
		seed, steps := walkOf(t)
		t.Logf("LINK_WALK=%d,%d", seed, steps)
		w := &readWalk{T: t, Rand: rand.New(rand.NewPCG(seed, 43)), database: database, codes: map[string]int{}}
		w.begin()
		for range 2 * steps {
			w.one()
		}
		w.judge()
		t.Logf("%d good answers, %d errors: %v", w.good, w.bad, w.codes)
	})
}

var shownToken = regexp.MustCompile(`"token": ?"([^"]+)"`)

func (w *readWalk) begin() {
	for _, name := range []string{"admin", "bob"} {
		r := &mailReader{name: name, mail: gmailtest.New(), keys: &resttest.Keys{Scope: gmail.Scope}}
		r.mail.Owner, r.mail.Good = name+"@gmail.test", r.keys.Good
		for n := range 9 {
			raw := fmt.Sprintf("From: someone@example.com\nTo: %s@gmail.test\nSubject: %s mail %d\n\nIn it there is "+
				"%s-body-%d.\n", name, r.marked(), n, r.marked(), n)
			r.mail.Add(fmt.Sprint("m", n), fmt.Sprint("t", n/2), raw, "INBOX")
		}
		w.readers = append(w.readers, r)
	}
	w.env = append(on(w.database), "DATA_DIR="+w.TempDir(), "LOG_LEVEL=debug", "GMAIL=true", "GOOGLE_CLIENT_ID=app",
		"GOOGLE_CLIENT_SECRET="+appSecret)
	w.env = append(w.env, elsewhere(w.T, w.host())...)
	w.c = firstClient(w.T, serve(w.T, w.env))
	call(w.T, w.env, "correct horse battery\n", "create-user", "bob", "--password-stdin")
	for _, r := range w.readers {
		w.said.WriteString(link(w.T, w.env, r.keys, r.name, "gmail"))
		found := shownToken.FindStringSubmatch(call(w.T, w.env, "", "create-token", "--user", r.name, "--name", "mail",
			"--scope", "read,mail", "--json"))
		if found == nil {
			w.Fatal("no token is shown")
		}
		r.tok = found[1]
	}
}

// one is a question of one of the two, in trouble.
func (w *readWalk) one() {
	r := w.readers[w.IntN(2)]
	w.trouble(r)
	var once sync.Once
	kill := func() {}
	if w.IntN(15) == 0 {
		running := w.c.running
		kill = func() { once.Do(func() { _ = running.kill() }) }
		r.mail.Faults.Clear()
		r.mail.Faults.Add(resttest.Fault{Then: kill})
		if timer := time.AfterFunc(time.Duration(w.IntN(40))*time.Millisecond, kill); w.IntN(2) == 0 {
			timer.Stop()
		}
	}
	n := w.IntN(9)
	c := w.c
	c.tok = r.tok
	tool, arguments, wants := "gmail_getMessage", map[string]any{"id": fmt.Sprint("m", n), "format": "full"}, []string{
		fmt.Sprintf("%s-body-%d", r.marked(), n),
	}
	switch w.IntN(4) {
	case 0:
		tool, arguments, wants = "gmail_searchMessages", map[string]any{
			"q": fmt.Sprintf("%s-body-%d", r.marked(), n),
		}, []string{fmt.Sprintf("id m%d ", n)}
	case 1:
		tool, arguments, wants = "gmail_getThread", map[string]any{
			"id": fmt.Sprint("t", n/2), "format": "full",
		}, []string{fmt.Sprintf("%s-body-%d", r.marked(), n/2*2)}
	case 2:
		tool, arguments, wants = "gmail_listThreads", map[string]any{"q": r.marked()}, []string{
			"id t0:", "id t4:", r.marked(),
		}
	}
	text, err := c.tool(w.Context(), tool, arguments)
	w.told(r, tool, text, wants, err)
	kill()
	w.awake()
}

func (w *readWalk) trouble(r *mailReader) {
	all := []resttest.Fault{
		{Status: 401},
		{Status: 429},
		{Status: 429, After: 1},
		{Status: 429, After: 30},
		{Status: 500},
		{Status: 503},
		{Lost: true},
		{Half: true},
		{Cut: true},
		{Status: 200, Body: "<html>"},
		{Status: 403, Body: `{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}`},
	}
	r.mail.Faults.Clear()
	r.keys.Faults.Clear()
	switch w.IntN(6) {
	case 0, 1:
		for range 1 + w.IntN(3) {
			r.mail.Faults.Add(all[w.IntN(len(all))])
		}
	case 2:
		r.keys.Expire(w.IntN(2) == 0)
		if w.IntN(2) == 0 {
			r.keys.Faults.Add(all[4+w.IntN(5)])
		}
	}
}

var errorCode = regexp.MustCompile(`[A-Z]+_[A-Z_]+|UNAVAILABLE`)

// told holds that an answer is right, or an error clear, and that neither is of anybody else.
func (w *readWalk) told(r *mailReader, tool, text string, wants []string, err error) {
	whole := text
	if err != nil {
		whole = err.Error()
		w.said.WriteString(whole + "\n")
	}
	for _, other := range w.readers {
		if other != r && strings.Contains(whole, other.marked()) {
			w.Fatalf("%s is told what %s has:\n%s", r.name, other.name, whole)
		}
	}
	if err == nil {
		w.good++
		for _, want := range wants {
			if !strings.Contains(text, want) {
				w.Errorf("%s of %s has no %s:\n%s", tool, r.name, want, text)
			}
		}
		return
	}
	if w.bad++; !strings.Contains(whole, "answered ") {
		w.codes["none"]++ // the server was killed
		return
	}
	code := errorCode.FindString(whole)
	w.codes[code]++
	if code == "" || code == "INTERNAL_ERROR" || code == "INVALID_ARGUMENT" || code == "NOT_AUTHORIZED" ||
		strings.Contains(whole, r.marked()) {
		w.Errorf("%s of %s is answered %s", tool, r.name, whole)
	}
}

func (w *readWalk) awake() {
	select {
	case <-w.c.gone:
	default:
		return
	}
	w.logs.WriteString(w.c.log.String())
	w.c = w.c.at(serve(w.T, w.env))
}

// judge checks that there were successful responses, and that no log contains mail or keys.
func (w *readWalk) judge() {
	if w.good < w.bad {
		w.Errorf("%d good answers, and %d errors", w.good, w.bad)
	}
	var status struct{ Accounts []struct{ Status string } }
	if err := json.Unmarshal([]byte(`{"accounts":`+call(w.T, w.env, "", "list-accounts", "--json")+`}`),
		&status); err != nil {
		w.Fatal(err)
	}
	if len(status.Accounts) != 2 || status.Accounts[0].Status != status.Accounts[1].Status ||
		status.Accounts[0].Status != "good" {
		w.Errorf("the accounts are %+v", status.Accounts)
	}
	if err := w.c.interrupt(); err != nil {
		w.Error(err)
	}
	w.logs.WriteString(w.c.log.String())
	both := linkWalk{T: w.T, database: w.database, far: nil, keys: &resttest.Keys{}}
	db := both.open()
	defer db.Close()
	var stored strings.Builder
	for _, name := range both.tables(db) {
		stored.WriteString(strings.Join(both.rows(db, `SELECT * FROM "`+name+`"`), "\n"))
	}
	for name, text := range map[string]string{
		"a log": w.logs.String(), "an error": w.said.String(), "the database": stored.String(),
	} {
		for _, r := range w.readers {
			for _, secret := range append(r.keys.Given(), appSecret, r.marked()) {
				if strings.Contains(text, secret) {
					w.Errorf("%s tells %s", name, secret)
				}
			}
		}
	}
}
