package gmail_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/linked/gmail"
	"caldav-mcp-server/linked/gmail/gmailtest"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/rest/resttest"
)

const invitation = `From: =?UTF-8?Q?Zo=C3=AB_Adler?= <zoe@example.com>
To: ann@gmail.test
Cc: =?ISO-2022-JP?B?GyRCNEQbKEI=?= <kan@example.jp>
Subject: =?ISO-8859-1?Q?Caf=E9?= =?UTF-8?B?4pSC?= plan
Date: Sun, 1 Mar 2026 10:30:00 +0100
Message-ID: <1@example.com>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=mix

--mix
Content-Type: multipart/alternative; boundary=alt

--alt
Content-Type: text/plain; charset=iso-8859-15
Content-Transfer-Encoding: quoted-printable

Treffen im Caf=E9, 5 =A4.=20


Bis dann
--alt
Content-Type: text/html; charset=utf-8

<p>Treffen</p>
--alt
Content-Type: text/calendar; method=REQUEST
Content-Transfer-Encoding: base64

QkVHSU46VkNBTEVOREFS
--alt--
--mix
Content-Type: application/pdf; name="=?UTF-8?Q?Men=C3=BC=2Epdf?="
Content-Disposition: attachment
Content-Transfer-Encoding: base64

JVBERi0xLjcK
--mix
Content-Type: message/rfc822

Subject: inner

inner text
--mix--
`

// open opens the account of a fake, whose key is renewed at its own token endpoint.
func open(t *testing.T, s *gmailtest.Server) *gmail.Account {
	t.Helper()
	source := source(t, s, "key", nil)
	return source.(*gmail.Account)
}

func source(t *testing.T, s *gmailtest.Server, key string, keep func(mirror.Secret)) mirror.Source {
	t.Helper()
	at := httptest.NewServer(s.Handler())
	t.Cleanup(at.Close)
	client := gmail.Client("id", "secret", at.Client(), time.Now)
	client.TokenURL = at.URL + "/token"
	source, err := gmail.Provider(client, at.URL+"/gmail/v1").Open(mirror.Opening{
		Secret: mirror.Secret{Token: []byte(`{"refresh":"` + key + `"}`)},
		Keep: func(_ context.Context, next mirror.Secret) error {
			if keep != nil {
				keep(next)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestMailIsRead(t *testing.T) {
	t.Parallel()
	s := gmailtest.New()
	s.Add("m1", "t1", invitation, "INBOX", "UNREAD")
	a := open(t, s)
	want := mailbox.Message{
		ID: "m1", Thread: "t1", From: "Zoë Adler <zoe@example.com>", To: "ann@gmail.test", Cc: "環 <kan@example.jp>",
		Subject: "Café│ plan", Date: "Sun, 1 Mar 2026 10:30:00 +0100",
		Received: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), Labels: []string{"INBOX", "UNREAD"},
		Snippet: "Treffen im Café, 5 ¤. Bis dann",
		Attachments: []mailbox.Attachment{
			{ID: "0.2", MIMEType: "text/calendar", Size: 15}, {
				ID: "1", Name: "Menü.pdf", MIMEType: "application/pdf", Size: 9,
			}, {ID: "2", MIMEType: "message/rfc822", Size: 28},
		},
	}
	for _, whole := range []bool{false, true} {
		got, err := a.Message(t.Context(), "m1", whole)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Attachments {
			got.Attachments[i].Alias = ""
		}
		if whole {
			want.Body = "Treffen im Café, 5 €.\n\nBis dann"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("whole %v (-want +got):\n%s", whole, diff)
		}
	}
	for _, at := range s.Requests() {
		if strings.Contains(at, "attachments") {
			t.Errorf("the bytes of an attachment were asked for: %s", at)
		}
	}
}

func TestMailIsFoundInPages(t *testing.T) {
	t.Parallel()
	s := gmailtest.New()
	for i := range 7 {
		s.Add(fmt.Sprintf("m%d", i), fmt.Sprintf("t%d", i/2), fmt.Sprintf("Subject: Review %d\n\nAgenda &c.\n", i))
	}
	s.Add("other", "t9", "Subject: Lunch\n\nx\n")
	a := open(t, s)
	var messages, threads []string
	for q := (mailbox.Query{Text: "review", Most: 3}); ; {
		page, err := a.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range page.Found {
			messages = append(messages, f.Message+"/"+f.Thread)
		}
		if q.Token = page.Next; page.Next == "" {
			break
		}
	}
	page, err := a.Threads(t.Context(), mailbox.Query{Text: "review", Most: 10})
	for _, f := range page.Found {
		threads = append(threads, f.Thread+" "+f.Snippet)
	}
	if want := []string{"m6/t3", "m5/t2", "m4/t2", "m3/t1", "m2/t1", "m1/t0", "m0/t0"}; err != nil ||
		!cmp.Equal(messages, want) {
		t.Errorf("found %v, %v", messages, err)
	}
	if want := []string{"t3 Agenda &c.", "t2 Agenda &c.", "t1 Agenda &c.", "t0 Agenda &c."}; !cmp.Equal(threads, want) {
		t.Errorf("threads %q", threads)
	}
	thread, err := a.Thread(t.Context(), "t1", true)
	if err != nil || len(thread.Messages) != 2 || thread.Messages[0].Subject != "Review 2" ||
		thread.Messages[1].Body != "Agenda &c." {
		t.Errorf("thread %+v, %v", thread, err)
	}
}

// Mails of people who mean harm: each is read within bounds, or refused.
func TestHostileMail(t *testing.T) {
	t.Parallel()
	deep := strings.Builder{}
	for i := range 200 {
		fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
	}
	deep.WriteString("\nlow\n")
	var many strings.Builder
	many.WriteString("Content-Type: multipart/mixed; boundary=b\n\n")
	for i := range 3000 {
		fmt.Fprintf(&many, "--b\nContent-Disposition: attachment; filename=f%d\n\nx\n", i)
	}
	many.WriteString("--b--\n")
	for name, c := range map[string]struct {
		raw     string
		refused bool
		body    string
		files   int
		left    int
	}{
		"deep parts":       {raw: deep.String()},
		"many parts":       {raw: many.String(), files: mailbox.AttachmentsMost, left: 2900},
		"wrong base64":     {raw: "Content-Transfer-Encoding: base64\n\n!!!!\n", body: ""},
		"headers of 10 MB": {raw: "Subject: " + strings.Repeat("x", 10<<20) + "\n\nbody\n", refused: true},
		"a text of 10 MB":  {raw: "Subject: x\n\n" + strings.Repeat("y", 10<<20), refused: true},
		"no such charset": {
			raw: "Content-Type: text/plain; charset=x-nothing\n\nplain \xff\n", body: "plain \uFFFD",
		},
		"a wrong media type":    {raw: "Content-Type: ;;;=\n\nplain\n", body: "plain"},
		"an unfinished word":    {raw: "Subject: =?UTF-8?B?####?=\n\nplain\n", body: "plain"},
		"characters of control": {raw: "Subject: a\n\nx\x1b[31my\x00z\n", body: "x[31myz"},
		"a long text": {
			raw: "Subject: a\n\n" + strings.Repeat("é", 30_000), body: strings.Repeat("é", 20_000),
		},
	} {
		s := gmailtest.New()
		s.Add("m", "t", c.raw)
		m, err := open(t, s).Message(t.Context(), "m", true)
		_, no := errors.AsType[*mirror.Refusal](err)
		if no != c.refused || !no && err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Body != c.body || len(m.Attachments) != c.files || m.Left != c.left {
			t.Errorf("%s: %.80q, %d files, %d left out", name, m.Body, len(m.Attachments), m.Left)
		}
	}
}

// A packed answer is read as far as its bound, whatever it holds.
func TestPackedAnswersBurstNothing(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	zeros := bytes.Repeat([]byte(" "), 1<<20)
	for range 256 {
		if _, err := w.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	t.Cleanup(at.Close)
	a := gmail.Open(at.URL, at.Client(), func(context.Context, string) (string, error) { return "x", nil })
	_, err := a.Message(t.Context(), "m", true)
	if _, refused := errors.AsType[*mirror.Refusal](err); !refused {
		t.Errorf("256 MB of blanks: %v", err)
	}
}

// What the server answers is not believed either.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing":        ``,
		"another kind":   `[1,2]`,
		"nested":         `{"payload":` + strings.Repeat(`{"parts":[`, 20_000) + strings.Repeat(`]}`, 20_000) + `}`,
		"damaged base64": `{"id":"m","payload":{"mimeType":"text/plain","body":{"data":"*"}}}`,
		"impossible size": `{"id":"m","internalDate":"99999999999999999999","payload":{"filename":"f","partId":"1",` +
			`"body":{"size":-5}}}`,
		"many labels": `{"id":"m","labelIds":["` + strings.Repeat(`L","`, 5000) + `"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(answer))
			}))
			t.Cleanup(at.Close)
			a := gmail.Open(at.URL, at.Client(), func(context.Context, string) (string, error) { return "x", nil })
			m, err := a.Message(t.Context(), "m", true)
			if len(m.Labels) > 50 || len(m.Attachments) > 0 && m.Attachments[0].Size != 0 || m.Received.Year() > 9999 {
				t.Errorf("%+v, %v", m, err)
			}
			if name == "damaged base64" && !strings.Contains(m.Body, "damaged") {
				t.Errorf("%q", m.Body)
			}
		})
	}
}

func TestTroubleAtGmail(t *testing.T) {
	t.Parallel()
	busy := resttest.Fault{
		Status: 429, Body: `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Too many"}}`, After: 60,
		Method: "GET",
	}
	limited := resttest.Fault{
		Status: 403, Body: `{"error":{"errors":[{"reason":"userRateLimitExceeded"}],"message":"slow down"}}`,
		Method: "GET",
	}
	broken := resttest.Fault{Status: 503, Body: "oops", Method: "GET"}
	for name, c := range map[string]struct {
		faults []resttest.Fault
		later  bool
		status int
	}{
		"busy for long":     {faults: []resttest.Fault{busy}, later: true, status: 429},
		"busy for a moment": {faults: []resttest.Fault{limited}},
		"away for a moment": {faults: []resttest.Fault{broken, {Half: true, Method: "GET"}}},
		"away":              {faults: []resttest.Fault{broken, broken, broken}, later: true, status: 503},
		"no leave": {
			faults: []resttest.Fault{
				{Status: 403, Body: `{"error":{"errors":[{"reason":"insufficientPermissions"}],` +
					`"message":"no"}}`, Method: "GET"},
			}, status: 403,
		},
	} {
		s := gmailtest.New()
		s.Add("m", "t", "Subject: x\n\nbody\n")
		a := open(t, s)
		if _, err := a.Whose(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.Faults.Add(c.faults...)
		_, err := a.Message(t.Context(), "m", false)
		_, later := errors.AsType[*mirror.Later](err)
		answer, _ := errors.AsType[*rest.AnswerError](err)
		if later != c.later || (err != nil) != (c.status != 0) ||
			c.status != 0 && (answer == nil || answer.Status != c.status) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysEnd(t *testing.T) {
	t.Parallel()
	s := gmailtest.New()
	s.Add("m", "t", "Subject: x\n\nbody\n")
	kept := 0
	a := source(t, s, "key", func(mirror.Secret) { kept++ }).(*gmail.Account)
	for range 2 {
		if who, err := a.Whose(t.Context()); err != nil || who != gmailtest.Address {
			t.Fatal(who, err)
		}
	}
	s.Expire()
	if _, err := a.Message(t.Context(), "m", false); err != nil || kept != 2 {
		t.Errorf("after an hour: %v, renewed %d times", err, kept)
	}
	s.Revoke()
	if _, err := a.Message(t.Context(), "m", false); !errors.Is(err, mirror.ErrSignIn) ||
		!strings.Contains(err.Error(), "seven days") {
		t.Errorf("taken back: %v", err)
	}
	if _, err := a.Calendars(t.Context()); !errors.Is(err, mirror.ErrSignIn) {
		t.Errorf("taken back: %v", err)
	}
}

// A key that was granted for less than mail is none.
func TestLessIsNotEnough(t *testing.T) {
	t.Parallel()
	s := gmailtest.New()
	at := httptest.NewServer(s.Handler())
	t.Cleanup(at.Close)
	client := gmail.Client("id", "secret", at.Client(), time.Now)
	client.TokenURL = at.URL + "/token"
	if _, err := client.Exchange(t.Context(), "http://localhost:5234", "code", "verifier"); err != nil {
		t.Error(err)
	}
	s.Grant("key", "https://www.googleapis.com/auth/calendar.events")
	if _, err := client.Exchange(t.Context(), "http://localhost:5234", "code", "verifier"); err == nil ||
		!strings.Contains(err.Error(), "gmail.readonly") {
		t.Errorf("a key for calendars: %v", err)
	}
	if address := client.Address("http://localhost:5234", "s", "v"); strings.Contains(
		address, "include_granted_scopes",
	) || !strings.Contains(address, "gmail.readonly") || strings.Contains(address, "calendar") {
		t.Error(address)
	}
}
