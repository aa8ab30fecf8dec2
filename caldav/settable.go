package caldav

import (
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

func errUnfit(format string, args ...any) error {
	return dav.Refuse(http.StatusConflict, format, args...)
}

// setResourceType accepts the types that a client can make. RFC 5689 §3: a collection's type is set at its creation
// and never changes.
func setResourceType(_ *calendar.Properties, e *dav.Element) error {
	if e == nil || !e.Has(dav.Name("collection")) || !e.Has(caldavName("calendar")) && !e.Has(subscribed) ||
		len(e.Children) != 2 {
		return dav.Breach("d:valid-resourcetype",
			"the only collections that can be made here are calendars and subscriptions: DAV:collection with "+
				"CALDAV:calendar, or with subscribed of http://calendarserver.org/ns/")
	}
	return nil
}

// subscribed is the type of a collection that Apple Calendar makes to subscribe all of a user's devices to a feed.
// Each device fetches the address in source itself.
var subscribed = server("subscribed")

// isSubscription reports whether a collection with these properties is a subscription.
func isSubscription(set []dav.Edit) bool {
	return slices.ContainsFunc(set, func(e dav.Edit) bool {
		return e.Name == dav.Name("resourcetype") && e.Value != nil && e.Value.Has(subscribed)
	})
}

// keepFeed stores properties about content as dead properties, since in a subscription they describe the feed.
func keepFeed(x *request, set []dav.Edit) ([]calendar.DeadProperty, error) {
	var all []calendar.DeadProperty
	sourced := false
	for _, e := range set {
		sourced = sourced || e.Name == server("source") && e.Value != nil && e.Value.Has(dav.Name("href"))
		if row := x.byName[e.Name]; row == nil || row.flags&ofContent == 0 {
			continue
		}
		kept, err := keep(e)
		if err != nil {
			return nil, err
		}
		all = append(all, kept)
	}
	if !sourced {
		return nil, dav.Breach("d:valid-resourcetype",
			"a subscription needs a source of http://calendarserver.org/ns/, with the DAV:href of its feed")
	}
	return all, nil
}

func setDisplayName(p *calendar.Properties, e *dav.Element) error {
	p.Name = ""
	if e != nil {
		p.Name = strings.TrimSpace(e.Text)
	}
	return nil
}

func setDescription(p *calendar.Properties, e *dav.Element) error {
	p.Description = nil
	if e != nil {
		p.Description = &e.Text
	}
	return nil
}

// implied are components that any calendar may contain: KDE lists VCALENDAR in its set.
var implied = calendar.Kinds{"VCALENDAR", "VTIMEZONE", "VALARM"}

func setKinds(p *calendar.Properties, e *dav.Element) error {
	p.Kinds = nil
	if e == nil {
		return nil
	}
	for _, c := range e.Children {
		k := calendar.Kind(strings.ToUpper(c.Attr("name")))
		if c.XMLName == caldavName("comp") && !p.Kinds.Has(k) && !implied.Has(k) {
			p.Kinds = append(p.Kinds, k)
		}
	}
	if len(p.Kinds) == 0 {
		return dav.Breach("c:supported-calendar-component",
			"supported-calendar-component-set must name the components that the calendar may contain")
	}
	return nil
}

func setTransparency(p *calendar.Properties, e *dav.Element) error {
	switch {
	case e == nil || e.Has(caldavName("opaque")):
		p.Transparent = false
	case e.Has(caldavName("transparent")):
		p.Transparent = true
	default:
		return errUnfit("schedule-calendar-transp must be opaque or transparent")
	}
	return nil
}

// setEnabled reads calendar-enabled: Nextcloud's apps hide a calendar with the value 0.
func setEnabled(p *calendar.Properties, e *dav.Element) error {
	p.Hidden = false
	if e == nil {
		return nil
	}
	switch strings.TrimSpace(e.Text) {
	case "1":
	case "0":
		p.Hidden = true
	default:
		return errUnfit("calendar-enabled must be 1 or 0")
	}
	return nil
}

func setColor(p *calendar.Properties, e *dav.Element) error {
	return setParsed(&p.Color, e, calendar.ParseColor)
}

func setOrder(p *calendar.Properties, e *dav.Element) error {
	return setParsed(&p.Order, e, calendar.ParseOrder)
}

// setParsed sets the parsed text, or nil.
func setParsed[T any](at **T, e *dav.Element, parse func(string) (T, error)) error {
	*at = nil
	if e == nil {
		return nil
	}
	v, err := parse(e.Text)
	if err != nil {
		return errUnfit("%s: %s", e.XMLName.Local, err)
	}
	*at = &v
	return nil
}
