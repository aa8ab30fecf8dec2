package housetest

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"caldav-mcp-server/calendar"
)

// explained is a store that fails a test if a stored message names a zone without its VTIMEZONE (RFC 5545 §3.2.19).
type explained struct {
	calendar.Store
	t testing.TB
}

// Update implements [calendar.Store].
func (e explained) Update(ctx context.Context, do func(calendar.Tx) error) error {
	return e.Store.Update(ctx, func(tx calendar.Tx) error { return do(explaining{tx, e.t}) })
}

type explaining struct {
	calendar.Tx
	t testing.TB
}

// PutInboxItems implements [calendar.Tx].
func (e explaining) PutInboxItems(ctx context.Context, items []calendar.InboxEntry) error {
	for _, item := range items {
		WantZones(e.t, string(item.Data))
	}
	return e.Tx.PutInboxItems(ctx, items)
}

// Post implements [calendar.Tx].
func (e explaining) Post(ctx context.Context, user calendar.UserID, letters []calendar.Letter,
	most calendar.OutboxLimits,
) error {
	for _, l := range letters {
		WantZones(e.t, string(l.Data))
	}
	return e.Tx.Post(ctx, user, letters, most)
}

var (
	unfold      = strings.NewReplacer("\r\n ", "", "\r\n\t", "", "\n ", "", "\n\t", "")
	definitions = regexp.MustCompile(`(?s)BEGIN:VTIMEZONE\r?\n.*?END:VTIMEZONE\r?\n`)
	definedName = regexp.MustCompile(`(?m)^TZID:(.*?)\r?$`)
	usedName    = regexp.MustCompile(`(?m)^[A-Z0-9-]+;(?:[^:"\r\n]*;)?TZID=("[^"]*"|[^:;"\r\n]*)`)
)

// WantZones fails a test unless a text has exactly one VTIMEZONE for each zone that it names.
func WantZones(t testing.TB, text string) {
	t.Helper()
	if text = unfold.Replace(text); !strings.Contains(text, "TZID") {
		return
	}
	var defined []string
	for _, z := range definitions.FindAllString(text, -1) {
		if name := definedName.FindStringSubmatch(z); name != nil {
			defined = append(defined, strings.ReplaceAll(name[1], `\,`, ","))
		}
	}
	for _, used := range usedName.FindAllStringSubmatch(definitions.ReplaceAllString(text, ""), -1) {
		if name := strings.Trim(used[1], `"`); !slices.Contains(defined, name) {
			t.Errorf("no VTIMEZONE says what %q is in\n%s", name, text)
		}
	}
	slices.Sort(defined)
	if len(slices.Compact(slices.Clone(defined))) < len(defined) {
		t.Errorf("a zone is defined twice: %q", defined)
	}
}
