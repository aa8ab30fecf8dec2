package caldav

import (
	"net/http"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
)

func unfit(format string, args ...any) error {
	return refuseWith(http.StatusConflict, format, args...)
}

// setResourceType takes the one type that a client can make. RFC 5689 §3: resourcetype is
// set when a collection is made, and stays.
func setResourceType(_ *calendar.Properties, e *element) error {
	if e == nil || !e.has(dav("collection")) || !e.has(caldav("calendar")) || len(e.Children) != 2 {
		return breach("d:valid-resourcetype", "the only collections that can be made here are calendars: DAV:collection with CALDAV:calendar")
	}
	return nil
}

func setDisplayName(p *calendar.Properties, e *element) error {
	p.Name = ""
	if e != nil {
		p.Name = strings.TrimSpace(e.Text)
	}
	return nil
}

func setDescription(p *calendar.Properties, e *element) error {
	p.Description = nil
	if e != nil {
		p.Description = &e.Text
	}
	return nil
}

func setKinds(p *calendar.Properties, e *element) error {
	p.Kinds = nil
	if e == nil {
		return nil
	}
	for _, c := range e.Children {
		if k := calendar.Kind(strings.ToUpper(c.attr("name"))); c.XMLName == caldav("comp") && !p.Kinds.Has(k) {
			p.Kinds = append(p.Kinds, k)
		}
	}
	if len(p.Kinds) == 0 {
		return breach("c:supported-calendar-component", "supported-calendar-component-set names the components that the calendar is to hold")
	}
	return nil
}

func setTransparency(p *calendar.Properties, e *element) error {
	switch {
	case e == nil || e.has(caldav("opaque")):
		p.Transparent = false
	case e.has(caldav("transparent")):
		p.Transparent = true
	default:
		return unfit("schedule-calendar-transp is opaque or transparent")
	}
	return nil
}

func setColor(p *calendar.Properties, e *element) error {
	p.Color = nil
	if e == nil {
		return nil
	}
	color, err := calendar.ParseColor(e.Text)
	if err != nil {
		return unfit("calendar-color: %s", err)
	}
	p.Color = &color
	return nil
}

func setOrder(p *calendar.Properties, e *element) error {
	p.Order = nil
	if e == nil {
		return nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(e.Text), 10, 64)
	if err != nil {
		return unfit("calendar-order is a whole number")
	}
	p.Order = &n
	return nil
}
