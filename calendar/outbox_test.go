package calendar_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

// TestCoalesce: letters are written METHOD, METHOD@instance, with "!" for the first that the recipient hears
// and "~" for one that was tried.
func TestCoalesce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, waiting, next, left string }{
		{"nothing waits", "", "REQUEST!", "REQUEST!"},
		{"changed again", "REQUEST", "REQUEST", "REQUEST"},
		{"made and changed", "REQUEST!", "REQUEST", "REQUEST!"},
		{"made and taken back", "REQUEST!", "CANCEL", ""},
		{"made, tried and taken back", "REQUEST!~", "CANCEL", "CANCEL"},
		{"changed and taken back", "REQUEST", "CANCEL", "CANCEL"},
		{"deleted and made anew by a client", "CANCEL", "REQUEST", "REQUEST"},
		{"no longer invited, and invited anew", "CANCEL", "REQUEST!", "CANCEL REQUEST"},
		{"invited, not any more, and invited anew, before any mail", "REQUEST!", "REQUEST!", "REQUEST!"},
		{"taken back of one who was told nothing", "", "CANCEL!", ""},
		{"an instance, then the series", "REQUEST@1! REQUEST@2", "REQUEST", "REQUEST!"},
		{"the series, then an instance", "REQUEST!", "REQUEST@1", "REQUEST! REQUEST@1"},
		{"the series, then an instance called off", "REQUEST!", "CANCEL@1", "REQUEST! CANCEL@1"},
		{"an instance called off, then the series", "CANCEL@1", "REQUEST", "CANCEL@1 REQUEST"},
		{"an instance moved and called off", "REQUEST@1", "CANCEL@1", "CANCEL@1"},
		{"invited to an instance, and not", "REQUEST@1!", "CANCEL@1", ""},
		{"another instance", "REQUEST@1", "REQUEST@2", "REQUEST@1 REQUEST@2"},
		{"invited to two instances", "REQUEST@1!", "REQUEST@2!", "REQUEST@1! REQUEST@2!"},
		{"invited to two instances, and not to one of them", "REQUEST@1! REQUEST@2!", "CANCEL@2", "REQUEST@1!"},
		{"an instance in between, all called off", "REQUEST! CANCEL@1", "CANCEL", ""},
		{"all called off, but invited to an instance", "CANCEL", "REQUEST@1!", "CANCEL REQUEST@1"},
		{"answered anew", "REPLY", "REPLY", "REPLY"},
		{"answered for an instance", "REPLY", "REPLY@1", "REPLY REPLY@1"},
		{"an answer is no invitation", "REQUEST", "REPLY", "REQUEST REPLY"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			waiting := parseLetters(c.waiting)
			next := parseLetters(c.next)[0]
			next.ID = "next"
			posted, post, dropped := calendar.Coalesce(waiting, false, next)
			var left []string
			for _, l := range waiting {
				if !strings.Contains(fmt.Sprint(dropped), string(l.ID)) {
					left = append(left, formatLetter(l))
				}
			}
			if post {
				left = append(left, formatLetter(posted))
			}
			if diff := cmp.Diff(c.left, strings.Join(left, " ")); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		})
	}
}

func parseLetters(text string) []calendar.Letter {
	var all []calendar.Letter
	for i, word := range strings.Fields(text) {
		l := calendar.Letter{ID: calendar.LetterID(fmt.Sprintf("<%d>", i))}
		l.First = strings.Contains(word, "!")
		if strings.Contains(word, "~") {
			l.Tries = 1
		}
		method, instance, _ := strings.Cut(strings.Trim(word, "!~"), "@")
		l.Method, l.Recurrence = calendar.Method(method), strings.Trim(instance, "!~")
		all = append(all, l)
	}
	return all
}

func formatLetter(l calendar.Letter) string {
	text := string(l.Method)
	if l.Recurrence != "" {
		text += "@" + l.Recurrence
	}
	if l.First {
		text += "!"
	}
	return text
}

// TestCoalescedTimes: what is replaced again and again leaves in the end, and who could not be reached is not tried
// sooner because there is news.
func TestCoalescedTimes(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	wait := 30 * time.Second
	letter := calendar.Letter{ID: "0", Method: calendar.MethodRequest, Posted: start, Due: start.Add(wait)}
	for now := start; now.Before(start.Add(time.Hour)); now = now.Add(wait - time.Second) {
		next := calendar.Letter{Method: calendar.MethodRequest, Posted: now, Due: now.Add(wait)}
		letter, _, _ = calendar.Coalesce([]calendar.Letter{letter}, false, next)
	}
	if want := start.Add(calendar.LetterHeld); !letter.Due.Equal(want) || !letter.Posted.Equal(start) {
		t.Errorf("posted %v and due %v, want %v and %v", letter.Posted, letter.Due, start, want)
	}
	letter.Tries, letter.Due = 3, start.Add(2*time.Hour)
	next, _, _ := calendar.Coalesce([]calendar.Letter{letter}, false,
		calendar.Letter{Method: calendar.MethodRequest, Posted: start, Due: start})
	if !next.Due.Equal(letter.Due) {
		t.Errorf("after three vain tries the news is due %v, want %v", next.Due, letter.Due)
	}
}
