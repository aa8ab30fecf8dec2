package ical_test

import (
	"slices"
	"testing"

	"caldav-mcp-server/ical"

	"github.com/google/go-cmp/cmp"
)

// lines writes a component one unfolded line an entry.
func lines(c *ical.Component) []string {
	list := []string{}
	for p := range c.Properties() {
		list = append(list, p.String())
	}
	for sub := range c.Components() {
		list = append(list, sub.Name())
	}
	return list
}

func TestComponentFinds(t *testing.T) {
	t.Parallel()
	c := event(t, inEvent("ATTENDEE:a", "BEGIN:VALARM", "ATTENDEE:c", "END:VALARM", "attendee:b", "UID:1"))
	if got := c.Property("Attendee").Value(); got != "a" {
		t.Errorf("the first ATTENDEE is %q, want a", got)
	}
	if c.Property("SUMMARY") != nil || c.All("SUMMARY") != nil || c.AllComponents("VTODO") != nil {
		t.Error("found what is not there")
	}
	var all []string
	for _, p := range c.All("ATTENDEE") {
		all = append(all, p.Value())
	}
	if diff := cmp.Diff([]string{"a", "b"}, all); diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ATTENDEE:a", "attendee:b", "UID:1", "VALARM"}, lines(c)); diff != "" {
		t.Errorf("in order (-want +got):\n%s", diff)
	}
	if c.Line() != 2 || c.Property("UID").Line() != 8 {
		t.Errorf("lines %d and %d, want 2 and 8", c.Line(), c.Property("UID").Line())
	}
	for p := range c.Properties() {
		if p.Name() != "ATTENDEE" {
			t.Errorf("first property %s", p.Name())
		}
		break
	}
}

// Each edit touches its own line and leaves the odd spelling of all others.
func TestComponentEdits(t *testing.T) {
	t.Parallel()
	before := []string{
		"uid;Y=2:kept", "SUMMARY;X=1:a", " b", "", "attendee:1", "ATTENDEE:2", "BEGIN:VALARM", "END:VALARM",
		"ATTENDEE:3", "BEGIN:VALARM", "X:2", "END:VALARM",
	}
	for _, tt := range []struct {
		name string
		edit func(c *ical.Component)
		want []string
	}{
		{
			"Add goes behind the last property", func(c *ical.Component) { c.Add(ical.NewProperty("X", "1")) },
			slices.Insert(slices.Clone(before), 9, "X:1"),
		},
		{
			"Set takes the place of the first", func(c *ical.Component) { c.Set(ical.NewProperty("ATTENDEE", "4")) },
			slices.Concat(before[:4], []string{"ATTENDEE:4", "BEGIN:VALARM", "END:VALARM"}, before[9:]),
		},
		{
			"Set keeps the blank line behind", func(c *ical.Component) { c.Set(ical.NewProperty("SUMMARY", "c")) },
			slices.Concat(before[:1], []string{"SUMMARY:c"}, before[3:]),
		},
		{
			"Set adds what is not there", func(c *ical.Component) { c.Set(ical.NewProperty("X", "1")) },
			slices.Insert(slices.Clone(before), 9, "X:1"),
		},
		{
			"SetText keeps the parameters", func(c *ical.Component) { c.SetText("summary", "c,d") },
			slices.Concat(before[:1], []string{`SUMMARY;X=1:c\,d`}, before[3:]),
		},
		{
			"SetText adds what is not there", func(c *ical.Component) { c.SetText("NAME", "c") },
			slices.Insert(slices.Clone(before), 9, "NAME:c"),
		},
		{
			"Remove drops all", func(c *ical.Component) { c.Remove("Attendee") },
			slices.Concat(before[:4], before[6:8], before[9:]),
		},
		{
			"RemoveProperty drops one", func(c *ical.Component) { c.RemoveProperty(c.All("ATTENDEE")[1]) },
			slices.Concat(before[:5], before[6:]),
		},
		{
			"AddComponent", func(c *ical.Component) { c.AddComponent(ical.NewComponent("VALARM")) },
			slices.Concat(before, []string{"BEGIN:VALARM", "END:VALARM"}),
		},
		{
			"InsertComponent", func(c *ical.Component) {
				c.InsertComponent(ical.NewComponent("VLOCATION"), c.AllComponents("VALARM")[0])
			},
			slices.Insert(slices.Clone(before), 6, "BEGIN:VLOCATION", "END:VLOCATION"),
		},
		{
			"InsertComponent at the end",
			func(c *ical.Component) { c.InsertComponent(ical.NewComponent("VLOCATION"), nil) },
			slices.Concat(before, []string{"BEGIN:VLOCATION", "END:VLOCATION"}),
		},
		{
			"RemoveComponent", func(c *ical.Component) { c.RemoveComponent(c.AllComponents("VALARM")[0]) },
			slices.Concat(before[:6], before[8:]),
		},
		{"SetText with the same text", func(c *ical.Component) { c.SetText("SUMMARY", "ab") }, before},
		{"SetValue with the same value", func(c *ical.Component) { c.Property("SUMMARY").SetValue("ab") }, before},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := parse(t, inEvent(before...))
			calendar, err := doc.Calendar()
			if err != nil {
				t.Fatal(err)
			}
			tt.edit(calendar.AllComponents("VEVENT")[0])
			if diff := cmp.Diff(inEvent(tt.want...), doc.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestComponentTellsWhatItRemoved(t *testing.T) {
	t.Parallel()
	c := event(t, inEvent("X:1", "X:2", "BEGIN:A", "END:A"))
	sub, p := c.AllComponents("A")[0], c.Property("X")
	if !c.RemoveComponent(sub) || c.RemoveComponent(sub) {
		t.Error("RemoveComponent does not tell whether the component was there")
	}
	if !c.RemoveProperty(p) || c.RemoveProperty(p) {
		t.Error("RemoveProperty does not tell whether the property was there")
	}
	if n := c.Remove("X"); n != 1 {
		t.Errorf("Remove dropped %d, want 1", n)
	}
	if diff := cmp.Diff([]string{}, lines(c)); diff != "" {
		t.Errorf("left over (-want +got):\n%s", diff)
	}
}

// Items of several components are cut from one slab: growing one of them must
// not write over its neighbour.
func TestComponentsGrowApart(t *testing.T) {
	t.Parallel()
	doc := parse(t, "BEGIN:A\nBEGIN:B\nX:1\nEND:B\nBEGIN:C\nX:2\nEND:C\nEND:A\n")
	top := slices.Collect(doc.Components())[0]
	top.AllComponents("B")[0].Add(ical.NewProperty("Y", "3"))
	top.AddComponent(ical.NewComponent("D"))
	want := "BEGIN:A\nBEGIN:B\nX:1\nY:3\nEND:B\nBEGIN:C\nX:2\nEND:C\nBEGIN:D\nEND:D\nEND:A\n"
	if diff := cmp.Diff(want, doc.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamesAreMadeHarmless(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"x-a":             "BEGIN:X-A\r\nEND:X-A\r\n",
		"a:b\r\nEND:c":    "BEGIN:A-B--END-C\r\nEND:A-B--END-C\r\n",
		"":                "BEGIN:X-\r\nEND:X-\r\n",
		"b\xc3d":          "BEGIN:B-D\r\nEND:B-D\r\n",
		"größe \"1\";2=3": "BEGIN:GRößE--1--2-3\r\nEND:GRößE--1--2-3\r\n",
	} {
		if diff := cmp.Diff(want, ical.NewDocument(ical.NewComponent(in)).String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
	if got := ical.NewProperty("begin", "VEVENT").String(); got != "X-begin:VEVENT" {
		t.Errorf("a property that would begin a component is written as %q", got)
	}
}
