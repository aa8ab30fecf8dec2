package caldav

import (
	"encoding/xml"
	"errors"
	"net/http"
	"slices"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// mkcalendarRequest is CALDAV:mkcalendar (RFC 4791 §9.2).
type mkcalendarRequest struct {
	XMLName xml.Name          `xml:"urn:ietf:params:xml:ns:caldav mkcalendar"`
	Lang    string            `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Set     []dav.Instruction `xml:"DAV: set"`
}

// mkcolRequest is DAV:mkcol (RFC 5689 §5.1).
type mkcolRequest struct {
	XMLName xml.Name          `xml:"DAV: mkcol"`
	Lang    string            `xml:"http://www.w3.org/XML/1998/namespace lang,attr"`
	Set     []dav.Instruction `xml:"DAV: set"`
}

// serveMkcalendar answers MKCALENDAR (RFC 4791 §5.3.1).
func serveMkcalendar(x *request) error {
	var q mkcalendarRequest
	if err := x.Read(&q); err != nil && !errors.Is(err, dav.ErrNoBody) {
		return err
	}
	free, err := isFree(x)
	if err != nil {
		return err
	}
	if free {
		err = createCalendar(x, dav.EditsOf(q.Set, q.Lang), refuseCalendar)
	}
	if !free || calendar.ReasonOf(err) == calendar.Exists {
		return dav.Breach("d:resource-must-be-null", "there is already a calendar at this address")
	}
	return err
}

// isFree reports whether there is no calendar at the address. The store only checks the caller's own calendars, and a
// new calendar would hide a shared one.
func isFree(x *request) (bool, error) {
	_, err := x.calendarAt(x.at)
	if missing(err) {
		return true, nil
	}
	return false, err
}

// serveMkcol answers extended MKCOL (RFC 5689 §3). It cannot make a plain collection (RFC 4918), since a calendar home
// holds only calendars.
func serveMkcol(x *request) error {
	var q mkcolRequest
	if err := x.Read(&q); err != nil && !errors.Is(err, dav.ErrNoBody) {
		return err
	}
	if free, err := isFree(x); err != nil {
		return err
	} else if !free {
		return errTaken
	}
	typed := func(e dav.Edit) bool { return e.Name == dav.Name("resourcetype") }
	if !slices.ContainsFunc(dav.EditsOf(q.Set, q.Lang), typed) {
		return setResourceType(nil, nil)
	}
	err := createCalendar(x, dav.EditsOf(q.Set, q.Lang), refuseCollection)
	if calendar.ReasonOf(err) == calendar.Exists {
		return errTaken
	}
	return err
}

// errTaken is the refusal that RFC 4918 §9.3.1 requires for an address in use.
var errTaken = dav.Refuse(http.StatusMethodNotAllowed, "there is already a calendar at this address")

// createCalendar makes a calendar with the given properties. If any of them cannot be set, it makes none and refuse
// renders the reasons.
func createCalendar(x *request, set []dav.Edit, refuse func(*request, propertyChanges) error) error {
	n := calendar.NewCalendar{Segment: x.at.calendar, Subscription: isSubscription(set)}
	outcome := applyEdits(x, set, &n.Properties, true)
	if outcome.Failed {
		return refuse(x, outcome)
	}
	if n.Subscription {
		feed, err := keepFeed(x, set)
		if err != nil {
			return err
		}
		outcome.kept = append(outcome.kept, feed...)
	}
	for _, k := range outcome.kept {
		if k.Value != "" {
			n.DeadProperties = append(n.DeadProperties, k)
		}
	}
	if _, err := x.Service.CreateCalendar(x.R.Context(), x.caller, n); err != nil {
		return err
	}
	x.Prefers(dav.Minimal)                        // RFC 8144 §2.3
	x.W.Header().Set("Cache-Control", "no-cache") // RFC 4791 §5.3.1
	return x.Done(true)
}

// refuseCalendar answers with the multistatus that RFC 4791 §5.3.1.1 requires for properties that cannot be set,
// although no calendar was made.
func refuseCalendar(x *request, o propertyChanges) error {
	m := x.Markup()
	defer x.Release(m)
	m.Begin("d:multistatus")
	m.Raw("<d:response>").Href(&x.at)
	o.Write(m)
	m.Raw("</d:response></d:multistatus>\n")
	x.Reply(http.StatusMultiStatus, dav.XMLType, m.Buf)
	return nil
}

// refuseCollection answers with 403. RFC 5689 §3 defines no status for this case, and a 207 would look like success.
func refuseCollection(x *request, o propertyChanges) error {
	m := x.Markup()
	defer x.Release(m)
	m.Begin("d:mkcol-response")
	o.Write(m)
	m.Raw("</d:mkcol-response>\n")
	x.Reply(http.StatusForbidden, dav.XMLType, m.Buf)
	return nil
}
