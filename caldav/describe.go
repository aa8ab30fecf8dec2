package caldav

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
)

// nothing writes properties that always exist and are always empty: this server has no locks (RFC 4918 §15.8,
// §15.10).
func nothing(*resource, *markup) error { return nil }

func (r *resource) resourceType(m *markup) error { return m.raw(r.node().types(r)).ok() }

func (r *resource) displayName(m *markup) error {
	name := r.person().Title()
	if r.at.kind() == atCalendar {
		name = r.calendar.Name
	}
	return m.text(name).ok()
}

// etag writes the tag that GET sends. For a calendar it is the weak tag of its text.
func (r *resource) etag(m *markup) error {
	if r.at.kind() == atCalendar {
		token, err := r.token()
		if closed(err) {
			return errAbsent
		}
		m.text("W/" + string(textTag(token)))
		return err
	}
	return m.text(string(cmp.Or(r.object.ETag, r.notification.ETag))).ok()
}

// calendarType also names the component (RFC 5545 §8.1), so that a client can tell a task from an event in a listing.
const calendarType = "text/calendar; charset=utf-8; component="

func mediaTypeOf(o calendar.Object) string { return calendarType + string(o.Kind) }

func (r *resource) contentType(m *markup) error {
	if r.at.kind() == atNotice {
		return m.text(xmlType).ok()
	}
	return m.raw(calendarType).text(string(r.object.Kind)).ok()
}

// contentLength is the length of GET's response. The length of a calendar's text is unknown until all of its objects
// have been read.
func (r *resource) contentLength(m *markup) error {
	switch r.at.kind() {
	case atNotice:
		return m.number(int64(len(r.rendered())))
	case atObject, atItem:
		if r.at.kind() == atObject && r.object.Data == nil && r.calendar.Access != calendar.OwnerAccess {
			return errAbsent // the size includes the caller's own part, which only reading the object reveals
		}
		return m.number(r.object.Size)
	default:
		return m.number(int64(len(page)))
	}
}

func (r *resource) lastModified(m *markup) error {
	if r.at.kind() == atCalendar && closed(r.x.caller.May(calendar.ReadObjects, r.calendar)) {
		return errAbsent
	}
	_, changed := r.node().times(r)
	return m.date(changed, http.TimeFormat)
}

func (r *resource) creationDate(m *markup) error {
	made, _ := r.node().times(r)
	return m.date(made, time.RFC3339)
}

func principalOf(name string) place { return place{form: formPrincipal, user: userName(name)} }

func (r *resource) owner(m *markup) error {
	name := r.person().Name
	if r.at.kind()&(atCalendar|atObject) != 0 {
		name = r.calendar.OwnerName
	}
	return m.href(principalOf(name)).ok()
}

func (r *resource) ownPrincipal(m *markup) error {
	return m.href(principalOf(r.x.caller.User.Name)).ok()
}

func (r *resource) principalCollections(m *markup) error {
	return m.href(place{form: formPrincipals}).ok()
}

func (r *resource) principalURL(m *markup) error { return m.href(&r.at).ok() }

func (r *resource) home(m *markup) error { return r.ownPlace(m, formHome) }

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

// syncToken writes the token, which also serves as the CTag: both change if and only if something in the calendar, or
// in one of the calendars of a home, changes.
func (r *resource) syncToken(m *markup) error {
	token, err := r.token()
	if closed(err) {
		return errAbsent
	}
	m.text(token)
	return err
}

// closed reports whether an error means that the caller may not see the content, or that there is too much of it.
func closed(err error) bool {
	reason := calendar.ReasonOf(err)
	return reason == calendar.Forbidden || reason == calendar.TooLarge && err != nil || missing(err)
}

// resourceID identifies the resource for its lifetime, wherever it is moved.
func (r *resource) resourceID(m *markup) error {
	// A user has one ID but two resources: the principal and the home.
	id := string(r.person().ID)
	if r.at.kind() == atCalendar {
		id = string(r.calendar.ID)
	} else if r.at.kind() == atHome {
		id = "home of " + id
	}
	// RFC 9562 §5.8: a UUID whose bits we define ourselves.
	sum := sha256.Sum256([]byte(id))
	sum[6], sum[8] = sum[6]&0x0F|0x80, sum[8]&0x3F|0x80
	return m.element("d:href", fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])).ok()
}

func (r *resource) description(m *markup) error {
	if closed(r.x.caller.May(calendar.ReadObjects, r.calendar)) {
		return errAbsent
	}
	return m.optional(r.calendar.Description)
}

func (r *resource) enabled(m *markup) error {
	if r.calendar.Hidden {
		return m.number(0)
	}
	return m.number(1)
}

func (r *resource) color(m *markup) error { return m.optional(r.calendar.Color) }

func (r *resource) order(m *markup) error {
	if r.calendar.Order == nil {
		return errAbsent
	}
	return m.number(*r.calendar.Order)
}

func (r *resource) kinds(m *markup) error {
	if r.x.caller.SeesBusyAlone(r.calendar) {
		kindElement(m, calendar.Event)
		return nil
	}
	for _, k := range r.calendar.Kinds {
		kindElement(m, k)
	}
	return nil
}

func (r *resource) mediaTypes(m *markup) error {
	return m.raw(`<c:calendar-data content-type="text/calendar" version="2.0"/>`).ok()
}

func (r *resource) maxSize(m *markup) error {
	return m.number(r.x.Service.Limits().ObjectBytes)
}

// minTime and maxTime are the limits of the dates that the server accepts.
func (r *resource) minTime(m *markup) error { return m.raw("10000101T000000Z").ok() }

func (r *resource) maxTime(m *markup) error { return m.raw("99991231T235959Z").ok() }

func (r *resource) collations(m *markup) error {
	for _, c := range filter.Collations() {
		m.element("c:supported-collation", string(c))
	}
	return nil
}

// kindSets lists the sets of components that a new calendar may have: each one alone, as Apple's clients create
// calendars, and all together.
func (r *resource) kindSets(m *markup) error {
	sets := []calendar.Kinds{calendar.AllKinds()}
	for _, k := range calendar.AllKinds() {
		sets = append(sets, calendar.Kinds{k})
	}
	for _, set := range sets {
		m.raw("<c:supported-calendar-component-set>")
		for _, k := range set {
			kindElement(m, k)
		}
		m.raw("</c:supported-calendar-component-set>")
	}
	return nil
}

func (r *resource) maxInstances(m *markup) error {
	return m.number(int64(r.x.Service.Limits().Instances))
}

func (r *resource) maxAttendees(m *markup) error {
	return m.number(int64(r.x.Service.Limits().Attendees))
}

func (r *resource) transparency(m *markup) error {
	if r.calendar.Transparent {
		m.raw("<c:transparent/>")
	} else {
		m.raw("<c:opaque/>")
	}
	return nil
}

// userAddresses lists the user's addresses as an attendee: first the mail addresses, which Apple's programs expect
// first, then the principal.
func (r *resource) userAddresses(m *markup) error {
	mails, err := r.x.Service.Mails(r.x.r.Context(), r.person())
	if err != nil {
		return err
	}
	for _, mail := range mails {
		m.element("d:href", "mailto:"+mail)
	}
	return m.href(&r.at).ok()
}

// publishedURL writes the configured base URL; it is empty if none is set.
func (r *resource) publishedURL(m *markup) error {
	if r.other != nil {
		return errAbsent
	}
	return m.text(r.x.published).ok()
}

// wayHere writes how this request reached the server.
func (r *resource) wayHere(m *markup) error {
	if r.other != nil || r.x.Way == nil {
		return errAbsent
	}
	return m.text(r.x.Way(r.x.r)).ok()
}

// individual and group are the calendar user types (RFC 6638 §2.4.2) of principals that are no room or resource.
const individual, group = "INDIVIDUAL", "GROUP"

func userType(u calendar.User) string {
	switch {
	case u.Group:
		return group
	case u.Room.Bookable():
		return strings.ToUpper(string(u.Room.Kind))
	}
	return individual
}

func (r *resource) userType(m *markup) error { return m.raw(userType(r.person())).ok() }

// members lists the members of a group (RFC 3744 §4.3); a person has none.
func (r *resource) members(m *markup) error {
	if !r.person().Group {
		return nil
	}
	all, err := r.x.Service.MembersOf(r.x.r.Context(), r.x.caller, r.person())
	return principalHrefs(m, all, err)
}

// membership lists the groups of a person that the caller belongs to as well (RFC 3744 §4.4).
func (r *resource) membership(m *markup) error {
	if r.person().Group {
		return nil
	}
	all, err := r.x.Service.GroupsOf(r.x.r.Context(), r.x.caller, r.person())
	return principalHrefs(m, all, err)
}

func principalHrefs(m *markup, all []calendar.User, err error) error {
	for _, u := range all {
		m.href(principalOf(u.Name))
	}
	return err
}

func (r *resource) emailAddresses(m *markup) error {
	if mail := r.person().Email; mail != "" {
		m.element("cs:email-address", mail)
	}
	return nil
}
