package caldav

import (
	"bytes"
	"encoding/xml"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
)

// holders is what properties are kept of that nothing here understands.
var holders = [...]struct {
	kind  kind
	place calendar.Place
}{
	{atPrincipal, calendar.AtPrincipal},
	{atHome, calendar.AtHome},
	{atCalendar, calendar.AtCalendar},
	{atObject, calendar.AtObject},
}

// holder returns what the resource's properties are kept of, if it keeps any.
func (r *resource) holder() (calendar.Holder, bool) {
	h := calendar.Holder{User: r.x.caller.User.ID, Calendar: r.calendar, Object: r.at.object}
	for _, row := range holders {
		if row.kind == r.at.kind() && r.other == nil {
			h.Place = row.place
			return h, true
		}
	}
	return h, false
}

// deadProperties are those of one resource.
type deadProperties struct {
	of   place
	list []calendar.DeadProperty
}

// listDead returns the properties that are kept of the resource. It asks the store as seldom
// as it can: a listing has many resources, and most of them keep nothing.
func (r *resource) listDead() ([]calendar.DeadProperty, error) {
	if r.dead != nil && r.dead.of == r.at {
		return r.dead.list, nil
	}
	list, err := r.x.deadOf(r)
	r.dead = &deadProperties{r.at, list}
	return list, err
}

func (x *exchange) deadOf(r *resource) ([]calendar.DeadProperty, error) {
	h, ok := r.holder()
	if !ok {
		return nil, nil
	}
	listed := r.at != x.at
	switch {
	case listed && h.Place == calendar.AtCalendar:
		return x.deadInHome(r.calendar.ID)
	case listed && h.Place == calendar.AtObject:
		if keepers, err := once(x, &x.keepers, r.calendar, x.Service.DeadPropertyHolders); err != nil || !keepers[r.at.object] {
			return nil, err
		}
	}
	return x.Service.DeadProperties(x.r.Context(), x.caller, h)
}

// deadInHome looks at what is kept of a calendar among others.
func (x *exchange) deadInHome(id calendar.CalendarID) ([]calendar.DeadProperty, error) {
	if x.homeDead == nil {
		var err error
		if x.homeDead, err = x.Service.DeadPropertiesInHome(x.r.Context(), x.caller); err != nil {
			return nil, err
		}
	}
	return x.homeDead[id], nil
}

// keptAs returns the property that is kept under a name, or errAbsent.
func (r *resource) keptAs(n xml.Name) (string, error) {
	list, err := r.listDead()
	if err != nil {
		return "", err
	}
	for _, k := range list {
		if k.Name.Space == n.Space && k.Name.Local == n.Local {
			return k.Value, nil
		}
	}
	return "", errAbsent
}

// writeDead writes the property that is kept under a name.
func (r *resource) writeDead(n xml.Name, m *markup, nameOnly bool) error {
	value, err := r.keptAs(n)
	if err != nil {
		return err
	}
	if nameOnly {
		m.empty(n)
		return nil
	}
	return m.raw(value).ok()
}

// writeAllDead writes what is kept and is not understood: RFC 4918 §9.1 wants it in allprop.
func (r *resource) writeAllDead(m *markup, but names, nameOnly bool) error {
	list, err := r.listDead()
	if err != nil {
		return err
	}
	for _, k := range list {
		n := xml.Name{Space: k.Name.Space, Local: k.Name.Local}
		if row := r.x.byName[n]; row != nil && row.on&r.at.kind() != 0 || slices.Contains(but, n) {
			continue
		}
		if nameOnly {
			m.empty(n)
		} else {
			m.raw(k.Value)
		}
	}
	return nil
}

// dress gives a property that was just written the attributes that it was set with
// (xml:lang, Apple's symbolic-color), unless another way than PROPPATCH has changed it since.
func (p *property) dress(r *resource, m *markup, start, inside int) error {
	value, err := r.keptAs(p.name)
	if err != nil {
		return err
	}
	content := m.buf[inside:]
	end := "</" + p.name.Local + ">"
	if head, ok := strings.CutSuffix(value, end); ok && strings.HasSuffix(head, ">"+string(content)) {
		m.buf = append(m.buf[:start], value...)
		return nil
	}
	return errAbsent
}

// keep returns the change that keeps an element as it is, or removes it.
func (e edit) keep() (calendar.DeadProperty, error) {
	k := calendar.DeadProperty{Name: calendar.PropertyName{Space: e.name.Space, Local: e.name.Local}}
	if e.value == nil {
		return k, nil
	}
	var m markup
	m.foreign(e.value, "", e.lang)
	if len(m.buf) > calendar.MaxDeadPropertyBytes {
		// RFC 4918 §9.2.1 has this status for it.
		return k, refuseWith(http.StatusInsufficientStorage, "a property of more than %d bytes is not kept", calendar.MaxDeadPropertyBytes)
	}
	k.Value = string(m.buf)
	return k, nil
}

// xmlNS is the namespace of xml:lang, whose prefix needs no declaration.
const xmlNS = "http://www.w3.org/XML/1998/namespace"

// foreign writes an element of any namespace so that it means the same wherever it is put:
// it declares what it uses. around is the default namespace that it stands in; lang the
// language it was in before (RFC 4918 §4.3), if that is to be kept.
func (m *markup) foreign(e *element, around, lang string) {
	m.raw("<").raw(e.XMLName.Local)
	if e.XMLName.Space != around {
		m.raw(` xmlns="`).attribute(e.XMLName.Space).raw(`"`)
	}
	m.attributes(e.Attrs, lang)
	if len(e.content) == 0 {
		m.raw("/>")
		return
	}
	m.raw(">")
	for _, part := range e.content {
		if part.child != nil {
			m.foreign(part.child, e.XMLName.Space, "")
		} else {
			m.text(part.text)
		}
	}
	m.raw("</").raw(e.XMLName.Local).raw(">")
}

// attributes writes an element's attributes. Prefixes that only a value refers to, as XML
// Schema does, are lost: no property that we know has such.
func (m *markup) attributes(attrs []xml.Attr, lang string) {
	spaces := 0
	for _, a := range attrs {
		name := a.Name.Local
		switch a.Name.Space {
		case "":
			if name == "xmlns" {
				continue
			}
		case "xmlns":
			continue
		case xmlNS:
			name = "xml:" + name
			if a.Name.Local == "lang" {
				lang = ""
			}
		default:
			prefix := "n" + string(rune('a'+spaces%26)) + strings.Repeat("n", spaces/26)
			spaces++
			m.raw(" xmlns:").raw(prefix).raw(`="`).attribute(a.Name.Space).raw(`"`)
			name = prefix + ":" + name
		}
		m.raw(" ").raw(name).raw(`="`).attribute(a.Value).raw(`"`)
	}
	if lang != "" {
		m.raw(` xml:lang="`).attribute(lang).raw(`"`)
	}
}

// isDressed tells whether an element has attributes that are worth keeping.
func (e *element) isDressed() bool {
	var m markup
	m.attributes(e.Attrs, "")
	return len(bytes.TrimSpace(m.buf)) > 0
}
