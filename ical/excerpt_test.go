package ical_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/ical"
)

// TestExcerpt: what is short stays as it is, what is long is cut between characters.
func TestExcerpt(t *testing.T) {
	t.Parallel()
	c := ical.NewComponent("VEVENT")
	c.Add(ical.NewProperty("SUMMARY", "Tea", ical.Param{Name: "LANGUAGE", Values: []string{"en"}}))
	c.Add(ical.NewProperty("DESCRIPTION", strings.Repeat("é", 100)))
	c.Add(ical.NewProperty("X-LONG", "kept", ical.Param{Name: "X-P", Values: []string{strings.Repeat("x", 200)}}))
	for _, who := range []string{"mailto:a@x", "mailto:b@x", "mailto:c@x"} {
		c.Add(ical.NewProperty("ATTENDEE", who))
	}
	c.AddComponent(ical.NewComponent("VALARM"))
	var got []string
	for p := range c.Excerpt(2, 40).Properties() {
		got = append(got, p.String())
	}
	want := []string{
		"SUMMARY;LANGUAGE=en:Tea", "DESCRIPTION:" + strings.Repeat("é", 14), "X-LONG:kept", "ATTENDEE:mailto:a@x",
		"ATTENDEE:mailto:b@x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
