package caldav

import (
	"encoding/xml"
	"iter"
	"slices"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// methodTable is the table of methods. Allow, supported-method-set and 405 are derived from it.
func methodTable() []method {
	return []method{
		{"OPTIONS", everything, "d:read", serveOptions, nil, "RFC 9110 §9.3.7, RFC 4918 §10.1"},
		{"GET", everything, "d:read", serveGet, nil, "RFC 9110 §9.3.1"},
		{"HEAD", everything, "d:read", serveGet, nil, "RFC 9110 §9.3.2"},
		{"PUT", atObject, "d:write-content", servePut, errNotAllowed, "RFC 9110 §9.3.4, RFC 4791 §5.3.2"},
		{"DELETE", atCalendar | leaves, "d:unbind", serveDelete, errNotAllowed, "RFC 9110 §9.3.5, RFC 4918 §9.6"},
		{"PROPFIND", everything, "d:read", servePropfind, nil, "RFC 4918 §9.1"},
		{"PROPPATCH", everything, "d:write-properties", serveProppatch, nil, "RFC 4918 §9.2"},
		{"COPY", atObject, "d:read", serveCopy, errNoCopy, "RFC 4918 §9.8"},
		{"MOVE", atCalendar | atObject, "d:unbind", serveMove, errNotAllowed, "RFC 4918 §9.9"},
		{"MKCOL", atCalendar, "d:bind", serveMkcol, errNotAllowed, "RFC 5689 §3"},
		{"MKCALENDAR", atCalendar, "d:bind", serveMkcalendar, errWrongLocation, "RFC 4791 §5.3.1"},
		{
			"POST", atHome | atCalendar | atOutbox, "d:bind", servePost, errNotAllowed,
			"RFC 5995 §3, caldav-sharing §5.3.2, §5.4.1, RFC 6638 §5",
		},
		{"ACL", everything, "d:write-acl", serveACL, nil, "RFC 3744 §8.1"},
		{"REPORT", everything, "d:read", serveReport, nil, "RFC 3253 §3.6"},
	}
}

// reportTable is the table of reports. supported-report-set is derived from it.
func reportTable() []report {
	return []report{
		{
			caldavName("calendar-query"), atHome | atCalendar | atObject | atInbox | atOutbox, reading(calendarQuery),
			"RFC 4791 §7.8, RFC 6638 §2.2",
		},
		{
			caldavName("calendar-multiget"), atHome | atCalendar | atObject | atInbox | atOutbox,
			reading(calendarMultiget),
			"RFC 4791 §7.9, RFC 6638 §2.2",
		},
		{caldavName("free-busy-query"), atHome | atCalendar, reading(freeBusyQuery), "RFC 4791 §7.10"},
		{dav.Name("sync-collection"), atHome | atCalendar | atBox | atInbox, reading(syncCollection), "RFC 6578 §3.2"},
		{dav.Name("expand-property"), everything, reading(expandProperties), "RFC 3253 §3.8"},
		{dav.Name("acl-principal-prop-set"), everything, reading(aclPrincipals), "RFC 3744 §9.2"},
		{dav.Name("principal-match"), collections, reading(principalMatch), "RFC 3744 §9.3"},
		{dav.Name("principal-property-search"), collections, reading(principalSearch), "RFC 3744 §9.4"},
		{server("calendarserver-principal-search"), collections, reading(searchTokens), "Apple's extensions"},
		{dav.Name("principal-search-property-set"), collections, reading(principalSearchable), "RFC 3744 §9.5"},
	}
}

// propertyTable is the table of all properties, in the order of allprop.
func propertyTable() []property {
	return slices.Concat(webdavProperties(), accessProperties(), delegateProperties(), calendarProperties(),
		schedulingProperties(),
		appleProperties(), sharingProperties(), pushProperties(), doctorProperties())
}

func webdavProperties() []property {
	return slices.Concat(
		under("RFC 4918 §15",
			property{
				name: dav.Name("resourcetype"), on: everything, flags: allprop | atCreation,
				get: writeResourceType, set: setResourceType,
			},
			property{
				name: dav.Name("displayname"), on: atPrincipal | atProxy | atHome | atCalendar, flags: allprop,
				get: writeDisplayName, set: setDisplayName,
			},
			serverProperty(dav.Name("getetag"), leaves|atCalendar, allprop, writeETag),
			serverProperty(dav.Name("getcontenttype"), leaves, allprop, writeContentType),
			serverProperty(dav.Name("getcontentlength"), everything&^atCalendar, allprop, writeContentLength),
			serverProperty(dav.Name("getlastmodified"), dated|atNotice|atItem, allprop, writeLastModified),
			serverProperty(dav.Name("creationdate"), dated|atNotice|atItem, allprop, writeCreationDate),
			serverProperty(dav.Name("supportedlock"), everything, allprop, nothing),
			serverProperty(dav.Name("lockdiscovery"), everything, allprop, nothing),
		),
	)
}

func accessProperties() []property {
	return slices.Concat(
		under("RFC 3744 §4, §5",
			serverProperty(dav.Name("owner"), owned, 0, writeOwner),
			serverProperty(dav.Name("current-user-privilege-set"), everything, 0, writePrivileges),
			serverProperty(dav.Name("supported-privilege-set"), everything, 0, writeSupportedPrivileges),
			serverProperty(dav.Name("acl"), everything, 0, writeAccessList),
			serverProperty(dav.Name("acl-restrictions"), everything, 0, writeAccessRestrictions),
			serverProperty(dav.Name("inherited-acl-set"), everything, 0, nothing),
			serverProperty(dav.Name("principal-URL"), atPrincipal|atProxy, 0, writeOwnAddress),
			serverProperty(dav.Name("alternate-URI-set"), atPrincipal|atProxy, 0, nothing),
			serverProperty(dav.Name("group-member-set"), atPrincipal|atProxy, 0, writeMembers),
			serverProperty(dav.Name("group-membership"), atPrincipal|atProxy, 0, writeMembership),
			serverProperty(dav.Name("principal-collection-set"), everything, 0, writePrincipalCollections),
		),
		under("RFC 5397",
			serverProperty(dav.Name("current-user-principal"), everything, 0, writeOwnPrincipal),
		),
		under("RFC 3253 §3.1",
			serverProperty(dav.Name("supported-method-set"), everything, 0, writeSupportedMethods),
			serverProperty(dav.Name("supported-report-set"), everything, 0, writeSupportedReports),
		),
		under("RFC 5842 §3.1",
			serverProperty(dav.Name("resource-id"), atPrincipal|atHome|atCalendar, 0, writeResourceID),
		),
		under("RFC 5995 §3.2",
			serverProperty(dav.Name("add-member"), atCalendar, 0, writeOwnAddress),
		),
		under("RFC 4331 §3, §4",
			serverProperty(dav.Name("quota-available-bytes"), atHome|atCalendar, 0, writeQuotaAvailable),
			serverProperty(dav.Name("quota-used-bytes"), atHome|atCalendar, 0, writeQuotaUsed),
		),
		under("RFC 6578 §4",
			serverProperty(dav.Name("sync-token"), atHome|atCalendar|atBox|atInbox, ofHome, writeSyncToken),
		),
	)
}

func calendarProperties() []property {
	return slices.Concat(
		under("RFC 4791 §5.2, §6.2",
			serverProperty(caldavName("calendar-home-set"), atPrincipal, 0, writeHome),
			settable(caldavName("calendar-description"), 0, writeDescription, setDescription),
			settable(caldavName("calendar-timezone"), 0, writeTimezone, setTimezone),
			settable(caldavName("supported-calendar-component-set"), atCreation|ofContent, writeKinds, setKinds),
			serverProperty(caldavName("supported-calendar-data"), atCalendar, 0, writeMediaTypes),
			serverProperty(caldavName("max-resource-size"), atCalendar, 0, writeMaxSize),
			serverProperty(caldavName("max-instances"), atCalendar, 0, writeMaxInstances),
			serverProperty(caldavName("max-attendees-per-instance"), atCalendar, 0, writeMaxAttendees),
			serverProperty(caldavName("min-date-time"), atCalendar, 0, writeMinTime),
			serverProperty(caldavName("max-date-time"), atCalendar, 0, writeMaxTime),
			serverProperty(caldavName("supported-collation-set"), atHome|dated|atInbox, 0, writeCollations),
			serverProperty(caldavName("calendar-data"), atObject|atItem, inReports, writeData),
		),
		under("RFC 7809 §5.2",
			settable(caldavName("calendar-timezone-id"), 0, writeTimezoneID, setTimezoneID),
		),
	)
}

func appleProperties() []property {
	return slices.Concat(
		under("Apple's extensions",
			serverProperty(caldavName("supported-calendar-component-sets"), atHome, 0, writeKindSets),
			serverProperty(server("getctag"), atHome|atCalendar|atBox|atInbox, ofHome, writeSyncToken),
			serverProperty(server("email-address-set"), atPrincipal, 0, writeEmailAddresses),
			settable(apple("calendar-color"), 0, writeColor, setColor),
			settable(apple("calendar-order"), 0, writeOrder, setOrder),
		),
	)
}

func sharingProperties() []property {
	return slices.Concat(
		under("caldav-sharing §4, §5.2",
			serverProperty(server("notification-URL"), atPrincipal, 0, writeNotificationURL),
			serverProperty(server("notificationtype"), atNotice, 0, writeNoticeType),
			serverProperty(server("invite"), atCalendar, 0, writeInvitees),
			serverProperty(server("allowed-sharing-modes"), atCalendar, 0, writeSharingModes),
			serverProperty(server("shared-url"), atCalendar, 0, writeSharedURL),
		),
		under("ownCloud",
			settable(owncloud("calendar-enabled"), 0, writeEnabled, setEnabled),
		),
	)
}

// doctorNS is the namespace of properties for troubleshooting.
const doctorNS = "urn:caldav-mcp-server"

// doctorProperties show how requests reach the server, and its state. The doctor compares them with its own view.
func doctorProperties() []property {
	own := func(local string) xml.Name { return xml.Name{Space: doctorNS, Local: local} }
	return under("This server",
		serverProperty(own("base-url"), atPrincipal, 0, writePublishedURL),
		serverProperty(own("way"), atPrincipal, 0, writeWayHere),
		serverProperty(own("now"), atPrincipal, 0, writeClock),
		serverProperty(own("trouble"), atPrincipal, 0, writeTrouble),
	)
}

// nodeTable is the table of all kinds, by address form. Most collections differ only in their type.
func nodeTable() [len(layout)]node {
	collection := node{
		types: always("<d:collection/>"), members: (*resource).fixedMembers, token: (*resource).homeToken,
		times: calendarTimes, get: getPage,
	}
	kinds := map[kind]func(*node){ //nolint:exhaustive // the others are plain collections
		atPrincipals: func(n *node) { n.members = (*resource).principals },
		atPrincipal:  func(n *node) { n.types = always("<d:collection/><d:principal/>") },
		atProxy:      func(n *node) { n.types, n.members = proxyTypes, none },
		atOutbox:     func(n *node) { n.types = always("<d:collection/><c:schedule-outbox/>") },
		atHome: func(n *node) {
			n.members, n.sync = (*resource).homeChildren, syncHome
		},
		atBox: func(n *node) {
			n.types = always("<d:collection/><cs:notification/>")
			box[calendar.Notification]{
				(*service.Service).NotificationChanges, (*service.Service).NotificationToken,
				(*resource).notice,
			}.in(n)
		},
		atInbox: func(n *node) {
			n.types = always("<d:collection/><c:schedule-inbox/>")
			box[calendar.InboxItem]{
				(*service.Service).MessageChanges, (*service.Service).MessageToken,
				(*resource).message,
			}.in(n)
		},
		atCalendar: func(n *node) {
			*n = node{
				types: calendarTypes, load: loadCalendar, members: (*resource).calendarChildren,
				token: calendarToken, times: calendarTimes,
				get: getCalendar, remove: deleteCalendar, sync: syncCalendar,
			}
		},
		atObject: func(n *node) {
			*n = node{
				types: always(""), load: loadObject, members: none, times: objectTimes, get: getObject,
				remove: deleteObject,
			}
		},
		atItem: func(n *node) {
			*n = node{
				types: always(""), load: loadItem, members: none, times: objectTimes, get: getObject,
				remove: discard,
			}
		},
		atNotice: func(n *node) {
			*n = node{
				types: always(""), load: loadNotice, members: none, times: noticeTimes, get: getNotice,
				remove: dismiss,
			}
		},
	}
	var all [len(layout)]node
	for form, row := range layout {
		all[form] = collection
		if differs := kinds[row.kind]; differs != nil {
			differs(&all[form])
		}
	}
	return all
}

func always(types string) func(*resource) string { return func(*resource) string { return types } }

// none yields no members, for resources that are no collections.
func none(*resource) iter.Seq2[*resource, error] { return func(func(*resource, error) bool) {} }

func (r *resource) fixedMembers() iter.Seq2[*resource, error] { return r.fixed }

func (r *resource) principals() iter.Seq2[*resource, error] { return r.x.principals }

func (r *resource) homeChildren() iter.Seq2[*resource, error] { return r.homeMembers }

func (r *resource) calendarChildren() iter.Seq2[*resource, error] { return r.objects }

func calendarTypes(r *resource) string {
	if r.calendar.Subscribed() {
		return "<d:collection/><cs:subscribed/>"
	}
	return "<d:collection/><c:calendar/>" + sharedType(r)
}

func calendarTimes(r *resource) (made, changed time.Time) {
	return r.calendar.Created, r.calendar.Modified
}

func objectTimes(r *resource) (made, changed time.Time) {
	return r.object.Created, r.object.Modified
}

func noticeTimes(r *resource) (made, changed time.Time) {
	return r.notification.Created, r.notification.Created
}
