package dav

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestLegibleOfAnyBytes: looking at eight bytes at a time gives the same result as looking at each byte.
func TestLegibleOfAnyBytes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 2026))
	odd := []string{
		"\x00", "\x08", "\x0B", "\x1F", "\x7F", "\x80", "é", "\uFFFE", "\uFFFF", "\uFEFF", "\t", "\r\n", "\xEF",
		"\xEF\xBF",
	}
	for range 20_000 {
		data := bytes.Repeat([]byte("A"), random.IntN(40))
		for range random.IntN(3) {
			at := random.IntN(len(data) + 1)
			data = append(data[:at:at], append([]byte(odd[random.IntN(len(odd))]), data[at:]...)...)
		}
		want := bytes.IndexFunc(data, func(r rune) bool { return legibleRune(r) != r }) < 0
		if got := legible(data); got != want {
			t.Fatalf("%q: %v, want %v", data, got, want)
		}
	}
}
