package caldav

import (
	"encoding/xml"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// schedulingProperties are the properties of RFC 6638 and RFC 7953. Apple has its own name for the availability, with
// the same value.
func schedulingProperties() []property {
	availability := func(name xml.Name) property {
		return property{name: name, on: atInbox, get: writeAvailability, arrange: arrangeAvailability}
	}
	return slices.Concat(
		under("RFC 6638 §2.1, §2.2, §2.4, §9",
			serverProperty(caldavName("calendar-user-address-set"), atPrincipal, 0, writeUserAddresses),
			serverProperty(caldavName("calendar-user-type"), atPrincipal, 0, writeUserType),
			serverProperty(caldavName("schedule-inbox-URL"), atPrincipal, 0, writeInboxURL),
			serverProperty(caldavName("schedule-outbox-URL"), atPrincipal, 0, writeOutboxURL),
			settable(caldavName("schedule-calendar-transp"), 0, writeTransparency, setTransparency),
			property{
				name: caldavName("schedule-default-calendar-URL"), on: atInbox, get: writeDefaultCalendar,
				arrange: arrangeDefault,
			},
			serverProperty(caldavName("schedule-tag"), atObject, 0, writeScheduleTag),
		),
		under("RFC 7953 §7.2", availability(caldavName("calendar-availability"))),
		under("Apple's extensions", availability(server("calendar-availability"))),
	)
}

func writeInboxURL(r *resource, m *dav.Markup) error  { return writeOwnPlace(r, m, formInbox) }
func writeOutboxURL(r *resource, m *dav.Markup) error { return writeOwnPlace(r, m, formOutbox) }

// scheduling returns the caller's scheduling settings, or dav.ErrAbsent if the caller may not see them.
func (r *resource) scheduling() (calendar.Scheduling, error) {
	if r.x.cached.scheduling != nil {
		return *r.x.cached.scheduling, nil
	}
	said, err := r.x.Service.Scheduling(r.x.R.Context(), r.x.caller)
	if closed(err) {
		return said, dav.ErrAbsent
	}
	if err == nil {
		r.x.cached.scheduling = &said
	}
	return said, err
}

func writeDefaultCalendar(r *resource, m *dav.Markup) error {
	said, err := r.scheduling()
	if err != nil {
		return err
	}
	if said.Default == "" {
		return nil
	}
	all, err := r.x.calendarsInHome()
	for _, cal := range all {
		if cal.ID == said.Default {
			m.Href(place{form: formCalendar, user: r.at.user, calendar: cal.Address()})
		}
	}
	return err
}

func writeAvailability(r *resource, m *dav.Markup) error {
	said, err := r.scheduling()
	if err != nil {
		return err
	}
	return m.Optional(said.Availability)
}

// writeScheduleTag writes an object's schedule tag. A listing reads the tags of a whole calendar once, since few
// objects have one.
func writeScheduleTag(r *resource, m *dav.Markup) error {
	tag := r.object.ScheduleTag
	if r.object.Data == nil {
		tags, err := once(r.x, &r.x.cached.scheduleTags, r.calendar, r.x.Service.ScheduleTags)
		if err != nil {
			return err
		}
		tag = tags[r.object.Name]
	}
	if tag == "" {
		return dav.ErrAbsent
	}
	return m.Text(string(tag)).OK()
}

func arrangeAvailability(_ *request, s *calendar.Scheduling, e *dav.Element) error {
	s.Availability = nil
	if e != nil && strings.TrimSpace(e.Text) != "" {
		s.Availability = &e.Text
	}
	return nil
}

func arrangeDefault(x *request, s *calendar.Scheduling, e *dav.Element) error {
	s.Default = ""
	if e == nil {
		return nil
	}
	wrong := dav.Breach("c:valid-schedule-default-calendar-URL",
		"schedule-default-calendar-URL must hold the DAV:href of one of your own calendars that accepts events and is "+
			"not linked to an external account")
	for _, c := range e.Children {
		if c.XMLName != dav.Name("href") {
			continue
		}
		at, err := x.parseHref(c.Text)
		if err != nil || at.kind() != atCalendar || x.reach(at) != nil {
			return wrong
		}
		cal, err := x.calendarAt(at)
		if err != nil || !cal.Receives() {
			return wrong
		}
		s.Default = cal.ID
		return nil
	}
	return wrong
}

// discard answers DELETE of a message. It answers no invitation: clients do that in the calendar.
func discard(x *request) error { return takeOut(x, x.at.object, x.Service.Discard) }
