package caldav

import (
	"errors"
	"iter"
	"net/http"
	"time"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// resource is a resource as the caller sees it.
type resource struct {
	x  *request
	at place
	// calendar is set for calendars and objects, object for objects.
	calendar calendar.Calendar
	object   calendar.Object
	// dead caches the resource's dead properties.
	dead *deadProperties
	// other is set for the principal of another user.
	other *calendar.User
	// notification is set for notifications.
	notification calendar.Notification
	// feed is set for a public link, which has no place.
	feed *query.Feed
}

// find returns the resource at an address if the caller may read it.
func (x *request) find(at place) (*resource, error) {
	r := &resource{x: x, at: at}
	var err error
	if r.other, err = x.personAt(at); err != nil {
		return nil, err
	}
	if load := r.node().load; load != nil {
		err = load(r)
	}
	return r, err
}

func loadNotice(r *resource) (err error) {
	r.notification, err = r.x.Service.Notification(r.x.R.Context(), r.x.caller, r.at.notice)
	return err
}

func loadItem(r *resource) error {
	i, err := r.x.Service.Message(r.x.R.Context(), r.x.caller, r.at.object)
	r.object = i.Object()
	return err
}

func loadCalendar(r *resource) (err error) {
	if r.calendar, err = r.x.calendarAt(r.at); err != nil {
		return err
	}
	return r.x.caller.May(calendar.SeeBusy, r.calendar)
}

func loadObject(r *resource) (err error) {
	if r.calendar, err = r.x.calendarAt(r.at); err != nil {
		return err
	}
	if r.calendar.Subscribed() {
		return calendar.ErrNoObject(r.at.object)
	}
	r.object, err = r.x.Service.Object(r.x.R.Context(), r.x.Meter, r.x.caller, r.calendar, r.at.object)
	return err
}

// calendarAt returns the calendar at an address. It does not check any permission on it, not even to read it.
func (x *request) calendarAt(at place) (calendar.Calendar, error) {
	cal, err := x.Service.CalendarAt(x.R.Context(), x.caller, at.calendar)
	if at.calendar == calendar.ProposedSegment && missing(err) {
		cal, _, err = x.Service.Proposed(x.R.Context(), x.caller, x.Now())
	}
	if err == nil {
		x.relies(cal)
	}
	return cal, err
}

// parentCalendar is calendarAt for a method that makes a member. If the calendar does not exist, the client must make
// it first (RFC 4918 §9.7.1: 409).
func (x *request) parentCalendar(at place) (calendar.Calendar, error) {
	cal, err := x.calendarAt(at)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return cal, dav.Refuse(http.StatusConflict, "%s", err)
	}
	return cal, err
}

// children yields the members of a collection. It may reuse the same resource for each of them.
func (r *resource) children() iter.Seq2[*resource, error] { return r.node().members(r) }

// fixed yields the members that always exist. Of homes and notification collections, it yields the caller's.
func (r *resource) fixed(yield func(*resource, error) bool) {
	for f, row := range layout {
		if row.parent != r.at.form || addressForm(f) == r.at.form {
			continue
		}
		at := place{form: addressForm(f), user: r.at.user}
		if row.kind == atProxy && r.other != nil {
			continue
		}
		if row.kind&(atHome|atBox) != 0 {
			at.user = userName(r.x.caller.User.Name)
		}
		if !yield(&resource{x: r.x, at: at}, nil) {
			return
		}
	}
}

// homeMembers yields the calendars, the inbox and the outbox.
func (r *resource) homeMembers(yield func(*resource, error) bool) {
	for child, err := range r.calendars {
		if !yield(child, err) || err != nil {
			return
		}
	}
	if r.x.caller.MayOwn(calendar.ReadObjects) != nil {
		return
	}
	for _, form := range [...]addressForm{formInbox, formOutbox} {
		if !yield(&resource{x: r.x, at: place{form: form, user: r.at.user}}, nil) {
			return
		}
	}
}

func (r *resource) calendars(yield func(*resource, error) bool) {
	all, err := r.x.calendarsInHome()
	if err != nil {
		yield(nil, err)
		return
	}
	child := resource{x: r.x, at: place{form: formCalendar, user: r.at.user}}
	listed := make(map[calendar.Segment]bool, len(all))
	for _, child.calendar = range all {
		child.at.calendar = child.calendar.Address()
		// The caller's own calendar comes first and hides a shared one at the same address: every request for that
		// address means the own one.
		if listed[child.at.calendar] {
			continue
		}
		listed[child.at.calendar] = true
		if !yield(&child, nil) {
			return
		}
	}
}

// calendarsInHome lists the calendars of the home. It needs no query if the home's token was read before.
func (x *request) calendarsInHome() ([]calendar.Calendar, error) {
	if x.cached.home != nil {
		return x.cached.home.Calendars, nil
	}
	all, err := x.Service.CalendarsInHome(x.R.Context(), x.caller)
	for _, cal := range all {
		x.relies(cal)
	}
	if err != nil {
		return nil, err
	}
	proposed, _, err := x.Service.Proposed(x.R.Context(), x.caller, x.Now())
	if missing(err) {
		return all, nil
	}
	return append(all, proposed), err
}

// readHome prefetches the home in one round trip.
func (x *request) readHome() error {
	ctx, err := x.Service.ReadHome(x.R.Context(), x.caller)
	x.R = x.R.WithContext(ctx)
	return err
}

// homeToken returns the sync token of the home, cached because clients request it under two names.
func (x *request) homeToken() (string, error) {
	if x.cached.home == nil {
		changes, err := x.Service.HomeChanges(x.R.Context(), x.caller, calendar.SyncToken{})
		if err != nil {
			return "", err
		}
		x.cached.home = &changes
	}
	return x.cached.home.Now.String(), nil
}

func (r *resource) objects(yield func(*resource, error) bool) {
	if r.calendar.Subscribed() {
		return // apps fetch the feed themselves, even if the server fetches it too
	}
	child := resource{x: r.x, at: r.at, calendar: r.calendar}
	child.at.form = formObject
	for o, err := range r.x.Service.Objects(r.x.R.Context(), r.x.Meter, r.x.caller, r.calendar,
		calendar.ObjectQuery{}) {
		child.object, child.at.object = o, o.Name
		if !yield(&child, err) || err != nil {
			return
		}
	}
}

// token returns the sync token of the resource.
func (r *resource) token() (string, error) { return r.node().token(r) }

func calendarToken(r *resource) (string, error) {
	token, err := r.x.tokenOf(r.calendar)
	return token.String(), err
}

func (r *resource) homeToken() (string, error) { return r.x.homeToken() }

// tokenOf returns the sync token of a calendar as the caller sees it.
func (x *request) tokenOf(cal calendar.Calendar) (calendar.SyncToken, error) {
	return x.Service.Token(x.R.Context(), x.Meter, x.caller, cal)
}

// missing reports whether an error means that there is no such resource.
func missing(err error) bool {
	return calendar.ReasonOf(err) == calendar.NotFound || errors.Is(err, errNowhere)
}

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

// node returns the node for the resource's kind.
func (r *resource) node() *node { return &r.x.nodes[r.at.form] }

// closed reports whether an error means that the caller may not see the content, or that there is too much of it.
func closed(err error) bool {
	reason := calendar.ReasonOf(err)
	return reason == calendar.Forbidden || reason == calendar.TooLarge && err != nil || missing(err)
}

// deadProperties caches the dead properties of one resource.
type deadProperties struct {
	of   place
	list []calendar.DeadProperty
}

// principals yields the principals that the caller sees.
func (x *request) principals(yield func(*resource, error) bool) {
	people, err := x.visible()
	if err != nil {
		yield(nil, err)
		return
	}
	for _, u := range people {
		if !yield(x.principal(u), nil) {
			return
		}
	}
}

// principal returns the resource for a user.
func (x *request) principal(u calendar.User) *resource {
	r := &resource{x: x, at: principalOf(u.Name)}
	if u.ID != x.caller.User.ID || x.caller.ActsFor() {
		r.other = &u
	}
	return r
}

// person returns the user whose principal or home the resource is.
func (r *resource) person() calendar.User {
	if r.other != nil {
		return *r.other
	}
	return r.x.caller.User
}

// isOwn reports whether the calendar is the caller's own; it is not a delegate's.
func (r *resource) isOwn() bool {
	return r.calendar.Access == calendar.OwnerAccess && !r.x.caller.ActsFor()
}

// beOwn refuses a request that the caller may only make about their own resources.
func (r *resource) beOwn() error {
	if r.other != nil {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
			"you cannot change the resources of another user")
	}
	return nil
}

// message returns the inbox member for a message.
func (r *resource) message(i calendar.InboxItem) *resource {
	return &resource{x: r.x, at: place{form: formItem, user: r.at.user, object: i.Name}, object: i.Object()}
}
