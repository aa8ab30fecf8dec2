package filter_test

import (
	"errors"
	"testing"

	"caldav-mcp-server/calendar/filter"
)

const meeting = `
	BEGIN:VEVENT
	DTSTART:20260310T100000Z
	DTSTAMP:20260301T120000Z
	CREATED;VALUE=DATE:20260228
	LAST-MODIFIED:20260302T120000Z
	SUMMARY;LANGUAGE=de:Straßenfest\, Ärger und ﬁne Musik
	DESCRIPTION:
	ATTENDEE;PARTSTAT=NEEDS-ACTION;CN="Doe, John":mailto:john@example.com
	ATTENDEE;PARTSTAT=ACCEPTED:mailto:lisa@example.com
	X-ABC-GUID:E1CX5Dr-0007ym-Hz@example.com
	EXDATE:20260317T100000Z,20260324T100000Z
	X-BUSY:20260310T080000Z/PT1H
	BEGIN:VALARM
	TRIGGER:-PT5M
	ACTION:DISPLAY
	END:VALARM
	BEGIN:X-EXTRA
	X-LEVEL:3
	END:X-EXTRA
	END:VEVENT`

// TestProperties asks for properties, parameters and their text (RFC 4791 §9.7.2–9.7.5).
func TestProperties(t *testing.T) {
	t.Parallel()
	o := object(t, meeting)
	text := func(s string) *filter.TextMatch { return &filter.TextMatch{Text: s} }
	not := func(s string) *filter.TextMatch { return &filter.TextMatch{Text: s, Negate: true} }
	param := func(name filter.ParameterName, m *filter.TextMatch) []filter.ParamFilter {
		return []filter.ParamFilter{{Name: name, Text: m}}
	}
	for _, c := range []struct {
		name string
		ask  filter.PropFilter
		want bool
	}{
		{"there", filter.PropFilter{Name: "X-ABC-GUID"}, true},
		{"there, in lower case", filter.PropFilter{Name: "summary"}, true},
		{"there, though empty", filter.PropFilter{Name: "DESCRIPTION"}, true},
		{"not there", filter.PropFilter{Name: "LOCATION"}, false},
		{"not defined", filter.PropFilter{Name: "LOCATION", IsNotDefined: true}, true},
		{"defined after all", filter.PropFilter{Name: "SUMMARY", IsNotDefined: true}, false},
		{"text", filter.PropFilter{Name: "ATTENDEE", Text: text("mailto:lisa@")}, true},
		{"text without its escapes", filter.PropFilter{Name: "SUMMARY", Text: text("fest, ")}, true},
		{"other text", filter.PropFilter{Name: "SUMMARY", Text: text("concert")}, false},
		{"D1: negated text", filter.PropFilter{Name: "SUMMARY", Text: not("fest")}, false},
		{"negated other text", filter.PropFilter{Name: "SUMMARY", Text: not("concert")}, true},
		{"negated text of what is not there", filter.PropFilter{Name: "LOCATION", Text: not("x")}, false},
		{"negated text of one of two", filter.PropFilter{Name: "ATTENDEE", Text: not("lisa")}, true},
		{"D1: text in another case", filter.PropFilter{Name: "SUMMARY", Text: text("STRA")}, true},
		{"parameter", filter.PropFilter{Name: "ATTENDEE", Params: param("PARTSTAT", text("needs-action"))}, true},
		{
			"parameter of another one",
			filter.PropFilter{Name: "ATTENDEE", Text: text("lisa"), Params: param("PARTSTAT", text("needs-action"))},
			false,
		},
		{
			"negated parameter",
			filter.PropFilter{Name: "ATTENDEE", Text: text("lisa"), Params: param("partstat", not("needs-action"))},
			true,
		},
		{"quoted parameter", filter.PropFilter{Name: "ATTENDEE", Params: param("CN", text("doe, j"))}, true},
		{"parameter that is there", filter.PropFilter{Name: "SUMMARY", Params: param("LANGUAGE", nil)}, true},
		{"parameter that is not", filter.PropFilter{Name: "SUMMARY", Params: param("ALTREP", nil)}, false},
		{
			"parameter not defined",
			filter.PropFilter{Name: "SUMMARY", Params: []filter.ParamFilter{{Name: "ALTREP", IsNotDefined: true}}},
			true,
		},
		{
			"parameter not defined after all",
			filter.PropFilter{Name: "SUMMARY", Params: []filter.ParamFilter{{Name: "language", IsNotDefined: true}}},
			false,
		},
		{
			"one without the parameter",
			filter.PropFilter{Name: "ATTENDEE", Params: []filter.ParamFilter{{Name: "CN", IsNotDefined: true}}},
			true,
		},
		{
			"in time",
			filter.PropFilter{Name: "DTSTAMP", TimeRange: during(t, "20260301T120000Z/20260301T120001Z")},
			true,
		},
		{"too late", filter.PropFilter{Name: "DTSTAMP", TimeRange: during(t, "20260301T120001Z/")}, false},
		{"too early", filter.PropFilter{Name: "LAST-MODIFIED", TimeRange: during(t, "/20260302T120000Z")}, false},
		{"a day, at its end", filter.PropFilter{Name: "CREATED", TimeRange: during(t, "20260228T235959Z/")}, true},
		{"a day, after it", filter.PropFilter{Name: "CREATED", TimeRange: during(t, "20260301T000000Z/")}, false},
		{
			"one of a list",
			filter.PropFilter{Name: "EXDATE", TimeRange: during(t, "20260324T000000Z/20260325T000000Z")},
			true,
		},
		{
			"none of a list",
			filter.PropFilter{Name: "EXDATE", TimeRange: during(t, "20260318T000000Z/20260324T000000Z")},
			false,
		},
		{
			"a period",
			filter.PropFilter{Name: "X-BUSY", TimeRange: during(t, "20260310T083000Z/20260310T084500Z")},
			true,
		},
		{
			"after a period",
			filter.PropFilter{Name: "X-BUSY", TimeRange: during(t, "20260310T090000Z/20260310T094500Z")},
			false,
		},
		{"the time of a text", filter.PropFilter{Name: "SUMMARY", TimeRange: during(t, "/")}, false},
	} {
		f := under(filter.CompFilter{Name: "VEVENT", Props: []filter.PropFilter{c.ask}})
		if got := match(t, f, o); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCollations compares as RFC 4790 and RFC 5051 say.
func TestCollations(t *testing.T) {
	t.Parallel()
	o := object(t, meeting)
	for _, c := range []struct {
		collation filter.Collation
		text      string
		want      bool
	}{
		{"", "straßenFEST", true},
		{"default", "straßenFEST", true},
		{filter.ASCIICasemap, "straßenFEST", true},
		{filter.ASCIICasemap, "ärger", false}, // Ä is no letter of ASCII
		{filter.ASCIICasemap, "Ärger", true},
		{filter.Octet, "Straßenfest", true},
		{filter.Octet, "straßenfest", false},
		{filter.UnicodeCasemap, "ärger", true},
		{filter.UnicodeCasemap, "A\u0308RGER", true}, // decomposed
		{filter.UnicodeCasemap, "Arger", false},
		{filter.UnicodeCasemap, "mUSIK", true},
		{filter.UnicodeCasemap, "nothing", false},
	} {
		f := under(filter.CompFilter{Name: "VEVENT", Props: []filter.PropFilter{
			{Name: "SUMMARY", Text: &filter.TextMatch{Text: c.text, Collation: c.collation}},
		}})
		if got := match(t, f, o); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.collation, c.text, got, c.want)
		}
	}
}

// TestUnknownCollation: wherever it stands, nothing is compared.
func TestUnknownCollation(t *testing.T) {
	t.Parallel()
	bad := &filter.TextMatch{Text: "x", Collation: "i;klingon"}
	for name, f := range map[string]filter.Filter{
		"property": under(filter.CompFilter{Name: "VEVENT", Props: []filter.PropFilter{{Name: "SUMMARY", Text: bad}}}),
		"parameter": under(filter.CompFilter{
			Name:  "VEVENT",
			Props: []filter.PropFilter{{Name: "SUMMARY", Params: []filter.ParamFilter{{Name: "X", Text: bad}}}},
		}),
		"deep": under(filter.CompFilter{Name: "VTODO", Components: []filter.CompFilter{
			{Name: "VALARM", Props: []filter.PropFilter{{Name: "ACTION", Text: bad}}},
		}}),
	} {
		_, err := f.Match(t.Context(), object(t, meeting), filter.Context{Zones: zones})
		var unknown *filter.CollationError
		if !errors.As(err, &unknown) || unknown.Collation != "i;klingon" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestComponents asks for components, there or not, at every level.
func TestComponents(t *testing.T) {
	t.Parallel()
	inside := func(list ...filter.CompFilter) filter.Filter {
		return under(filter.CompFilter{Name: "VEVENT", Components: list})
	}
	for _, c := range []struct {
		name string
		ask  filter.Filter
		want bool
	}{
		{"nothing", nil, true},
		{"anything", under(), true},
		{"event", under(filter.CompFilter{Name: "VEVENT"}), true},
		{
			"event in lower case",
			filter.Filter{{Name: "vcalendar", Components: []filter.CompFilter{{Name: "vevent"}}}},
			true,
		},
		{"task", under(filter.CompFilter{Name: "VTODO"}), false},
		{"event and task", under(filter.CompFilter{Name: "VEVENT"}, filter.CompFilter{Name: "VTODO"}), false},
		{"no task", under(filter.CompFilter{Name: "VTODO", IsNotDefined: true}), true},
		{"D1: no event", under(filter.CompFilter{Name: "VEVENT", IsNotDefined: true}), false},
		{
			"event and no task",
			under(filter.CompFilter{Name: "VEVENT"}, filter.CompFilter{Name: "VTODO", IsNotDefined: true}), true,
		},
		{
			"event and no event",
			under(filter.CompFilter{Name: "VEVENT"}, filter.CompFilter{Name: "VEVENT", IsNotDefined: true}), false,
		},
		{"no calendar", filter.Filter{{Name: "VCALENDAR", IsNotDefined: true}}, false},
		{"event in the place of the calendar", filter.Filter{{Name: "VEVENT"}}, false},
		{"no event in the place of the calendar", filter.Filter{{Name: "VEVENT", IsNotDefined: true}}, true},
		{
			"two filters", append(under(filter.CompFilter{Name: "VEVENT"}), under(filter.CompFilter{Name: "VTODO"})...),
			false,
		},
		{"alarm", inside(filter.CompFilter{Name: "VALARM"}), true},
		{"no alarm", inside(filter.CompFilter{Name: "VALARM", IsNotDefined: true}), false},
		{"alarm in the place of an event", under(filter.CompFilter{Name: "VALARM"}), false},
		{
			"alarm that sounds",
			inside(filter.CompFilter{
				Name: "VALARM", Props: []filter.PropFilter{{Name: "ACTION", Text: &filter.TextMatch{Text: "AUDIO"}}},
			}),
			false,
		},
		{"alarm and no summary", under(filter.CompFilter{
			Name: "VEVENT", Props: []filter.PropFilter{{Name: "SUMMARY", IsNotDefined: true}},
			Components: []filter.CompFilter{{Name: "VALARM"}},
		}), false},
		{
			"what nobody knows",
			inside(filter.CompFilter{
				Name: "X-EXTRA", Props: []filter.PropFilter{{Name: "X-LEVEL", Text: &filter.TextMatch{Text: "3"}}},
			}),
			true,
		},
		{
			"what nobody knows, at any time",
			inside(filter.CompFilter{Name: "X-EXTRA", TimeRange: during(t, "20260310T100000Z/20260310T100001Z")}), true,
		},
		{
			"what is not there, at any time", inside(filter.CompFilter{Name: "X-OTHER", TimeRange: during(t, "/")}),
			false,
		},
		{
			"the calendar's own property",
			filter.Filter{
				{
					Name:  "VCALENDAR",
					Props: []filter.PropFilter{{Name: "PRODID", Text: &filter.TextMatch{Text: "test"}}},
				},
			},
			true,
		},
		{
			"not the calendar's own property",
			filter.Filter{{Name: "VCALENDAR", Props: []filter.PropFilter{{Name: "METHOD"}}}},
			false,
		},
	} {
		if got := match(t, c.ask, object(t, meeting)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
