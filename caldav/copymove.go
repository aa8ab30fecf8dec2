package caldav

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/ical"
)

// transfer is a method of the service that copies or moves an object.
type transfer func(*service.Service, context.Context, calendar.Caller, ledger.Transfer) (calendar.Saved, error)

// serveCopy answers COPY of an object (RFC 4918 §9.8).
func serveCopy(x *request) error { return serveTransfer(x, (*service.Service).Copy) }

// serveMove answers MOVE (RFC 4918 §9.9). Moving a calendar within its home only changes its address.
func serveMove(x *request) error {
	if x.at.kind() == atCalendar {
		return moveCalendar(x)
	}
	return serveTransfer(x, (*service.Service).Move)
}

var (
	errNoPlace = dav.Refuse(http.StatusForbidden,
		"calendar objects can only be stored in the calendars of your home")
	errOtherHost = dav.Refuse(http.StatusBadGateway,
		"the Destination is on another server; if it is this one, its administrator must set BASE_URL to the address "+
			"that clients use")
	errInTheWay   = dav.Refuse(http.StatusPreconditionFailed, "there is already a calendar at the Destination")
	errUnderneath = dav.Refuse(http.StatusBadRequest,
		"a calendar is moved with its whole content: Depth must be infinity")
)

func serveTransfer(x *request, carry transfer) error {
	to, overwrite, err := readDestination(x)
	if err != nil {
		return err
	}
	if to.kind() != atObject {
		return errNoPlace
	}
	t, err := readTransfer(x, to, overwrite)
	if err != nil {
		return err
	}
	if t.From.Proposed() || t.To.Proposed() {
		return moveProposed(x, t)
	}
	saved, err := carry(x.Service, x.R.Context(), x.caller, t)
	if err != nil {
		return about(to, "d:bind", err)
	}
	if saved.Created {
		// RFC 9110 §15.3.2: without a Location, the request line would name the created resource.
		x.W.Header().Set("Location", x.href(to))
	}
	return x.Done(saved.Created)
}

// readTransfer reads the source and the conditions of a COPY or MOVE of an object, and checks the access to both ends.
func readTransfer(x *request, to place, overwrite bool) (t ledger.Transfer, err error) {
	t.Name, t.As = x.at.object, to.object
	if t.When, err = x.precondition(); err != nil {
		return t, err
	}
	x.pin(to, &t.Then)
	t.Then.NoneMatchAny = t.Then.NoneMatchAny || !overwrite
	if t.From, err = x.calendarAt(x.at); err != nil {
		return t, err
	}
	if err := x.caller.May(calendar.ReadObjects, t.From); err != nil {
		return t, about(x.at, "d:read", err)
	}
	if x.method.name == "MOVE" {
		if err := x.caller.May(calendar.DeleteObjects, t.From); err != nil {
			return t, err
		}
	}
	if t.To, err = x.parentCalendar(to); err == nil {
		err = x.caller.May(calendar.WriteObjects, t.To)
	}
	return t, about(to, "d:bind", err)
}

// The calendar "Proposed" shows suggestions of assistants. Moving one of its events into a calendar accepts it, and
// deleting it declines it. Apps move by MOVE, or by PUT and then DELETE. See docs/decisions/0129-proposed-calendar.md.

// unlessProposed refuses changes of the calendar "Proposed" itself.
func unlessProposed(cal calendar.Calendar) error {
	if cal.Proposed() {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
			"this calendar shows suggestions of assistants: move an event to accept it, or delete it to decline it")
	}
	return nil
}

// proposedIn returns the UID of a text if it is an event of the calendar "Proposed".
func proposedIn(data []byte) calendar.UID {
	if !bytes.Contains(data, []byte("UID:proposal.")) {
		return ""
	}
	o, err := content.Read(data, ical.Limits{})
	if err != nil || calendar.SuggestionOf(calendar.UID(o.UID)) == "" {
		return ""
	}
	return calendar.UID(o.UID)
}

// acceptProposed accepts a suggestion. data is the text that the app stores in a calendar, nil for MOVE. The response
// has no ETag, so that apps read the calendar again: the event that it has now has its own UID.
func acceptProposed(
	x *request, uid calendar.UID, data []byte, into calendar.Calendar, as calendar.ObjectName,
) error {
	x.did("accept-suggestion")
	shown := calendar.Object{}
	cal, _, err := x.Service.Proposed(x.R.Context(), x.caller, x.Now())
	if err == nil {
		shown, err = x.Service.ObjectByUID(x.R.Context(), x.Meter, x.caller, cal, uid)
	}
	if err != nil && !missing(err) {
		return err
	}
	made, err := x.Service.AcceptMoved(x.R.Context(), x.caller, x.Meter, uid, shown.Data, data, into, as)
	if missing(err) {
		return dav.Refuse(http.StatusConflict, "%s", err)
	}
	if err != nil {
		return err
	}
	if made != "" {
		x.W.Header().Set("Location", x.href(place{
			form: formObject, user: x.at.user, calendar: into.Address(), object: made,
		}))
	}
	return x.Done(made != "")
}

// moveProposed answers MOVE of an event of the calendar "Proposed". It cannot be copied, and takes no events.
func moveProposed(x *request, t ledger.Transfer) error {
	if err := unlessProposed(t.To); err != nil {
		return err
	}
	if x.method.name != "MOVE" {
		return unlessProposed(t.From)
	}
	o, err := x.Service.Object(x.R.Context(), x.Meter, x.caller, t.From, t.Name)
	if err == nil {
		err = t.When.CheckObject(&o)
	}
	if err != nil {
		return err
	}
	return acceptProposed(x, o.UID, nil, t.To, t.As)
}

// declineProposed answers DELETE of an event of the calendar "Proposed".
func declineProposed(x *request) error {
	x.did("decline-suggestion")
	uid, _ := strings.CutSuffix(string(x.at.object), ".ics")
	if err := x.Service.DeclineMoved(x.R.Context(), x.caller, calendar.UID(uid)); err != nil {
		return err
	}
	return x.Done(false)
}

func moveCalendar(x *request) error {
	to, overwrite, err := readDestination(x)
	if err != nil {
		return err
	}
	if d, err := x.Depth(); err != nil || d == dav.DepthZero || d == dav.DepthOne {
		return errUnderneath
	}
	if to.kind() != atCalendar {
		return errWrongLocation
	}
	cal, err := x.calendarAt(x.at)
	if err != nil {
		return err
	}
	_, err = x.calendarAt(to)
	switch {
	case to == x.at:
		return dav.Refuse(http.StatusForbidden, "the calendar is already at this address")
	case err == nil && !overwrite:
		return errInTheWay
	case err == nil:
		// A calendar must not vanish because another one takes its address.
		return dav.Breach("d:resource-must-be-null", "there is already a calendar at the Destination; delete it first")
	case !missing(err):
		return err
	}
	if err := x.Service.MoveCalendar(x.R.Context(), x.caller, cal.ID, to.calendar); err != nil {
		return err
	}
	x.W.Header().Set("Location", x.href(to))
	return x.Done(true)
}

// readDestination reads Destination and Overwrite. An address outside of the caller's part of the tree is refused in
// the same way whether it exists or not.
func readDestination(x *request) (at place, overwrite bool, err error) {
	u, err := x.Destination()
	if err != nil {
		return at, false, err
	}
	if !x.IsHere(u, x.host) {
		return at, false, errOtherHost
	}
	at, err = x.parse(dav.PathOf(u))
	if err == nil {
		err = x.reach(at)
	}
	if missing(err) {
		return at, false, errNoPlace
	}
	if err != nil {
		return at, false, err
	}
	overwrite, err = x.Overwrite()
	return at, overwrite, err
}
