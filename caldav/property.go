package caldav

import (
	"encoding/xml"
	"errors"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// property is a row of the properties table.
type property struct {
	name  xml.Name
	on    kind
	flags propertyFlags
	// get writes the content of the element, or returns dav.ErrAbsent.
	get func(*resource, *dav.Markup) error
	// set applies the element of a PROPPATCH or of the creation of a calendar; the element is nil if the property is
	// removed. A property without set is protected. Only calendars have properties with set.
	set func(*calendar.Properties, *dav.Element) error
	// arrange does the same for a PROPPATCH of an inbox.
	arrange func(*request, *calendar.Scheduling, *dav.Element) error
	// tag is the name in responses.
	tag string
	// scope declares the namespace if responses have no prefix for it.
	scope string
	// source is the section that defines the property.
	source string
}

type propertyFlags uint8

const (
	// allprop marks the properties of RFC 4918: allprop returns only these (§9.1).
	allprop propertyFlags = 1 << iota
	// inReports marks data that only reports return.
	inReports
	// atCreation marks properties that can be set only when a calendar is created.
	atCreation
	// ofContent marks properties that describe the content of a calendar. In a subscription they are dead properties,
	// because only the subscribed apps know the content.
	ofContent
	// ofHome marks properties of a home as a whole. A listing that includes one prefetches the entire home.
	ofHome
)

// serverProperty is a property that only the server sets.
func serverProperty(name xml.Name, on kind, flags propertyFlags, get func(*resource, *dav.Markup) error) property {
	return property{name: name, on: on, flags: flags, get: get}
}

// settable is a property of calendars that clients may set.
func settable(
	name xml.Name, flags propertyFlags, get func(*resource, *dav.Markup) error,
	set func(*calendar.Properties, *dav.Element) error,
) property {
	return property{name: name, on: atCalendar, flags: flags, get: get, set: set}
}

// under sets the source of rows.
func under(source string, rows ...property) []property {
	for i := range rows {
		rows[i].source = source
	}
	return rows
}

// write writes the property's element. If it fails, the buffer stays unchanged.
func (p *property) write(r *resource, m *dav.Markup, nameOnly bool) error {
	if p.on&r.at.kind() == 0 {
		return dav.ErrAbsent
	}
	start := len(m.Buf)
	m.Raw("<").Raw(p.tag).Raw(p.scope).Raw(">")
	inside := len(m.Buf)
	if err := p.get(r, m); err != nil {
		m.Buf = m.Buf[:start]
		return err
	}
	if p.set != nil && !nameOnly && r.at.kind() == atCalendar {
		if err := p.dress(r, m, start, inside); !errors.Is(err, dav.ErrAbsent) {
			return err
		}
	}
	if nameOnly || len(m.Buf) == inside {
		m.Buf = m.Buf[:start]
		return m.Raw("<").Raw(p.tag).Raw(p.scope).Raw("/>").OK()
	}
	return m.Raw("</").Raw(p.tag).Raw(">").OK()
}

// dress replaces a property that was just written by the stored element, which has the attributes of its PROPPATCH
// (xml:lang, Apple's symbolic-color). It does nothing if the value has changed since in another way.
func (p *property) dress(r *resource, m *dav.Markup, start, inside int) error {
	value, err := r.keptAs(p.name)
	if err != nil {
		return err
	}
	content := m.Buf[inside:]
	end := "</" + p.name.Local + ">"
	if head, ok := strings.CutSuffix(value, end); ok && strings.HasSuffix(head, ">"+string(content)) {
		m.Buf = append(m.Buf[:start], value...)
		return nil
	}
	return dav.ErrAbsent
}
