package letter_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"mime"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-message"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

var update = flag.Bool("update", false, "write what is composed to testdata")

func post() letter.Post {
	return letter.Post{From: "calendar@example.org", Domains: []string{"example.org"}}
}

// envelope is that of a message from alice to a guest.
func envelope(t *testing.T, data string, told ...string) letter.Envelope {
	t.Helper()
	l := func(data string) calendar.Letter {
		return calendar.Letter{
			ID: "1", From: "alice@example.org", To: "guest@example.com", Method: methodOf(data), UID: "u",
			Recurrence: recurrenceOf(data),
			Posted:     time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
			Data:       []byte(strings.ReplaceAll(data, "\n", "\r\n")),
		}
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	e := letter.Envelope{
		Language: locale.Match(),
		Letter:   l(data), Sender: "Alice Example", Zone: berlin, ID: "1.mac@example.org", Thread: "t.mac@example.org",
	}
	if e.Method == calendar.MethodRequest {
		e.Answer = "https://calendar.example.org/answer/TOKEN"
	}
	for _, data := range told {
		e.Told = append(e.Told, l(data))
	}
	return e
}

func methodOf(data string) calendar.Method {
	_, rest, _ := strings.Cut(data, "METHOD:")
	method, _, _ := strings.Cut(rest, "\n")
	return calendar.Method(method)
}

func recurrenceOf(data string) string {
	for line := range strings.Lines(data) {
		if strings.HasPrefix(line, "RECURRENCE-ID") && !strings.Contains(data, "RRULE") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// parts are the leaves of a mail, by their type.
func parts(t *testing.T, data []byte) (header mail.Header, kinds []string, bodies map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	entity, err := message.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	bodies = map[string]string{}
	err = entity.Walk(func(path []int, part *message.Entity, err error) error {
		kind, params, _ := part.Header.ContentType()
		delete(params, "boundary")
		kinds = append(kinds,
			fmt.Sprint(path, " ", mime.FormatMediaType(kind, params), " ", part.Header.Get("Content-Disposition")))
		if strings.HasPrefix(kind, "multipart/") {
			return err
		}
		body, failed := io.ReadAll(part.Body)
		bodies[kind] = string(body)
		if err == nil {
			err = failed
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m.Header, kinds, bodies
}

// TestLetters: each file has a message, what its recipient was told before, and what they read.
func TestLetters(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no letters", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var message, want, language string
			var told []string
			for _, f := range archive.Files {
				switch f.Name {
				case "message":
					message = string(f.Data)
				case "told":
					told = append(told, string(f.Data))
				case "language":
					language = strings.TrimSpace(string(f.Data))
				case "mail":
					want = string(f.Data)
				}
			}
			e := envelope(t, message, told...)
			e.Language = locale.Match(language)
			m, err := post().Compose(e)
			if err != nil {
				t.Fatal(err)
			}
			header, _, bodies := parts(t, m.Data)
			if got := bodies["text/calendar"]; got != strings.ReplaceAll(message, "\n", "\r\n") ||
				got != bodies["application/ics"] {
				t.Errorf("the calendar file is not the message, but:\n%s", got)
			}
			subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
			if err != nil {
				t.Error(err)
			}
			got := fmt.Sprintf("Subject: %s\n\n%s\n%s", subject, strings.ReplaceAll(bodies["text/plain"], "\r\n", "\n"),
				strings.ReplaceAll(bodies["text/html"], "\r\n", "\n"))
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "mail" })
				archive.Files = append(archive.Files, txtar.File{Name: "mail", Data: []byte(got)})
				if err := os.WriteFile(name, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

const invitation = `BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//caldav-mcp-server//EN
METHOD:REQUEST
BEGIN:VEVENT
UID:u
DTSTAMP:20260301T120000Z
DTSTART;TZID=Europe/Berlin:20260310T100000
DTEND;TZID=Europe/Berlin:20260310T110000
SUMMARY:@SUM
LOCATION:@LOC
ORGANIZER;CN=@ORG:mailto:alice@example.org
ATTENDEE;CN=@ATT;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:guest@example.com
END:VEVENT
END:VCALENDAR
`

// TestStructure: what mail programs look for is where they look.
func TestStructure(t *testing.T) {
	t.Parallel()
	m, err := post().Compose(envelope(t, invitation))
	if err != nil {
		t.Fatal(err)
	}
	header, kinds, _ := parts(t, m.Data)
	want := []string{
		"[] multipart/mixed ",
		"[0] multipart/alternative ",
		"[0 0] text/plain; charset=utf-8 ",
		"[0 1] text/html; charset=utf-8 ",
		"[0 2] text/calendar; charset=utf-8; component=VEVENT; method=REQUEST ",
		`[1] application/ics; name=event.ics attachment; filename="event.ics"`,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"From": `"Alice Example" <alice@example.org>`, "To": `"@ATT" <guest@example.com>`, "Reply-To": "",
		"Subject": "Invitation: @SUM",
		"Date":    "Sun, 01 Mar 2026 12:00:00 +0000", "Message-Id": "<1.mac@example.org>",
		"References":     "<t.mac@example.org>",
		"Auto-Submitted": "auto-generated", "Mime-Version": "1.0",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	again, err := post().Compose(envelope(t, invitation))
	if err != nil || !bytes.Equal(again.Data, m.Data) {
		t.Error("the second time it is another mail", err)
	}
}

// TestFromElsewhere: the relay may not sign for everybody's domain.
func TestFromElsewhere(t *testing.T) {
	t.Parallel()
	e := envelope(t, invitation)
	e.From = "alice@gmail.example"
	m, err := post().Compose(e)
	if err != nil {
		t.Fatal(err)
	}
	header, _, _ := parts(t, m.Data)
	if from, reply := header.Get("From"), header.Get("Reply-To"); from !=
		`"Alice Example via Calendar" <calendar@example.org>` || reply != `"Alice Example" <alice@gmail.example>` {
		t.Errorf("From %s, Reply-To %s", from, reply)
	}
}

// hostile are texts that would be more than text somewhere.
var hostile = []string{
	"a\\nBcc: victim@example.net", "x\u2028Bcc: v@example.net", "=?utf-8?q?a=0D=0ABcc:_v@example.net?=",
	"<script>alert(1)</script>",
	`"><img src=x onerror=alert(1)>`, "\u202egnp.exe", strings.Repeat("long", 500), strings.Repeat("ü", 3000),
	"{{.Organizer}}", ".\\n.\\nQUIT",
	`"quoted" <evil@example.net>, other@example.net`, "--=_m\\n\\nContent-Type: text/html", "ends with \\\\",
	strings.Repeat("日本語", 80),
}

// TestHostileTexts: whatever people write into an event, it begins no field, no part and no line too long, and is no
// markup.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for i, text := range hostile {
		param := strings.NewReplacer(`"`, "^'", "\\n", "^n", "\n", "^n").Replace(text)
		data := strings.NewReplacer("@SUM", text, "@LOC", text, "CN=@ORG", `CN="`+param+`"`, "CN=@ATT",
			`CN="`+param+`"`).Replace(invitation)
		e := envelope(t, data)
		e.Sender = text
		m, err := post().Compose(e)
		if err != nil {
			t.Errorf("%d: %v", i, err)
			continue
		}
		for line := range strings.SplitSeq(string(m.Data), "\r\n") {
			if len(line) > 78 || strings.ContainsAny(line, "\r\n\x00") {
				t.Errorf("%d: a line of %d bytes: %.100q", i, len(line), line)
			}
		}
		header, kinds, bodies := parts(t, m.Data)
		if len(kinds) != 6 || len(header) != 10 {
			t.Errorf("%d: %d parts and %d fields: %v", i, len(kinds), len(header), header)
		}
		for _, name := range []string{"From", "To"} {
			if list, err := header.AddressList(name); err != nil || len(list) != 1 {
				t.Errorf("%d: %s: %v %v", i, name, list, err)
			}
		}
		if strings.Contains(bodies["text/html"], "<script") || strings.Contains(bodies["text/html"], "<img") {
			t.Errorf("%d: markup of a stranger's", i)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		"mailto:alice@example.org": "alice@example.org", "MAILTO:Alice@Example.ORG": "alice@example.org",
		"alice@example.org":                          "alice@example.org",
		"mailto:alice%2Bx%40example.org":             "alice+x@example.org",
		"mailto:Alice%20A%20%3Calice@example.org%3E": "alice@example.org",
		"mailto:alice@example.org?subject=x":         "alice@example.org",
		"mailto:müller@example.org":                  "müller@example.org",
		"mailto:":                                    "", "urn:uuid:1": "", "mailto:a@b@c": "",
		"mailto:a%0d%0ab@example.org": "",
		"mailto:a b@example.org":      "", "mailto:a@example.org,b@example.org": "",
		"mailto:-oProxy@example.org": "", "mailto:a@.org": "", "mailto:a@[127.0.0.1]": "",
		"mailto:" + strings.Repeat("a", 300) + "@example.org": "",
	} {
		got, err := letter.Address(written)
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q (%v), want %q", written, got, err, want)
		}
	}
}
