package ical

import (
	"fmt"
	"strings"
)

// Kind sorts the errors of this package by what a caller answers to them.
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

// SyntaxError tells what is wrong with a text, and where.
type SyntaxError struct {
	Line     int    // the first physical line, from 1; 0 when there is none
	Property string // the upper-case name, cut when it is long; empty when it is not known
	Kind     Kind
	Msg      string
}

// Error says it in one sentence.
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

// failAt is an error of a line, 0 for that of the whole text.
func failAt(line int, kind Kind, msg string) error {
	return &SyntaxError{Line: line, Kind: kind, Msg: msg}
}

// excerptMax is how much of a stranger's text an error repeats.
const excerptMax = 40

// excerpt quotes the beginning of a stranger's text for an error.
func excerpt(s string) string {
	if len(s) <= excerptMax {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:excerptMax], ""))
}

// shortName is a stranger's name for an error, which nothing keeps from being
// as long as a line may be.
func shortName(name string) string {
	if len(name) <= excerptMax {
		return name
	}
	return strings.ToValidUTF8(name[:excerptMax], "") + "…"
}
