package caldav

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/filter"
	"caldav-mcp-server/calendar/render"
)

// nothing writes properties that always exist and are always empty: this server has no locks (RFC 4918 §15.8,
// §15.10).
func nothing(*resource, *dav.Markup) error { return nil }

func writeResourceType(r *resource, m *dav.Markup) error { return m.Raw(r.node().types(r)).OK() }

func writeDisplayName(r *resource, m *dav.Markup) error {
	name := r.person().Title()
	switch r.at.form { //nolint:exhaustive // the other resources have the name of their user
	case formCalendar:
		name = r.calendar.Name
	case formProxyRead:
		name += " (delegates who read)"
	case formProxyWrite:
		name += " (delegates who write)"
	}
	return m.Text(name).OK()
}

// writeETag writes the tag that GET sends. For a calendar it is the weak tag of its text.
func writeETag(r *resource, m *dav.Markup) error {
	if r.at.kind() == atCalendar {
		token, err := r.token()
		if closed(err) {
			return dav.ErrAbsent
		}
		m.Text("W/" + string(textTag(token)))
		return err
	}
	return m.Text(string(cmp.Or(r.object.ETag, r.notification.ETag))).OK()
}

func writeContentType(r *resource, m *dav.Markup) error {
	if r.at.kind() == atNotice {
		return m.Text(dav.XMLType).OK()
	}
	return m.Raw(calendarType).Text(string(r.object.Kind)).OK()
}

// writeContentLength writes the length of GET's response. The length of a calendar's text is unknown until all of its
// objects have been read.
func writeContentLength(r *resource, m *dav.Markup) error {
	switch r.at.kind() {
	case atNotice:
		return m.Number(int64(len(r.rendered())))
	case atObject, atItem:
		if r.at.kind() == atObject && r.object.Data == nil && r.calendar.Access != calendar.OwnerAccess {
			return dav.ErrAbsent // the size includes the caller's own part, which only reading the object reveals
		}
		return m.Number(r.object.Size)
	default:
		return m.Number(int64(len(page)))
	}
}

func writeLastModified(r *resource, m *dav.Markup) error {
	if r.at.kind() == atCalendar && closed(r.x.caller.May(calendar.ReadObjects, r.calendar)) {
		return dav.ErrAbsent
	}
	_, changed := r.node().times(r)
	return m.Date(changed, http.TimeFormat)
}

func writeCreationDate(r *resource, m *dav.Markup) error {
	made, _ := r.node().times(r)
	return m.Date(made, time.RFC3339)
}

func writeOwner(r *resource, m *dav.Markup) error {
	name := r.person().Name
	if r.at.kind()&(atCalendar|atObject) != 0 {
		name = r.calendar.OwnerName
	}
	return m.Href(principalOf(name)).OK()
}

func writeOwnPrincipal(r *resource, m *dav.Markup) error {
	return m.Href(principalOf(r.x.self.User.Name)).OK()
}

func writePrincipalCollections(r *resource, m *dav.Markup) error {
	return m.Href(place{form: formPrincipals}).OK()
}

func writeOwnAddress(r *resource, m *dav.Markup) error { return m.Href(&r.at).OK() }

func writeHome(r *resource, m *dav.Markup) error { return writeOwnPlace(r, m, formHome) }

func writeSupportedMethods(r *resource, m *dav.Markup) error {
	for _, row := range r.x.methods {
		if row.on&r.at.kind() != 0 {
			m.Raw(`<d:supported-method name="`).Raw(row.name).Raw(`"/>`)
		}
	}
	return nil
}

func writeSupportedReports(r *resource, m *dav.Markup) error {
	for _, row := range r.x.reports {
		if row.on&r.at.kind() != 0 {
			m.Raw("<d:supported-report><d:report>")
			m.Empty(row.name)
			m.Raw("</d:report></d:supported-report>")
		}
	}
	return nil
}

// writeSyncToken writes the token, which also serves as the CTag: both change if and only if something in the calendar,
// or in one of the calendars of a home, changes.
func writeSyncToken(r *resource, m *dav.Markup) error {
	token, err := r.token()
	if closed(err) {
		return dav.ErrAbsent
	}
	m.Text(token)
	return err
}

// writeResourceID writes an identifier of the resource that lasts wherever it is moved.
func writeResourceID(r *resource, m *dav.Markup) error {
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
	return m.Element("d:href",
		fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])).OK()
}

func writeDescription(r *resource, m *dav.Markup) error {
	if closed(r.x.caller.May(calendar.ReadObjects, r.calendar)) {
		return dav.ErrAbsent
	}
	return m.Optional(r.calendar.Description)
}

func writeEnabled(r *resource, m *dav.Markup) error {
	if r.calendar.Hidden {
		return m.Number(0)
	}
	return m.Number(1)
}

func writeColor(r *resource, m *dav.Markup) error { return m.Optional(r.calendar.Color) }

func writeOrder(r *resource, m *dav.Markup) error {
	if r.calendar.Order == nil {
		return dav.ErrAbsent
	}
	return m.Number(*r.calendar.Order)
}

func writeKinds(r *resource, m *dav.Markup) error {
	if r.x.caller.SeesBusyAlone(r.calendar) {
		kindElement(m, calendar.Event)
		return nil
	}
	for _, k := range r.calendar.Kinds {
		kindElement(m, k)
	}
	return nil
}

func writeMediaTypes(r *resource, m *dav.Markup) error {
	return m.Raw(`<c:calendar-data content-type="text/calendar" version="2.0"/>`).OK()
}

func writeMaxSize(r *resource, m *dav.Markup) error {
	return m.Number(r.x.Service.Limits().ObjectBytes)
}

// writeMinTime and writeMaxTime write the limits of the dates that the server accepts.
func writeMinTime(r *resource, m *dav.Markup) error { return m.Raw("10000101T000000Z").OK() }

func writeMaxTime(r *resource, m *dav.Markup) error { return m.Raw("99991231T235959Z").OK() }

func writeCollations(r *resource, m *dav.Markup) error {
	for _, c := range filter.Collations() {
		m.Element("c:supported-collation", string(c))
	}
	return nil
}

// writeKindSets writes the sets of components that a new calendar may have: each one alone, as Apple's clients create
// calendars, and all together.
func writeKindSets(r *resource, m *dav.Markup) error {
	sets := []calendar.Kinds{calendar.AllKinds()}
	for _, k := range calendar.AllKinds() {
		sets = append(sets, calendar.Kinds{k})
	}
	for _, set := range sets {
		m.Raw("<c:supported-calendar-component-set>")
		for _, k := range set {
			kindElement(m, k)
		}
		m.Raw("</c:supported-calendar-component-set>")
	}
	return nil
}

func writeMaxInstances(r *resource, m *dav.Markup) error {
	return m.Number(int64(r.x.Service.Limits().Instances))
}

func writeMaxAttendees(r *resource, m *dav.Markup) error {
	return m.Number(int64(r.x.Service.Limits().Attendees))
}

func writeTransparency(r *resource, m *dav.Markup) error {
	if r.calendar.Transparent {
		m.Raw("<c:transparent/>")
	} else {
		m.Raw("<c:opaque/>")
	}
	return nil
}

// writeUserAddresses writes the user's addresses as an attendee: first the mail addresses, which Apple's programs
// expect first, then the principal.
func writeUserAddresses(r *resource, m *dav.Markup) error {
	mails, err := r.x.Service.Mails(r.x.R.Context(), r.person())
	if err != nil {
		return err
	}
	for _, mail := range mails {
		m.Element("d:href", "mailto:"+mail)
	}
	return m.Href(&r.at).OK()
}

// writePublishedURL writes the configured base URL; it is empty if none is set.
func writePublishedURL(r *resource, m *dav.Markup) error {
	if r.other != nil {
		return dav.ErrAbsent
	}
	return m.Text(r.x.published).OK()
}

// writeWayHere writes how this request reached the server.
func writeWayHere(r *resource, m *dav.Markup) error {
	if r.other != nil || r.x.Way == nil {
		return dav.ErrAbsent
	}
	return m.Text(r.x.Way(r.x.R)).OK()
}

// writeClock writes the server's clock. A Date header may be a proxy's.
func writeClock(r *resource, m *dav.Markup) error {
	if r.other != nil {
		return dav.ErrAbsent
	}
	return m.Text(r.x.Now().UTC().Format(time.RFC3339Nano)).OK()
}

// writeTrouble writes what the server cannot do at present; it is empty if there is nothing.
func writeTrouble(r *resource, m *dav.Markup) error {
	if r.other != nil || r.x.Trouble == nil {
		return dav.ErrAbsent
	}
	return m.Text(r.x.Trouble(r.x.R.Context())).OK()
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

func writeUserType(r *resource, m *dav.Markup) error { return m.Raw(userType(r.person())).OK() }

// writeMembers writes the members of a group (RFC 3744 §4.3); a person has none.
func writeMembers(r *resource, m *dav.Markup) error {
	if r.at.kind() == atProxy {
		all, err := r.proxyMembers()
		return principalHrefs(m, all, err)
	}
	if !r.person().Group {
		return nil
	}
	all, err := r.x.Service.MembersOf(r.x.R.Context(), r.x.self, r.person())
	return principalHrefs(m, all, err)
}

// writeMembership writes the groups of a person that the caller belongs to as well (RFC 3744 §4.4).
func writeMembership(r *resource, m *dav.Markup) error {
	if r.person().Group || r.at.kind() == atProxy {
		return nil
	}
	all, err := r.x.Service.GroupsOf(r.x.R.Context(), r.x.self, r.person())
	if err == nil {
		err = writeProxyMembership(r, m)
	}
	return principalHrefs(m, all, err)
}

func writeEmailAddresses(r *resource, m *dav.Markup) error {
	if mail := r.person().Email; mail != "" {
		m.Element("cs:email-address", mail)
	}
	return nil
}

// quotaHere returns the quota of the home and of the caller's own calendars. Other users must not learn an owner's
// usage.
func (r *resource) quotaHere() (*quota, error) {
	if r.at.kind() == atCalendar && r.calendar.Access != calendar.OwnerAccess || r.x.caller.ActsFor() {
		return nil, dav.ErrAbsent
	}
	if r.x.cached.quota == nil {
		used, may, err := r.x.Service.Usage(r.x.R.Context(), r.x.caller)
		if err != nil {
			if calendar.ReasonOf(err) == calendar.Forbidden {
				err = dav.ErrAbsent
			}
			return nil, err
		}
		r.x.cached.quota = &quota{used, may}
	}
	return r.x.cached.quota, nil
}

func writeQuotaUsed(r *resource, m *dav.Markup) error {
	q, err := r.quotaHere()
	if err != nil {
		return err
	}
	return m.Number(q.used.Bytes)
}

// writeQuotaAvailable writes the free bytes. The property is absent without a limit (RFC 4331 §3).
func writeQuotaAvailable(r *resource, m *dav.Markup) error {
	q, err := r.quotaHere()
	if err := cmp.Or(err, q.unbounded()); err != nil {
		return err
	}
	return m.Number(max(q.may.Bytes-q.used.Bytes, 0))
}

func (q *quota) unbounded() error {
	if q == nil || q.may.Bytes == 0 {
		return dav.ErrAbsent
	}
	return nil
}

// writeData writes CALDAV:calendar-data. If an object cannot be given in the requested shape, only that object is
// refused: one endless series must not keep all other objects from a client.
func writeData(r *resource, m *dav.Markup) error {
	if r.object.Data == nil {
		return dav.ErrAbsent
	}
	if r.x.view.Shape.Whole() {
		if err := r.x.Meter.Hold(3 * r.object.Size); err != nil {
			return r.x.unshown(err)
		}
		m.CDATA(render.Legible(r.object.Data))
		return nil
	}
	data, err := r.x.Service.Render(r.x.R.Context(), r.calendar, r.object, r.x.view)
	if err != nil {
		return r.x.unshown(err)
	}
	m.CDATA(render.Legible(data))
	return nil
}

// unshown limits an error about calendar data to this object if the rest of the answer can still be given.
func (x *request) unshown(err error) error {
	reason := calendar.ReasonOf(err)
	if reason == calendar.TooLarge || reason == calendar.Unsupported || reason == calendar.Unavailable && x.Begun {
		return failureOf(err, nil)
	}
	return err
}
