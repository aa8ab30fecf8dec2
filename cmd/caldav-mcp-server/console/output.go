package console

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// PrintJSON prints a value as JSON, indented for people.
func (c *Console) PrintJSON(value any) error {
	encoder := json.NewEncoder(c.Stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}

// Shown makes foreign text safe for a terminal: it must not move the cursor.
func Shown(text string) string {
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

// ShownTime is a time in a table; "" for never.
func ShownTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04Z")
}

// JSONTime is a time in JSON; null for never.
func JSONTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}
