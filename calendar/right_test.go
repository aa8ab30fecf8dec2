package calendar_test

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// TestRights reads rights as stored, and reduces them.
func TestRights(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]calendar.Right{
		"":                       {calendar.RightWrite, calendar.RightWrite, calendar.RightWrite},
		"write":                  {calendar.RightWrite, calendar.RightWrite, calendar.RightWrite},
		"propose a=write":        {calendar.RightWrite, calendar.RightPropose, calendar.RightPropose},
		"write a=read b=propose": {calendar.RightRead, calendar.RightPropose, calendar.RightWrite},
		"later a=more":           {calendar.RightRead, calendar.RightRead, calendar.RightRead},
	} {
		r := calendar.ParseRights(text)
		got := [3]calendar.Right{r.In("a"), r.In("b"), r.In("c")}
		if got != want || calendar.ParseRights(r.String()).String() != r.String() {
			t.Errorf("%q is %v, want %v; written it is %q", text, got, want, r)
		}
	}
	less := calendar.ParseRights("propose a=write").Least(calendar.ParseRights("write a=propose b=read"))
	if want := "propose b=read"; less.String() != want {
		t.Errorf("the lower rights are %q, want %q", less, want)
	}
	if less.Equal(calendar.ParseRights("propose")) || !less.Equal(calendar.ParseRights("propose a=propose b=read")) {
		t.Errorf("%q is not compared by its meaning", less)
	}
}
