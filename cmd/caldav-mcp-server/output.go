package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
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

// printTable prints rows in columns below their heads.
func (p *program) printTable(heads []string, rows [][]string) error {
	table := append([][]string{heads}, rows...)
	_, err := io.WriteString(p.stdout, columns(each(table, func(row []string) []string { return each(row, shown) })))
	return err
}

// columns lays rows out so that their cells stand below each other.
func columns(rows [][]string) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(table, strings.Join(row, "\t")+"\n") // a Builder takes everything
	}
	_ = table.Flush()
	return text.String()
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
