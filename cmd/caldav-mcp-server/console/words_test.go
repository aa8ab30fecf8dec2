package console

import (
	"testing"
	"time"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"create-user", "create-token", "list-users", "list-tokens", "serve", "version"}
	for word, want := range map[string]string{
		"crate-user": "create-user", "create-usre": "create-user", "createtoken": "create-token",
		"list-user": "list-users",
		"srve":      "serve", "Version": "version", "x": "", "kubectl": "", "": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: offered %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "xbc", 1}, {
		"kitten", "sitting", 3,
	}} {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q to %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

// TestParseExpiry: what ends is in the time to come (clients F11).
func TestParseExpiry(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for word, want := range map[string]time.Time{
		"":           {},
		"12h":        now.Add(12 * time.Hour),
		"90d":        time.Date(2026, 5, 30, 12, 0, 0, 0, time.UTC),
		"2w":         time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC),
		"99999w":     now.AddDate(0, 0, 99999*7),
		"2027-01-31": time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := ParseExpiry(word, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: got %s, %v, want %s", word, got, err, want)
		}
	}
	for _, bad := range []string{"90", "d", "-1d", "1y", "tomorrow", "2027-02-30", "0d", "00h", "1000000d", "90d "} {
		if got, err := ParseExpiry(bad, now); err == nil {
			t.Errorf("%q was read as %s", bad, got)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "-", "Wörk 📅": "Wörk 📅", "a\x1b[31mb": "a�[31mb", "a\u202eb": "a�b", "a\nb": "a�b",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
