package transfer

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// mostStem leaves room for a number and an extension within the limit of 255 bytes for a file name.
const mostStem = 240

// fileNames assigns unique names for the files in a directory. Names that differ for clients can be the same for file
// systems, which may ignore case or Unicode normalization.
type fileNames map[string]int

// object returns the name of an object's file, which ends in .ics.
func (n fileNames) object(word string) string {
	if ext := filepath.Ext(word); strings.EqualFold(ext, ".ics") {
		return n.claim(strings.TrimSuffix(word, ext), ext)
	}
	return n.claim(word, ".ics")
}

// claim returns a file name made from word, with a number if the name is taken.
func (n fileNames) claim(word, ext string) string {
	stem := fileName(word)
	if len(stem) > mostStem {
		stem = strings.ToValidUTF8(stem[:mostStem], "")
	}
	name := stem + ext
	first := sameFile(name)
	for n[sameFile(name)] > 0 {
		n[first]++
		name = fmt.Sprintf("%s%%%d%s", stem, n[first], ext)
	}
	n[sameFile(name)]++
	return name
}

// sameFile maps names to the same string if a file system could treat them as equal.
func sameFile(name string) string { return strings.ToLower(norm.NFD.String(name)) }

// fileName turns a client's name into a file name that stays in the directory and is valid on all systems.
func fileName(word string) string {
	var b strings.Builder
	for _, c := range []byte(word) {
		if c <= ' ' || c == 0x7f || strings.IndexByte(`/\:*?"<>|%`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	if word == "." || word == ".." || word == "" {
		return "_" + word
	}
	return b.String()
}
