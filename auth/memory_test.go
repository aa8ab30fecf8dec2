package auth

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
)

func small() *memory {
	return newMemory(Limits{RememberWrong: time.Minute, Credentials: 3})
}

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func rightOne() verdict {
	return verdict{right: true, caller: calendar.Caller{User: calendar.User{Name: "alice"}}}
}

func TestMemoryRecalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		verdict    verdict
		generation int64
		after      time.Duration
		want       bool
	}{
		{"a right one", rightOne(), 7, 1000 * time.Hour, true},
		{"a wrong one", verdict{}, 7, time.Minute - 1, true},
		{"a wrong one, too old", verdict{}, 7, time.Minute, false},
		{"a right one of a past generation", rightOne(), 8, 0, false},
		{"a wrong one of a past generation", verdict{}, 8, 0, false},
		{"a right one after a restored backup", rightOne(), 6, 0, false},
	} {
		m := small()
		d := m.digest("password", "alice", "correct horse")
		m.remember(d, 7, noon(), c.verdict)
		got, ok := m.recall(d, c.generation, noon().Add(c.after))
		if ok != c.want || (ok && !cmp.Equal(got.caller, c.verdict.caller)) {
			t.Errorf("%s: %+v, %v; want recalled: %v", c.name, got, ok, c.want)
		}
	}
}

// What was looked up before a revocation must not be remembered as good after it, and one user's change is nobody
// else's.
func TestMemoryKeepsNothingOfAPastGeneration(t *testing.T) {
	t.Parallel()
	m := small()
	d, others := m.digest("token", "x"), m.digest("token", "y")
	m.remember(d, 7, noon(), rightOne())
	m.remember(others, 3, noon(), rightOne())
	if _, ok := m.recall(d, 8, noon()); ok {
		t.Error("a verdict of generation 7 counts in generation 8")
	}
	if _, ok := m.recall(d, 7, noon()); ok {
		t.Error("what was refused once came back")
	}
	if _, ok := m.recall(others, 3, noon()); !ok {
		t.Error("somebody else's verdict is gone")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	m := small()
	good := m.digest("password", "alice", "correct horse")
	m.recall(good, 7, noon())
	m.remember(good, 7, noon(), rightOne())
	for i := range 1000 {
		m.remember(m.digest("password", "alice", fmt.Sprint(i)), 7, noon(), verdict{})
	}
	if m.wrong.len() != 3 {
		t.Errorf("%d wrong ones are remembered, want 3", m.wrong.len())
	}
	if _, ok := m.recall(good, 7, noon()); !ok {
		t.Error("a flood of wrong ones pushed the right one out")
	}
	for i := range 1000 {
		m.remember(m.digest("token", fmt.Sprint(i)), 7, noon(), rightOne())
	}
	if m.right.len() != 3 || m.known.len() != 3 {
		t.Errorf("%d right, %d known; want 3 of each", m.right.len(), m.known.len())
	}
}

func TestMemoryKnowsWhatWasRight(t *testing.T) {
	t.Parallel()
	m := small()
	d := m.digest("password", "alice", "correct horse")
	if m.knows(d) {
		t.Error("known before it was ever right")
	}
	m.remember(d, 7, noon(), rightOne())
	m.recall(d, 8, noon())
	if !m.knows(d) {
		t.Error("forgotten with the generation")
	}
	m.remember(d, 8, noon(), verdict{})
	if m.knows(d) {
		t.Error("still known after it was wrong")
	}
}

func TestDigestsDiffer(t *testing.T) {
	t.Parallel()
	m := small()
	seen := map[digest][]string{}
	for _, parts := range [][]string{
		{"password", "alice", "secret"},
		{"password", "alices", "ecret"},
		{"password", "", "alicesecret"},
		{"passwordalice", "secret"},
		{"token", "alice", "secret"},
		{"password", "alice", "secret", ""},
	} {
		d := m.digest(parts...)
		if other, ok := seen[d]; ok {
			t.Errorf("%q and %q have the same digest", parts, other)
		}
		seen[d] = parts
	}
	if m.digest("a") == small().digest("a") {
		t.Error("two processes have the same key")
	}
}
