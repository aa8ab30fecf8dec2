package ical

import (
	"fmt"
	"strings"
)

// Kind classifies the errors of this package by the caller's response to them.
type Kind string

const (
	// KindSyntax is text that does not follow RFC 5545.
	KindSyntax Kind = "syntax"
	// KindEncoding is text that is not UTF-8, or holds NUL.
	KindEncoding Kind = "encoding"
	// KindValue is a property or parameter whose value is not of its type.
	KindValue Kind = "value"
	// KindLimit is text that is larger than the [Limits] allow.
	KindLimit Kind = "limit"
)

// SyntaxError describes a fault in a text and its place.
type SyntaxError struct {
	Line     int    // the first physical line, from 1; 0 when there is none
	Property string // the upper-case name, shortened if long; empty if unknown
	Kind     Kind
	Msg      string
}

// Error describes the fault in one sentence.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", e.Line)
	}
	if e.Property != "" {
		b.WriteString(e.Property + ": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// failAt returns an error at a line; 0 means the text as a whole.
func failAt(line int, kind Kind, msg string) error {
	return &SyntaxError{Line: line, Kind: kind, Msg: msg}
}

// excerptMax limits how much of the input an error quotes.
const excerptMax = 40

// excerpt quotes the beginning of the input for an error.
func excerpt(s string) string {
	if len(s) <= excerptMax {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:excerptMax], ""))
}

// shortName shortens a name in the input for an error: a name may be as long as a line.
func shortName(name string) string {
	if len(name) <= excerptMax {
		return name
	}
	return strings.ToValidUTF8(name[:excerptMax], "") + "…"
}
