package microsoft

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/ical"
	"caldav-mcp-server/linked/rest"
	"caldav-mcp-server/linked/vevent"
)

const (
	// extensionName names our open extension of an event. Microsoft asks for one fixed name per app: each name takes a
	// place in the mailbox for good.
	extensionName = "CaldavMcpServer.Lines"
	extensionType = "microsoft.graph.openTypeExtension"
	// extensionBytes limits its content. Microsoft documents no limit for events.
	extensionBytes = 16_000
	// expandExtension asks for it within a request of events.
	expandExtension = "extensions($filter=id eq '" + extensionName + "')"
)

// Extension is an open extension of an event. Lines is a JSON object of strings: content lines without a Graph field by
// instance ("" is the event or series itself). Graph has no arrays or objects in extensions of events.
type Extension struct {
	Type  string `json:"@odata.type"`
	Name  string `json:"extensionName"`
	Lines string `json:"lines"`
}

// extension returns our extension of a list, or nil. Other programs can write there, too: an unreadable one is empty.
func extension(all []json.RawMessage) *Extension {
	for _, data := range all {
		var named struct {
			Name string `json:"extensionName"`
		}
		if json.Unmarshal(data, &named) != nil || named.Name != extensionName {
			continue
		}
		x := &Extension{Name: extensionName}
		if json.Unmarshal(data, x) != nil {
			x.Lines = ""
		}
		x.Type = extensionType
		return x
	}
	return nil
}

// spread gives each event of a series its kept lines. An instance without its own lines gets the lines of the
// series, for example one that was changed in Outlook.
func (s *Series) spread() {
	kept := map[string]string{}
	if x := extension(s.first().Extensions); x != nil && json.Unmarshal([]byte(x.Lines), &kept) != nil {
		kept = nil
	}
	if s.Master != nil {
		s.Master.Kept = kept[""]
	}
	for _, e := range s.Exceptions {
		lines, own := kept[moment(e.Original)]
		if e.Kept = lines; !own {
			e.Kept = kept[""]
		}
	}
}

// extend sets the extension of a series to its kept lines.
func (s *Series) extend() error {
	x, err := s.gather()
	if x == nil || err != nil {
		return err
	}
	data, err := rest.Text(x)
	s.first().Extensions = []json.RawMessage{data}
	return err
}

// gather returns the extension that holds the kept lines of a series, or nil if there are none.
func (s *Series) gather() (*Extension, error) {
	kept, common := map[string]string{}, ""
	if s.Master != nil && s.Master.Kept != "" {
		common = s.Master.Kept
		kept[""] = common
	}
	for _, e := range s.Exceptions {
		if e.Kept != common {
			kept[moment(e.Original)] = e.Kept
		}
	}
	if len(kept) == 0 {
		return nil, nil // a series whose properties all have fields needs no extension
	}
	data, err := rest.Text(kept)
	if err != nil {
		return nil, err
	}
	if len(data) > extensionBytes {
		return nil, vevent.TooMuch(len(data), "Microsoft", extensionBytes)
	}
	return &Extension{Type: extensionType, Name: extensionName, Lines: string(data)}, nil
}

// surplus returns the lines of a component that have no Graph field. With lines about the place goes the place: see
// extras.
func (r *reader) surplus(c *ical.Component, e *Event) string {
	kept := ical.NewComponent("VEVENT")
	placed := false
	for p := range c.Properties() {
		if keeps(p, e) {
			kept.Add(p.Clone())
			placed = placed || slices.Contains(ofPlace, p.Name())
		}
	}
	if name := vevent.TextOf(c, "LOCATION"); placed {
		kept.Add(ical.NewText("LOCATION", name))
	}
	for _, alarm := range c.AllComponents("VALARM") {
		// Alarms without a visible effect, such as Apple's of 1976, are dropped.
		if _, noticed := vevent.Mailed(alarm); noticed && !e.reminds(alarm) {
			kept.AddComponent(alarm.Clone())
		}
	}
	return vevent.Inner(kept)
}

// keeps reports whether a property is kept as a line.
func keeps(p *ical.Property, e *Event) bool {
	return !slices.Contains(mapped, p.Name()) && !slices.Contains(unheld, p.Name()) &&
		!strings.HasPrefix(p.Name(), "X-MICROSOFT-") && (p.Name() != "CONFERENCE" || p.Value() != joins(e))
}

// reminds reports whether an alarm is the reminder of Graph's fields.
func (e *Event) reminds(alarm *ical.Component) bool {
	minutes, ok := reminderOf(alarm)
	return ok && e.ReminderOn && minutes == e.Minutes
}

// extras adds the kept lines. Graph's fields take precedence, since they may have changed in Outlook: lines about the
// place are dropped if the event has another place now.
func (w writer) extras(c *ical.Component, e *Event) {
	kept, err := vevent.Lines(e.Kept)
	if e.Kept == "" || err != nil {
		return // other programs can write there, too: ignore unreadable lines
	}
	moved := vevent.TextOf(kept, "LOCATION") != placeName(e.Place)
	for p := range kept.Properties() {
		if keeps(p, e) && (!moved || !slices.Contains(ofPlace, p.Name())) {
			c.Add(p.Clone())
		}
	}
	for _, alarm := range kept.AllComponents("VALARM") {
		if !e.reminds(alarm) {
			c.AddComponent(alarm.Clone())
		}
	}
}

// keep brings the extension of an object from one state to another. It comes after the other writes, because it changes
// the event's ETag.
func (w *write) keep(ctx context.Context, now, want *Series) error {
	need, have := extension(want.first().Extensions), extension(now.first().Extensions)
	path := eventPath(now.first().ID) + "/extensions"
	switch {
	case need == nil && have == nil, need != nil && have != nil && need.Lines == have.Lines:
		return nil
	case have == nil:
		return w.send(ctx, http.MethodPost, path, "", need, nil)
	case need == nil:
		return w.send(ctx, http.MethodDelete, path+"/"+extensionName, "", nil, nil)
	default:
		return w.send(ctx, http.MethodPatch, path+"/"+extensionName, "", need, nil)
	}
}

// extended reads the extensions of all single events and series of a calendar. Delta queries do not have them.
func (a *Account) extended(ctx context.Context, remote string) (map[string][]json.RawMessage, error) {
	query := url.Values{
		"$select": {"id"}, "$filter": {"extensions/any(f:f/id eq '" + extensionName + "')"},
		"$expand": {expandExtension},
	}
	items, _, err := list[*Event](ctx, a, of(remote)+"/events?"+rest.Query(query))
	found := map[string][]json.RawMessage{}
	for _, e := range items {
		found[e.ID] = e.Extensions
	}
	return found, err
}
