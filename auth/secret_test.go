package auth

import (
	"bytes"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

func TestSecretReadsBack(t *testing.T) {
	t.Parallel()
	seen := map[Secret]bool{}
	for range 100 {
		id, half, text := newSecret()
		gotID, gotHalf, ok := parseSecret(string(text))
		if !ok || gotID != id || gotHalf != half {
			t.Fatalf("%q reads back as %q, %v; want %q", text, gotID, ok, id)
		}
		if !regexp.MustCompile(`^mcp_[A-Za-z0-9_-]{64}$`).MatchString(string(text)) || len(half) != 32 {
			t.Errorf("token %q, %d secret bytes", text, len(half))
		}
		if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(string(id)) {
			t.Errorf("id %q", id)
		}
		if seen[text] {
			t.Fatalf("%q came twice", text)
		}
		seen[text] = true
	}
}

func TestParseSecretRefuses(t *testing.T) {
	t.Parallel()
	_, _, token := newSecret()
	good := string(token)
	for name, text := range map[string]string{
		"nothing":             "",
		"the prefix alone":    "mcp_",
		"no prefix":           good[4:],
		"another prefix":      "MCP_" + good[4:],
		"too short":           good[:67],
		"too long":            good + "A",
		"padding":             good[:66] + "==",
		"the other alphabet":  good[:67] + "+",
		"a space in it":       good[:30] + " " + good[31:],
		"a line break in it":  good[:30] + "\n" + good[31:],
		"a line break behind": good + "\n",
		"very long":           good + strings.Repeat("A", 1<<20),
	} {
		if _, _, ok := parseSecret(text); ok {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestSecretStaysOutOfTheLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	_, _, token := newSecret()
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "token", token)
	if strings.Contains(log.String(), string(token)[4:]) || !strings.Contains(log.String(), "[secret]") {
		t.Errorf("the log says %q", log.String())
	}
}

func TestNewPassword(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[a-z2-7]{5}(-[a-z2-7]{5}){3}$`)
	one, two := NewPassword(), NewPassword()
	if !form.MatchString(one) || validatePassword(one) != nil {
		t.Errorf("%q is no good", one)
	}
	if one == two {
		t.Errorf("%q came twice", one)
	}
}
