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

// The statuses. The kind of a component decides which of them it can have.
const (
	Tentative   Status = "TENTATIVE"
	Confirmed   Status = "CONFIRMED"
	Cancelled   Status = "CANCELLED"
	NeedsAction Status = "NEEDS-ACTION"
	InProcess   Status = "IN-PROCESS"
	Completed   Status = "COMPLETED"
)

// Transparency is a TRANSP: whether an event makes its attendees busy.
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

// Fields are the changes of an event or a task. The zero value changes nothing.
type Fields struct {
	Summary, Description, Location Field[string]
	URL                            Field[string]
	Categories                     Field[[]string]
	Status                         Field[Status]
	Transparency                   Field[Transparency]
	Class                          Field[Class]
	Organizer                      Field[Attendee]
	// Attendees is compared with the attendees of the named instance, or of the series if none is named. The difference
	// is applied to each changed instance.
	Attendees Field[[]Attendee]
	// Invite adds attendees to the existing ones, Uninvite removes some from every instance.
	Invite, Uninvite []Attendee
	// Alarms replaces the reminders that [AlarmsOf] lists. If it contains other reminders or is empty, it also replaces
	// those that [OtherAlarmsOf] lists. Clear keeps those.
	Alarms Field[[]Alarm]
	// Color is a CSS colour name.
	Color Field[string]
	// Rule is the value of an RRULE. If it is cleared, the series becomes its first instance.
	Rule Field[string]
	// Left lists the excluded instances of a series, Extra the additional ones.
	Left, Extra Field[[]ical.Time]

	// Stranger is the mail address of a visitor who wrote texts of the event; see [StrangerProperty].
	Stranger Field[string]

	// Only for tasks. Priority is 1 (highest) to 9, Percent is 0 to 100, Completed is the time of completion.
	Priority, Percent Field[int]
	Completed         Field[time.Time]
	// Parent is the UID of the parent component.
	Parent Field[string]
}

// StrangerProperty names a person without an account whose words are in the user's own event, as after a booking. The
// texts are marked for assistants.
const StrangerProperty = "X-CALDAV-MCP-STRANGER"

// patch is one change of a component, with the properties and components that it touches.
type patch struct {
	names []string
	// alarms is set if it touches the VALARMs.
	alarms bool
	// relative is set if it adds or removes attendees. It then also applies to overrides with other attendees.
	// Overrides without attendees inherit those of the series and stay as they are.
	relative bool
	apply    func(*ical.Component) error
}

// patches lists the patches for the change. A list of attendees is compared with the attendees of seen.
func (f Fields) patches(seen *ical.Component) []patch {
	var list []patch
	add := func(left bool, apply func(*ical.Component) error, names ...string) {
		if !left {
			list = append(list, patch{names: names, apply: apply})
		}
	}
	add(f.Summary.Left(), text("SUMMARY", f.Summary), "SUMMARY")
	// X-ALT-DESC is the description as HTML; Outlook would still show the old one.
	add(f.Description.Left(), alone("DESCRIPTION", "X-ALT-DESC", f.Description), "DESCRIPTION", "X-ALT-DESC")
	// Apple prefers the structured location, and its map, to LOCATION.
	add(f.Location.Left(), alone("LOCATION", "X-APPLE-STRUCTURED-LOCATION", f.Location), "LOCATION",
		"X-APPLE-STRUCTURED-LOCATION")
	add(f.Stranger.Left(), text(StrangerProperty, f.Stranger), StrangerProperty)
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

// view returns the parts of a component that a patch touches, in a comparable form.
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

// written returns a component as text.
func written(c *ical.Component) string { return ical.NewDocument(c.Clone()).String() }

// text sets or removes a text property.
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

// alone sets a text. If it changes, the same text in a client's own property is outdated, so alone drops that.
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

// valued sets a property to the value that say returns, or removes it.
func valued[T any](
	name string, f Field[T], say func(c *ical.Component, asked T) (string, error),
) func(*ical.Component) error {
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

// categories joins the categories of all lines: RFC 5545 §3.8.1.2 allows several.
func categories(c *ical.Component) []string {
	var list []string
	for _, p := range c.All("CATEGORIES") {
		list = append(list, p.TextList()...)
	}
	return list
}

// words lists the allowed values of a property by kind of component.
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
			return fault(BadField, "the %s of a %s cannot be %.50q", name, c.Name(), string(value)).
				hint("it can be one of: " + strings.Join(may, ", "))
		}
		if content.WordOf(c, name) != upper {
			setValue(c, name, upper)
		}
		return nil
	}
}

// ranges are the limits of RFC 5545 §3.8.1.9 and §3.8.1.8.
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

// setValue sets the raw value of the first property with a name and keeps its parameters.
func setValue(c *ical.Component, name, value string) {
	if p := c.Property(name); p != nil {
		p.SetValue(value)
		return
	}
	c.Add(ical.NewProperty(name, value))
}

// complete makes STATUS, COMPLETED and PERCENT-COMPLETE of a task consistent, because each client reads another one.
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
