package wire

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEndedSessionHasNoTwin: without padding, the last letter of base64 holds bits that mean nothing (security L6).
func TestEndedSessionHasNoTwin(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "ab", "abc"} {
		s := NewSessions([]byte("key"), time.Hour, func() time.Time { return noon }, func() string { return id })
		mine := Owner{User: "alice", Token: "t"}
		given := s.Begin(mine, "2025-11-25")
		s.end(given)
		text, seal, _ := strings.Cut(string(given), ".")
		for _, letter := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			twin := SessionID(text[:len(text)-1] + string(letter) + "." + seal)
			if _, ok := s.resume(mine, twin); ok {
				t.Errorf("%s was given up and goes on as %s", given, twin)
			}
		}
	}
}

// TestSessionOfADroppedVersion: a session that an older release opened in a version that we no longer speak has ended,
// so that its client agrees on another one.
func TestSessionOfADroppedVersion(t *testing.T) {
	t.Parallel()
	s := NewSessions([]byte("key"), time.Hour, func() time.Time { return noon }, func() string { return "id" })
	mine := Owner{User: "alice", Token: "t"}
	for version, want := range map[Version]bool{"2024-11-05": false, FirstVersion: true, lastWithSessions: true} {
		if _, ok := s.resume(mine, s.Begin(mine, version)); ok != want {
			t.Errorf("%s: resumed %t, want %t", version, ok, want)
		}
	}
}

// TestSessionsForgetTheOldest gives up more sessions than are remembered.
func TestSessionsForgetTheOldest(t *testing.T) {
	t.Parallel()
	s := NewSessions([]byte("key"), time.Hour, func() time.Time { return noon }, func() string { return "id" })
	for i := range maxEnded + 2 {
		s.end(SessionID(fmt.Sprint(i)))
		s.end(SessionID(fmt.Sprint(i)))
	}
	if len(s.ended) != maxEnded || len(s.ring) != maxEnded {
		t.Errorf("%d and %d are remembered, want %d", len(s.ended), len(s.ring), maxEnded)
	}
	for id, want := range map[SessionID]bool{
		"0": false, "1": false, "2": true,
		SessionID(fmt.Sprint(maxEnded + 1)): true,
	} {
		if got := s.hasEnded(id); got != want {
			t.Errorf("%s has ended: %t, want %t", id, got, want)
		}
	}
}
