package caldav

import (
	"net/http"
	"strconv"
	"time"

	"caldav-mcp-server/calendar"
)

// nothing is the value of properties that are always there and always empty: this server
// has no locks (RFC 4918 §15.8, §15.10) and no groups.
func nothing(*resource, *markup) error { return nil }

func (r *resource) resourceType(m *markup) error {
	if r.at.kind() != atObject {
		m.raw("<d:collection/>")
	}
	if r.at.kind() == atPrincipal {
		m.raw("<d:principal/>")
	}
	if r.at.kind() == atCalendar {
		m.raw("<c:calendar/>")
	}
	return nil
}

func (r *resource) displayName(m *markup) error {
	name := r.x.caller.User.Title()
	if r.at.kind() == atCalendar {
		name = r.calendar.Name
	}
	m.text(name)
	return nil
}

func (r *resource) etag(m *markup) error {
	m.text(string(r.object.ETag))
	return nil
}

// mediaTypeOf names the component, too (RFC 5545 §8.1), so that a client can tell a task
// from an event by the listing alone.
func mediaTypeOf(o calendar.Object) string {
	return "text/calendar; charset=utf-8; component=" + string(o.Kind)
}

func (r *resource) contentType(m *markup) error {
	m.text(mediaTypeOf(r.object))
	return nil
}

func (r *resource) contentLength(m *markup) error {
	return m.number(r.object.Size)
}

func (r *resource) lastModified(m *markup) error {
	at := r.calendar.Modified
	if r.at.kind() == atObject {
		at = r.object.Modified
	}
	m.buf = at.UTC().AppendFormat(m.buf, http.TimeFormat)
	return nil
}

func (r *resource) creationDate(m *markup) error {
	at := r.calendar.Created
	if r.at.kind() == atObject {
		at = r.object.Created
	}
	m.buf = at.UTC().AppendFormat(m.buf, time.RFC3339)
	return nil
}

func principalOf(name string) place { return place{form: formPrincipal, user: userName(name)} }

func (r *resource) owner(m *markup) error {
	name := r.x.caller.User.Name
	if r.at.kind()&(atCalendar|atObject) != 0 {
		name = r.calendar.OwnerName
	}
	m.hrefElement(principalOf(name))
	return nil
}

func (r *resource) ownPrincipal(m *markup) error {
	m.hrefElement(principalOf(r.x.caller.User.Name))
	return nil
}

func (r *resource) principalCollections(m *markup) error {
	m.hrefElement(place{form: formPrincipals})
	return nil
}

func (r *resource) home(m *markup) error {
	m.hrefElement(place{form: formHome, user: r.at.user})
	return nil
}

func (r *resource) supportedMethods(m *markup) error {
	for _, row := range r.x.methods {
		if row.on&r.at.kind() != 0 {
			m.raw(`<d:supported-method name="`).raw(row.name).raw(`"/>`)
		}
	}
	return nil
}

func (r *resource) supportedReports(m *markup) error {
	for _, row := range r.x.reports {
		if row.on&r.at.kind() != 0 {
			m.raw("<d:supported-report><d:report>")
			m.empty(row.name)
			m.raw("</d:report></d:supported-report>")
		}
	}
	return nil
}

// syncToken is the CTag as well: both change when, and only when, something in the
// calendar does.
func (r *resource) syncToken(m *markup) error {
	t, err := r.x.syncTokenOf(r.calendar)
	m.text(t.String())
	return err
}

func (r *resource) description(m *markup) error { return m.optional(r.calendar.Description) }

func (r *resource) timezone(m *markup) error {
	if r.calendar.TimezoneData == nil {
		return errAbsent
	}
	m.cdata([]byte(*r.calendar.TimezoneData))
	return nil
}

func (r *resource) timezoneID(m *markup) error {
	m.text(r.calendar.Timezone)
	return nil
}

func (r *resource) color(m *markup) error { return m.optional(r.calendar.Color) }

func (r *resource) order(m *markup) error {
	if r.calendar.Order == nil {
		return errAbsent
	}
	return m.number(*r.calendar.Order)
}

func (r *resource) kinds(m *markup) error {
	for _, k := range r.calendar.Kinds {
		m.kindElement(k)
	}
	return nil
}

func (r *resource) mediaTypes(m *markup) error {
	m.raw(`<c:calendar-data content-type="text/calendar" version="2.0"/>`)
	return nil
}

func (r *resource) maxSize(m *markup) error {
	return m.number(r.x.service.Limits().ObjectBytes)
}

func (r *resource) maxInstances(m *markup) error {
	return m.number(int64(r.x.service.Limits().Instances))
}

func (r *resource) maxAttendees(m *markup) error {
	return m.number(int64(r.x.service.Limits().Attendees))
}

func (r *resource) transparency(m *markup) error {
	if r.calendar.Transparent {
		m.raw("<c:transparent/>")
	} else {
		m.raw("<c:opaque/>")
	}
	return nil
}

// userAddresses names the user as an attendee: the mail address, if there is one, and the
// principal.
func (r *resource) userAddresses(m *markup) error {
	if mail := r.x.caller.User.Email; mail != "" {
		m.element("d:href", "mailto:"+mail)
	}
	m.hrefElement(r.at)
	return nil
}

func (r *resource) userType(m *markup) error {
	m.raw("INDIVIDUAL")
	return nil
}

func (r *resource) emailAddresses(m *markup) error {
	if mail := r.x.caller.User.Email; mail != "" {
		m.element("cs:email-address", mail)
	}
	return nil
}

// optional writes a text that may never have been set.
func (m *markup) optional(s *string) error {
	if s == nil {
		return errAbsent
	}
	m.text(*s)
	return nil
}

func (m *markup) number(n int64) error {
	m.buf = strconv.AppendInt(m.buf, n, 10)
	return nil
}
