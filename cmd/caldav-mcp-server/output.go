package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// asJSON adds the flag that a script gives.
func asJSON(flags *flag.FlagSet, to *bool) {
	flags.BoolVar(to, "json", false, "print JSON for a program to read")
}

// printJSON prints a value, indented: people look at it too.
func (p *program) printJSON(value any) error {
	encoder := json.NewEncoder(p.stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// done tells what was done: a person in a line, a script in JSON.
func (p *program) done(json bool, value any, format string, args ...any) error {
	if json {
		return p.printJSON(value)
	}
	_, err := fmt.Fprintf(p.stdout, format, args...)
	return err
}

// shown makes a text fit for a terminal's table: what others wrote must not move the cursor.
func shown(text string) string {
	if text == "" {
		return "-"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '�'
		}
		return r
	}, text)
}

// shownTime is a time in a table, empty for never.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// jsonTime is a time in JSON: null for never.
func jsonTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}
