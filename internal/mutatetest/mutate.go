// Package mutatetest mutates valid texts, for tests of parsers of untrusted input.
package mutatetest

import (
	"bytes"
	"math/rand/v2"
	"slices"
)

// Mutate returns a mutated copy of a text: it drops, repeats and changes parts, and inserts words.
func Mutate(r *rand.Rand, text []byte, words []string) []byte {
	text = bytes.Clone(text)
	for range 1 + r.IntN(6) {
		at := r.IntN(len(text) + 1)
		end := min(len(text), at+r.IntN(80))
		switch r.IntN(5) {
		case 0:
			text = append(text[:at:at], text[end:]...)
		case 1:
			text = append(text[:at:at], append([]byte(words[r.IntN(len(words))]), text[at:]...)...)
		case 2:
			text = append(text[:at:at], append([]byte(words[r.IntN(len(words))]), text[end:]...)...)
		case 3:
			text = append(text[:end:end], text[at:]...)
		case 4:
			if at < len(text) {
				text[at] = byte(r.IntN(256))
			}
		}
	}
	return text
}

// Lines mutates a text by whole lines: it drops, repeats and swaps some, and inserts others. Such texts are valid more
// often and so reach deeper code.
func Lines(r *rand.Rand, text []byte, others []string) []byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for range 1 + r.IntN(3) {
		at := r.IntN(len(lines))
		other := []byte(others[r.IntN(len(others))])
		switch r.IntN(4) {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines = slices.Insert(lines, at, lines[r.IntN(len(lines))])
		case 2:
			lines = slices.Insert(lines, at, other)
		case 3:
			lines[at] = other
		}
		if len(lines) == 0 {
			return nil
		}
	}
	return bytes.Join(lines, nil)
}
