package caldav

import (
	"iter"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// node holds the behavior that differs by kind of resource. Everything else is common to all kinds, or the rows of
// other tables name their kinds.
type node struct {
	// types returns the content of DAV:resourcetype.
	types func(*resource) string
	// load reads the resource at an address; nil if the address says everything.
	load func(*resource) error
	// members yields the members of a collection.
	members func(*resource) iter.Seq2[*resource, error]
	// token returns the sync token, for collections that can be synchronized.
	token func(*resource) (string, error)
	// times returns the times of creation and last change, zero if unknown.
	times func(*resource) (made, changed time.Time)
	// get and remove answer GET and DELETE; sync answers the sync-collection report.
	get    func(*request, *resource) error
	remove func(*request) error
	sync   func(x *request, r *resource, p plan, since calendar.SyncToken, limit int, deep bool) error
}

// nodes is the table of all kinds, by address form. Most collections differ only in their type.
func nodes() [len(layout)]node {
	collection := node{
		types: always("<d:collection/>"), members: (*resource).fixedMembers, token: (*resource).homeToken, times: calendarTimes, get: getPage,
	}
	kinds := map[kind]func(*node){ //nolint:exhaustive // the others are plain collections
		atPrincipals: func(n *node) { n.members = (*resource).principals },
		atPrincipal:  func(n *node) { n.types = always("<d:collection/><d:principal/>") },
		atOutbox:     func(n *node) { n.types = always("<d:collection/><c:schedule-outbox/>") },
		atHome: func(n *node) {
			n.members, n.sync = (*resource).homeChildren, syncHome
		},
		atBox: func(n *node) {
			n.types = always("<d:collection/><cs:notification/>")
			box[calendar.Notification]{(*service.Service).NotificationChanges, (*service.Service).NotificationToken, (*resource).notice}.in(n)
		},
		atInbox: func(n *node) {
			n.types = always("<d:collection/><c:schedule-inbox/>")
			box[calendar.InboxItem]{(*service.Service).MessageChanges, (*service.Service).MessageToken, (*resource).message}.in(n)
		},
		atCalendar: func(n *node) {
			*n = node{
				types: calendarTypes, load: loadCalendar, members: (*resource).calendarChildren,
				token: calendarToken, times: calendarTimes,
				get: getCalendar, remove: deleteCalendar, sync: syncCalendar,
			}
		},
		atObject: func(n *node) {
			*n = node{types: always(""), load: loadObject, members: none, times: objectTimes, get: getObject, remove: deleteObject}
		},
		atItem: func(n *node) {
			*n = node{types: always(""), load: loadItem, members: none, times: objectTimes, get: getObject, remove: discard}
		},
		atNotice: func(n *node) {
			*n = node{types: always(""), load: loadNotice, members: none, times: noticeTimes, get: getNotice, remove: dismiss}
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

// node returns the node for the resource's kind.
func (r *resource) node() *node { return &r.x.nodes[r.at.form] }

func always(types string) func(*resource) string { return func(*resource) string { return types } }

// none yields no members, for resources that are no collections.
func none(*resource) iter.Seq2[*resource, error] { return func(func(*resource, error) bool) {} }

func (r *resource) fixedMembers() iter.Seq2[*resource, error]     { return r.fixed }
func (r *resource) principals() iter.Seq2[*resource, error]       { return r.x.principals }
func (r *resource) homeChildren() iter.Seq2[*resource, error]     { return r.homeMembers }
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
