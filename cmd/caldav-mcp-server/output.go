package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// printJSON prints a value as JSON, indented for people.
func (c *console) printJSON(value any) error {
	encoder := json.NewEncoder(c.stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// shown makes foreign text safe for a terminal: it must not move the cursor.
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

// shownTime is a time in a table; "" for never.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// jsonTime is a time in JSON; null for never.
func jsonTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}
