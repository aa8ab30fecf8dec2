package mcp

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var noonOfTest = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestEndedSessionHasNoTwin: without padding, the last letter of base64 holds bits that mean nothing (security L6).
func TestEndedSessionHasNoTwin(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "ab", "abc"} {
		s := newSessions([]byte("key"), time.Hour, func() time.Time { return noonOfTest }, func() string { return id })
		mine := owner{user: "alice", token: "t"}
		given := s.begin(mine, "2025-11-25")
		s.end(given)
		text, seal, _ := strings.Cut(string(given), ".")
		for _, letter := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			twin := sessionID(text[:len(text)-1] + string(letter) + "." + seal)
			if _, ok := s.resume(mine, twin); ok {
				t.Errorf("%s was given up and goes on as %s", given, twin)
			}
		}
	}
}

// TestSessionsForgetTheOldest gives up more sessions than are remembered.
func TestSessionsForgetTheOldest(t *testing.T) {
	t.Parallel()
	s := newSessions([]byte("key"), time.Hour, func() time.Time { return noonOfTest }, func() string { return "id" })
	for i := range maxEnded + 2 {
		s.end(sessionID(fmt.Sprint(i)))
		s.end(sessionID(fmt.Sprint(i)))
	}
	if len(s.ended) != maxEnded || len(s.ring) != maxEnded {
		t.Errorf("%d and %d are remembered, want %d", len(s.ended), len(s.ring), maxEnded)
	}
	for id, want := range map[sessionID]bool{"0": false, "1": false, "2": true, sessionID(fmt.Sprint(maxEnded + 1)): true} {
		if got := s.hasEnded(id); got != want {
			t.Errorf("%s has ended: %t, want %t", id, got, want)
		}
	}
}
