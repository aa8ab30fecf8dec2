package main

import (
	"strings"
	"testing"
)

func TestCodeOf(t *testing.T) {
	for line, want := range map[string]string{
		agreedAt + "/?code=c1&state=s1&scope=x\n": "",
		agreedAt + "?state=s1&code=c1":            "",
		agreedAt + "?state=s2&code=c1":            "another attempt",
		agreedAt + "?error=access_denied":         "did not agree",
		agreedAt + "?error=server_error&state=s1": "server_error",
		"c1\n": "no code in it",
		"":     "no address",
	} {
		code, err := codeOf(strings.NewReader(line), "s1")
		switch {
		case want == "" && (err != nil || code != "c1"):
			t.Errorf("%q: %q %v", line, code, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
