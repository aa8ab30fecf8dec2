package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// mostStem leaves room, in the 255 bytes that a file's name has at most, for what comes behind it.
const mostStem = 240

// fileNames gives out the names of the files in a directory, no two of them alike. What clients tell
// apart, files may not: some systems take A for a, and one way to write ü for the other.
type fileNames map[string]int

// object returns the name for an object's file, which ends in .ics.
func (n fileNames) object(word string) string {
	if ext := filepath.Ext(word); strings.EqualFold(ext, ".ics") {
		return n.claim(strings.TrimSuffix(word, ext), ext)
	}
	return n.claim(word, ".ics")
}

// claim returns the name for a file that is called after word. Should it be taken, it gets a number.
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

// sameFile is the same for names that some system takes for one.
func sameFile(name string) string { return strings.ToLower(norm.NFD.String(name)) }

// fileName makes a file's name of what clients call something: no way out of the directory, and
// nothing that another system's files cannot be called.
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
