package content_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar/content"
)

// version is an event with the given lines.
func version(lines ...string) []byte {
	return []byte("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:a\r\n" +
		strings.Join(lines, "\r\n") + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
}

func linesIn(data []byte) []string {
	lines := strings.Split(strings.TrimSpace(string(data)), "\r\n")
	slices.Sort(lines)
	return lines
}

// TestRebase: two versions of the same event are combined.
func TestRebase(t *testing.T) {
	t.Parallel()
	const start, end, later = "DTSTART:20260503T080000Z", "DTEND:20260503T090000Z", "DTSTART:20260503T100000Z"
	const asked, yes = "ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:b@x", "ATTENDEE;PARTSTAT=ACCEPTED:mailto:b@x"
	const alarm = "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT5M\r\nEND:VALARM"
	override := func(title string) string {
		return "END:VEVENT\r\nBEGIN:VEVENT\r\nUID:a\r\nRECURRENCE-ID:20260504T080000Z\r\nSUMMARY:" + title
	}
	for name, c := range map[string]struct {
		before, after, now, want []string
		both                     []string
	}{
		"different properties": {
			[]string{start, "SUMMARY:A"},
			[]string{later, "SUMMARY:A"},
			[]string{start, "SUMMARY:B"},
			[]string{later, "SUMMARY:B"},
			nil,
		},
		"the same property": {
			[]string{start, "SUMMARY:A"},
			[]string{start, "SUMMARY:B"},
			[]string{start, "SUMMARY:C"},
			[]string{start, "SUMMARY:B"},
			[]string{"SUMMARY"},
		},
		"start and end are one": {
			[]string{start, end},
			[]string{later, end},
			[]string{start, "DURATION:PT3H"},
			[]string{later, end},
			[]string{"DTSTART"},
		},
		"an answer came": {
			[]string{start, asked}, []string{later, asked}, []string{start, yes}, []string{later, yes}, nil,
		},
		"an answer came to an attendee that changed": {
			[]string{start, asked},
			[]string{start, "ATTENDEE;ROLE=OPT-PARTICIPANT:mailto:b@x"},
			[]string{start, yes},
			[]string{start, yes},
			[]string{"ATTENDEE"},
		},
		"attendees are added on both sides": {
			[]string{start, asked},
			[]string{start, asked, "ATTENDEE:mailto:c@x"},
			[]string{start, yes, "ATTENDEE:mailto:d@x"},
			[]string{start, yes, "ATTENDEE:mailto:d@x", "ATTENDEE:mailto:c@x"},
			nil,
		},
		"days are excluded on both sides": {
			[]string{start, "EXDATE:1"},
			[]string{start, "EXDATE:1", "EXDATE:2"},
			[]string{start, "EXDATE:1", "EXDATE:3"},
			[]string{start, "EXDATE:1", "EXDATE:3", "EXDATE:2"},
			nil,
		},
		"an alarm is added, an instance changed": {
			[]string{start},
			[]string{start, alarm},
			[]string{start, override("B")},
			[]string{start, alarm, override("B")},
			nil,
		},
		"an instance changes that is gone": {
			[]string{start, override("A")},
			[]string{start, override("B")},
			[]string{start},
			[]string{start, override("B")},
			[]string{"VEVENT"},
		},
		"nothing was changed meanwhile": {
			[]string{start, override("A"), alarm},
			[]string{later, override("B")},
			[]string{start, override("A"), alarm},
			[]string{later, override("B")},
			nil,
		},
	} {
		got, both, err := content.Rebase(version(c.before...), version(c.after...), version(c.now...))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(linesIn(version(c.want...)), linesIn(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff(c.both, both); diff != "" {
			t.Errorf("%s, both (-want +got):\n%s", name, diff)
		}
	}
}

// TestRebaseAgainstSets compares the result with a model: each property is a variable.
func TestRebaseAgainstSets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	names := []string{"SUMMARY", "LOCATION", "X-A", "PRIORITY", "URL"}
	versionOf := func(of map[string]int) []byte {
		var lines []string
		for _, name := range names {
			if of[name] > 0 {
				lines = append(lines, fmt.Sprintf("%s:%d", name, of[name]))
			}
		}
		return version(append(lines, "DTSTART:20260503T080000Z")...)
	}
	for range 5000 {
		before, after, now, want := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
		var both []string
		for _, name := range names {
			b, a, n := random.IntN(3), random.IntN(3), random.IntN(3)
			before[name], after[name], now[name], want[name] = b, a, n, n
			if a != b {
				want[name] = a
			}
			if a != b && n != b && a != n {
				both = append(both, name)
			}
		}
		slices.Sort(both)
		got, said, err := content.Rebase(versionOf(before), versionOf(after), versionOf(now))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(linesIn(versionOf(want)), linesIn(got)); diff != "" {
			t.Fatalf("%v %v %v (-want +got):\n%s", before, after, now, diff)
		}
		if !slices.Equal(both, said) {
			t.Fatalf("%v %v %v: both %q, want %q", before, after, now, said, both)
		}
	}
}
