package edit

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Status is a STATUS (RFC 5545 §3.8.1.11).
type Status string

// The statuses there are; which ones a component can have depends on its kind.
const (
	Tentative   Status = "TENTATIVE"
	Confirmed   Status = "CONFIRMED"
	Cancelled   Status = "CANCELLED"
	NeedsAction Status = "NEEDS-ACTION"
	InProcess   Status = "IN-PROCESS"
	Completed   Status = "COMPLETED"
)

// Transparency is a TRANSP: whether an event makes its people busy.
type Transparency string

// The transparencies of RFC 5545 §3.8.2.7.
const (
	Opaque      Transparency = "OPAQUE"
	Transparent Transparency = "TRANSPARENT"
)

// Class is a CLASS (RFC 5545 §3.8.1.3).
type Class string

// The classes that clients know.
const (
	Public       Class = "PUBLIC"
	Private      Class = "PRIVATE"
	Confidential Class = "CONFIDENTIAL"
)

// Fields are what an edit can give an event or a task. The zero value leaves all as it is.
type Fields struct {
	Summary, Description, Location Field[string]
	URL                            Field[string]
	Categories                     Field[[]string]
	Status                         Field[Status]
	Transparency                   Field[Transparency]
	Class                          Field[Class]
	Organizer                      Field[Attendee]
	// Attendees is compared with who takes part in the instance that is named, or in the series where none is. Who is new
	// comes, and who is missing goes, in each instance that is changed.
	Attendees Field[[]Attendee]
	// Invite are attendees who come to those who are there, Uninvite those who are taken off, wherever they are.
	Invite, Uninvite []Attendee
	// Alarms replaces those that [AlarmsOf] lists. Those of [OtherAlarmsOf] stay, unless the list has such, or is
	// empty; cleared, they stay as well.
	Alarms Field[[]Alarm]
	// Color is the name of one, as CSS has it.
	Color Field[string]
	// Rule is an RRULE's value. Cleared, the series becomes its first instance.
	Rule Field[string]
	// Left are the instances that are left out of a series, Extra those beside its rule.
	Left, Extra Field[[]ical.Time]

	// Only of tasks. Priority is from 1, the highest, to 9; Percent from 0 to 100. Completed
	// is when the task was done.
	Priority, Percent Field[int]
	Completed         Field[time.Time]
	// Parent is the UID of what the component is a part of.
	Parent Field[string]
}

// patch is one change of a component: the properties and components that it is about, and
// how to make it.
type patch struct {
	names []string
	// alarms tells that it is about the VALARMs.
	alarms bool
	// relative is set when it adds or removes guests. Overrides with other guests take it as well, those without any
	// leave it to their series.
	relative bool
	apply    func(*ical.Component) error
}

// patches lists the patches that make the change. A list of attendees is compared with the attendees of seen.
func (f Fields) patches(seen *ical.Component) []patch {
	var list []patch
	add := func(left bool, apply func(*ical.Component) error, names ...string) {
		if !left {
			list = append(list, patch{names: names, apply: apply})
		}
	}
	add(f.Summary.Left(), text("SUMMARY", f.Summary), "SUMMARY")
	// X-ALT-DESC is the description as HTML: Outlook would go on showing the old one.
	add(f.Description.Left(), alone("DESCRIPTION", "X-ALT-DESC", f.Description), "DESCRIPTION", "X-ALT-DESC")
	// Apple shows the structured place, and its map, in preference to LOCATION.
	add(f.Location.Left(), alone("LOCATION", "X-APPLE-STRUCTURED-LOCATION", f.Location), "LOCATION", "X-APPLE-STRUCTURED-LOCATION")
	add(f.URL.Left(), valued("URL", f.URL, linked), "URL")
	add(f.Categories.Left(), categorized(f.Categories), "CATEGORIES")
	add(f.Status.Left(), word("STATUS", f.Status), "STATUS")
	add(f.Transparency.Left(), word("TRANSP", f.Transparency), "TRANSP")
	add(f.Class.Left(), word("CLASS", f.Class), "CLASS")
	add(f.Organizer.Left(), organized(f.Organizer), "ORGANIZER")
	add(f.Color.Left(), valued("COLOR", f.Color, colored), "COLOR")
	if f.invites() {
		list = append(list, patch{names: []string{"ATTENDEE"}, apply: f.guests(seen).apply, relative: true})
	}
	add(f.Priority.Left(), number("PRIORITY", f.Priority), "PRIORITY")
	add(f.Completed.Left(), done(f.Completed), "COMPLETED")
	add(f.Percent.Left(), number("PERCENT-COMPLETE", f.Percent), "PERCENT-COMPLETE")
	add(f.Parent.Left(), related(f.Parent), "RELATED-TO")
	if !f.Alarms.Left() {
		list = append(list, patch{alarms: true, apply: alarmed(f.Alarms)})
	}
	return list
}

// view is what a patch is about, in a form in which two components can be compared.
func (p patch) view(c *ical.Component) string {
	var b strings.Builder
	for property := range c.Properties() {
		if slices.Contains(p.names, property.Name()) {
			b.WriteString(property.String() + "\n")
		}
	}
	if p.alarms {
		for _, alarm := range c.AllComponents("VALARM") {
			b.WriteString(written(alarm))
		}
	}
	return b.String()
}

// written is a component as text.
func written(c *ical.Component) string { return ical.NewDocument(c.Clone()).String() }

// text sets or removes a property that is text.
func text(name string, f Field[string]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		if value, ok := f.Value(); ok {
			c.SetText(name, value)
			return nil
		}
		c.Remove(name)
		return nil
	}
}

// alone sets a text and drops the property that says the same in a form which only its client
// writes, if the text is another one now.
func alone(name, twin string, f Field[string]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		before := content.TextOf(c, name)
		if err := text(name, f)(c); err != nil {
			return err
		}
		if content.TextOf(c, name) != before {
			c.Remove(twin)
		}
		return nil
	}
}

// valued gives a property the value that is said for what was asked, or removes it.
func valued[T any](name string, f Field[T], say func(c *ical.Component, asked T) (string, error)) func(*ical.Component) error {
	return func(c *ical.Component) error {
		asked, ok := f.Value()
		if !ok {
			c.Remove(name)
			return nil
		}
		value, err := say(c, asked)
		if err != nil {
			return err
		}
		setValue(c, name, value)
		return nil
	}
}

func linked(_ *ical.Component, value string) (string, error) {
	if at, err := url.Parse(value); err != nil || at.Scheme == "" || strings.ContainsAny(value, " \t\r\n") {
		return "", fault(BadField, "%.100q is no URL", value).hint("write it whole, such as https://example.com/page")
	}
	return value, nil
}

func categorized(f Field[[]string]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		list, _ := f.Value()
		if slices.Equal(list, categories(c)) {
			return nil
		}
		if slices.Contains(list, "") {
			return fault(BadField, "a category cannot be empty")
		}
		if len(list) == 0 {
			c.Remove("CATEGORIES")
			return nil
		}
		p := ical.NewProperty("CATEGORIES", "")
		p.SetTextList(list...)
		c.Set(p)
		return nil
	}
}

// categories are those of all lines: RFC 5545 §3.8.1.2 allows several.
func categories(c *ical.Component) []string {
	var list []string
	for _, p := range c.All("CATEGORIES") {
		list = append(list, p.TextList()...)
	}
	return list
}

// words are the values that a property may have, by the kind of the component.
var words = map[string]map[string][]string{
	"STATUS": {
		content.Event:   {"TENTATIVE", "CONFIRMED", "CANCELLED"},
		content.Todo:    {"NEEDS-ACTION", "COMPLETED", "IN-PROCESS", "CANCELLED"},
		content.Journal: {"DRAFT", "FINAL", "CANCELLED"},
	},
	"TRANSP": {content.Event: {"OPAQUE", "TRANSPARENT"}},
	"CLASS": {
		content.Event:   {"PUBLIC", "PRIVATE", "CONFIDENTIAL"},
		content.Todo:    {"PUBLIC", "PRIVATE", "CONFIDENTIAL"},
		content.Journal: {"PUBLIC", "PRIVATE", "CONFIDENTIAL"},
	},
}

func word[T ~string](name string, f Field[T]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		value, ok := f.Value()
		if !ok {
			c.Remove(name)
			return nil
		}
		upper := strings.ToUpper(string(value))
		if may := words[name][c.Name()]; !slices.Contains(may, upper) {
			return fault(BadField, "the %s of a %s cannot be %.50q", name, c.Name(), string(value)).hint("it can be one of: " + strings.Join(may, ", "))
		}
		if content.WordOf(c, name) != upper {
			setValue(c, name, upper)
		}
		return nil
	}
}

// ranges are the numbers of RFC 5545 §3.8.1.9 and §3.8.1.8.
var ranges = map[string]struct{ from, to int }{"PRIORITY": {0, 9}, "PERCENT-COMPLETE": {0, 100}}

func number(name string, f Field[int]) func(*ical.Component) error {
	return valued(name, f, func(c *ical.Component, value int) (string, error) {
		if r := ranges[name]; value < r.from || value > r.to {
			return "", fault(BadField, "%s is from %d to %d, not %d", name, r.from, r.to, value)
		}
		if name == "PERCENT-COMPLETE" && c.Name() != content.Todo {
			return "", fault(BadField, "only a task has a %s", name)
		}
		return strconv.Itoa(value), nil
	})
}

func done(f Field[time.Time]) func(*ical.Component) error {
	return func(c *ical.Component) error {
		if c.Name() != content.Todo {
			return fault(BadField, "only a task can be completed")
		}
		if at, ok := f.Value(); ok {
			setTime(c, "COMPLETED", ical.Instant(at))
			return nil
		}
		c.Remove("COMPLETED")
		if content.TextOf(c, "PERCENT-COMPLETE") == "100" {
			c.Remove("PERCENT-COMPLETE")
		}
		return nil
	}
}

// setValue gives the first property of a name another raw value and keeps its parameters.
func setValue(c *ical.Component, name, value string) {
	if p := c.Property(name); p != nil {
		p.SetValue(value)
		return
	}
	c.Add(ical.NewProperty(name, value))
}

// complete adds what goes with a task's being done or not: clients look at STATUS, COMPLETED or
// PERCENT-COMPLETE, each at another one.
func (f Fields) complete(kind string, now time.Time) Fields {
	if kind != content.Todo {
		return f
	}
	status, said := f.Status.Value()
	percent, counted := f.Percent.Value()
	_, dated := f.Completed.Value()
	isDone := dated || said && status == Completed || counted && percent == 100 && f.Status.Left()
	reopened := f.Completed.Cleared() || said && status != Completed || counted && percent < 100
	switch {
	case isDone:
		f.Status, f.Percent = either(f.Status, To(Completed)), either(f.Percent, To(100))
		f.Completed = either(f.Completed, To(now))
	case reopened:
		f.Completed = either(f.Completed, Clear[time.Time]())
		f.Status = either(f.Status, To(NeedsAction))
		if !said && counted && percent > 0 {
			f.Status = To(InProcess)
		}
	}
	return f
}

func either[T any](first, second Field[T]) Field[T] {
	if first.Left() {
		return second
	}
	return first
}
