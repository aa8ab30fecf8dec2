package caldav

import (
	"encoding/xml"
	"errors"
	"slices"

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

// properties is the table of all properties, in the order of allprop.
func properties() []property {
	return slices.Concat(webdavProperties(), accessProperties(), calendarProperties(), schedulingProperties(), appleProperties(), sharingProperties(), pushProperties(), doctorProperties())
}

// row is a property that only the server sets.
func row(name xml.Name, on kind, flags propertyFlags, get func(*resource, *dav.Markup) error) property {
	return property{name: name, on: on, flags: flags, get: get}
}

// settable is a property of calendars that clients may set.
func settable(name xml.Name, flags propertyFlags, get func(*resource, *dav.Markup) error, set func(*calendar.Properties, *dav.Element) error) property {
	return property{name: name, on: atCalendar, flags: flags, get: get, set: set}
}

// dated are the kinds of resources with dates and bytes.
const dated = atCalendar | atObject

func webdavProperties() []property {
	return slices.Concat(
		under("RFC 4918 §15",
			property{name: dav.Name("resourcetype"), on: everything, flags: allprop | atCreation, get: writeResourceType, set: setResourceType},
			property{name: dav.Name("displayname"), on: atPrincipal | atHome | atCalendar, flags: allprop, get: writeDisplayName, set: setDisplayName},
			row(dav.Name("getetag"), leaves|atCalendar, allprop, writeETag),
			row(dav.Name("getcontenttype"), leaves, allprop, writeContentType),
			row(dav.Name("getcontentlength"), everything&^atCalendar, allprop, writeContentLength),
			row(dav.Name("getlastmodified"), dated|atNotice|atItem, allprop, writeLastModified),
			row(dav.Name("creationdate"), dated|atNotice|atItem, allprop, writeCreationDate),
			row(dav.Name("supportedlock"), everything, allprop, nothing),
			row(dav.Name("lockdiscovery"), everything, allprop, nothing),
		),
	)
}

func accessProperties() []property {
	return slices.Concat(
		under("RFC 3744 §4, §5",
			row(dav.Name("owner"), atPrincipal|atHome|dated|atBox|atNotice|atScheduling, 0, writeOwner),
			row(dav.Name("current-user-privilege-set"), everything, 0, writePrivileges),
			row(dav.Name("supported-privilege-set"), everything, 0, writeSupportedPrivileges),
			row(dav.Name("acl"), everything, 0, writeAccessList),
			row(dav.Name("acl-restrictions"), everything, 0, writeAccessRestrictions),
			row(dav.Name("inherited-acl-set"), everything, 0, nothing),
			row(dav.Name("principal-URL"), atPrincipal, 0, writeOwnAddress),
			row(dav.Name("alternate-URI-set"), atPrincipal, 0, nothing),
			row(dav.Name("group-member-set"), atPrincipal, 0, writeMembers),
			row(dav.Name("group-membership"), atPrincipal, 0, writeMembership),
			row(dav.Name("principal-collection-set"), everything, 0, writePrincipalCollections),
		),
		under("RFC 5397",
			row(dav.Name("current-user-principal"), everything, 0, writeOwnPrincipal),
		),
		under("RFC 3253 §3.1",
			row(dav.Name("supported-method-set"), everything, 0, writeSupportedMethods),
			row(dav.Name("supported-report-set"), everything, 0, writeSupportedReports),
		),
		under("RFC 5842 §3.1",
			row(dav.Name("resource-id"), atPrincipal|atHome|atCalendar, 0, writeResourceID),
		),
		under("RFC 5995 §3.2",
			row(dav.Name("add-member"), atCalendar, 0, writeOwnAddress),
		),
		under("RFC 4331 §3, §4",
			row(dav.Name("quota-available-bytes"), atHome|atCalendar, 0, writeQuotaAvailable),
			row(dav.Name("quota-used-bytes"), atHome|atCalendar, 0, writeQuotaUsed),
		),
		under("RFC 6578 §4",
			row(dav.Name("sync-token"), atHome|atCalendar|atBox|atInbox, ofHome, writeSyncToken),
		),
	)
}

func calendarProperties() []property {
	return slices.Concat(
		under("RFC 4791 §5.2, §6.2",
			row(caldav("calendar-home-set"), atPrincipal, 0, writeHome),
			settable(caldav("calendar-description"), 0, writeDescription, setDescription),
			settable(caldav("calendar-timezone"), 0, writeTimezone, setTimezone),
			settable(caldav("supported-calendar-component-set"), atCreation|ofContent, writeKinds, setKinds),
			row(caldav("supported-calendar-data"), atCalendar, 0, writeMediaTypes),
			row(caldav("max-resource-size"), atCalendar, 0, writeMaxSize),
			row(caldav("max-instances"), atCalendar, 0, writeMaxInstances),
			row(caldav("max-attendees-per-instance"), atCalendar, 0, writeMaxAttendees),
			row(caldav("min-date-time"), atCalendar, 0, writeMinTime),
			row(caldav("max-date-time"), atCalendar, 0, writeMaxTime),
			row(caldav("supported-collation-set"), atHome|dated|atInbox, 0, writeCollations),
			row(caldav("calendar-data"), atObject|atItem, inReports, writeData),
		),
		under("RFC 7809 §5.2",
			settable(caldav("calendar-timezone-id"), 0, writeTimezoneID, setTimezoneID),
		),
	)
}

func appleProperties() []property {
	return slices.Concat(
		under("Apple's extensions",
			row(caldav("supported-calendar-component-sets"), atHome, 0, writeKindSets),
			row(server("getctag"), atHome|atCalendar|atBox|atInbox, ofHome, writeSyncToken),
			row(server("email-address-set"), atPrincipal, 0, writeEmailAddresses),
			settable(apple("calendar-color"), 0, writeColor, setColor),
			settable(apple("calendar-order"), 0, writeOrder, setOrder),
		),
	)
}

func sharingProperties() []property {
	return slices.Concat(
		under("caldav-sharing §4, §5.2",
			row(server("notification-URL"), atPrincipal, 0, writeNotificationURL),
			row(server("notificationtype"), atNotice, 0, writeNoticeType),
			row(server("invite"), atCalendar, 0, writeInvitees),
			row(server("allowed-sharing-modes"), atCalendar, 0, writeSharingModes),
			row(server("shared-url"), atCalendar, 0, writeSharedURL),
		),
		under("ownCloud",
			settable(owncloud("calendar-enabled"), 0, writeEnabled, setEnabled),
		),
	)
}

// doctorNS is the namespace of properties for troubleshooting.
const doctorNS = "urn:caldav-mcp-server"

// doctorProperties show how requests reach the server. The doctor compares them with its own view.
func doctorProperties() []property {
	own := func(local string) xml.Name { return xml.Name{Space: doctorNS, Local: local} }
	return under("This server",
		row(own("base-url"), atPrincipal, 0, writePublishedURL),
		row(own("way"), atPrincipal, 0, writeWayHere),
	)
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

// kindElement writes a component kind as CALDAV:comp (RFC 4791 §9.6.1).
func kindElement(m *dav.Markup, k calendar.Kind) {
	m.Raw(`<c:comp name="`).Attribute(string(k)).Raw(`"/>`)
}
