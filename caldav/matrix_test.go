package caldav_test

import (
	stdcmp "cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/caldav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestAuthorization tries every method and every report on every kind of resource as every kind of caller. Permitted
// requests succeed. Forbidden ones are refused and change nothing. A resource that the caller must not see is refused
// like one that does not exist.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	for _, r := range relations() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) { authorize(t, newHouse(t, url, nil), r) })
		})
	}
}

// authorize tries everything as one kind of caller.
func authorize(t *testing.T, h *house, r relation) {
	h.must(t, "MKCALENDAR /dav/calendars/alice/own/", "")
	h.must(t, "MKCALENDAR /dav/calendars/bob/own/\nAs: bob", "")
	m := &matrix{t: t, house: h, relation: r}
	for _, o := range caldav.Operations() {
		s, ok := samples()[o.Name]
		if !ok {
			t.Errorf("%s has no sample here: whether it is refused to whom it should be is not known", o.Name)
		}
		for _, a := range caldav.Addresses() {
			if wellKnown(a) && o.Name != "PROPFIND" {
				continue // it redirects every caller, see TestNobody
			}
			stands, ok := shelves()[a.Name]
			if !ok {
				t.Errorf("%s stands nowhere here: who should find it is not known", a.Name)
			}
			c := &cell{matrix: m, operation: o, address: a, shelf: stands, sample: s}
			c.try()
		}
	}
}

// TestTokensForToolsHaveNoDoor: a token limited to certain tools of an assistant gets no access by CalDAV at any
// address, and changes nothing (security M1).
func TestTokensForToolsHaveNoDoor(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url, nil)
		m := &matrix{t: t, house: h, relation: relation{as: "alice tools"}}
		m.prepare()
		before := m.state()
		for _, o := range caldav.Operations() {
			for _, a := range caldav.Addresses() {
				if wellKnown(a) && o.Name != "PROPFIND" {
					continue // it redirects every caller, see TestNobody
				}
				c := &cell{matrix: m, operation: o, address: a, shelf: shelves()[a.Name], sample: samples()[o.Name]}
				if got := c.ask(m.at); got.status != http.StatusForbidden || o.Method != http.MethodHead &&
					!strings.Contains(got.body, "--tools") {
					t.Errorf("%s %s: %d %s", o.Name, a.Name, got.status, got.body)
				}
			}
		}
		if diff := cmp.Diff(before, m.state()); diff != "" {
			t.Errorf("it changed something (-was +is):\n%s", diff)
		}
	})
}

func wellKnown(a caldav.Address) bool { return strings.Contains(a.Name, "well-known") }

// matrix holds the rights of one relation, with a calendar to test them on.
type matrix struct {
	t        *testing.T
	house    *house
	relation relation
	// at is the calendar's last path segment for this relation, "" if a new calendar is needed.
	at string
	// invitation is bob's invitation to the calendar, if any.
	invitation calendar.InvitationID
	// before is the state before the request.
	before string
}

type cell struct {
	*matrix
	operation caldav.Operation
	address   caldav.Address
	shelf     shelf
	sample    sample
	// user is the user in the address, if it is not the relation's usual one.
	user string
}

func (c *cell) try() {
	if c.at == "" {
		c.prepare()
		c.before = c.state()
	}
	got := c.ask(c.at)
	what := fmt.Sprintf("%s %s", c.operation.Name, c.address.Name)
	works, otherwise := c.operation.On(c.address)
	switch {
	case !c.reached():
		c.looksUninhabited(what, got)
	case !works:
		if got.status != otherwise {
			c.t.Errorf("%s: %d, not the %d of what does not work here", what, got.status, otherwise)
		}
	case c.granted():
		if got.status >= 500 || refused(got) || got.status == http.StatusNotFound {
			c.t.Errorf("%s: %d %s", what, got.status, got.body)
		}
		if c.relation.share == calendar.FreeBusyAccess &&
			(strings.Contains(got.body, "SUMMARY:secret") || strings.Contains(got.body, "a-"+c.at)) {
			c.t.Errorf("%s tells more than busy times: %s", what, got.body)
		}
		if c.state() != c.before {
			c.clear()
		}
		return
	case c.replies() && !c.relation.holds("") && !c.relation.acts():
		if got.status != http.StatusNotFound {
			c.t.Errorf("%s: %d %s to what nobody offered", what, got.status, got.body)
		}
	case c.relation.sees || c.sample.fresh || c.shelf != calendars:
		if !refused(got) {
			c.t.Errorf("%s: %d %s, not refused for want of a privilege", what, got.status, got.body)
		}
	case c.relation.finds != nil:
		c.givesNothing(what, got)
	default:
		c.looksAbsent(what, got)
	}
	if diff := cmp.Diff(c.before, c.state()); diff != "" {
		c.t.Errorf("%s: %d, yet it changed something (-was +is):\n%s", what, got.status, diff)
		c.clear()
	}
}

// reached reports whether the caller may look at the address.
func (c *cell) reached() bool {
	switch {
	case c.shelf == everybodys || !c.relation.inOwners || c.relation.owns():
		return true
	case c.shelf == persons:
		return c.relation.share+c.relation.delegate > calendar.NoAccess && !c.relation.holds("bound")
	case c.shelf == groups:
		return c.relation.acts() && strings.Contains(c.address.Name, "-write") ==
			(c.relation.delegate == calendar.WriteAccess)
	case strings.Contains(c.address.Name, "/notifications/"):
		return false
	}
	return c.relation.acts()
}

// looksUninhabited compares a response with the one for a user who never existed.
func (c *cell) looksUninhabited(what string, got reply) {
	c.user = "nobody"
	want := c.ask(c.at)
	c.user = ""
	if got.status != http.StatusNotFound || want.status != got.status || want.body != got.body {
		c.t.Errorf("%s in another one's part of the tree: %d %s\nin nobody's: %d %s", what, got.status, got.body,
			want.status, want.body)
	}
}

// refused reports whether a response names the missing privilege (RFC 3744 §7.1.1).
func refused(r reply) bool {
	return r.status == http.StatusForbidden && strings.Contains(r.body, "need-privileges")
}

// looksAbsent compares a response with the one for a calendar that never existed.
func (c *cell) looksAbsent(what string, got reply) {
	phantom := "no" + c.at[2:]
	want := c.ask(phantom)
	want.body = strings.ReplaceAll(want.body, phantom, c.at)
	if want.status != got.status || want.body != got.body {
		c.t.Errorf("%s tells that there is something: %d %s\nwhere nothing is: %d %s", what, got.status, got.body,
			want.status, want.body)
	}
	c.givesNothing(what, got)
}

// givesNothing requires a response without content. A multiget answers 404 for each object.
func (c *cell) givesNothing(what string, got reply) {
	absent := got.status == http.StatusMultiStatus && !strings.Contains(got.body, "200 OK")
	if got.status/100 == 2 && !absent || got.status >= 500 || strings.Contains(strings.ToLower(got.body), "secret") {
		c.t.Errorf("%s: %d %s", what, got.status, got.body)
	}
}

// prepare makes a calendar of alice's with an event, and shares it. Both users have notifications.
func (c *matrix) prepare() {
	owner := c.house.users["alice"]
	cal, err := c.house.service.CreateCalendar(c.t.Context(), calendar.Caller{User: owner, Scopes: calendar.ScopeAll},
		calendar.NewCalendar{Properties: calendar.Properties{Name: "Secret"}})
	if err != nil {
		c.t.Fatal(err)
	}
	c.at = string(cal.ID)
	c.house.must(c.t, "PUT /dav/calendars/alice/"+c.at+"/a.ics",
		strings.Replace(event("a", "secret"), "UID:a", "UID:a-"+c.at, 1))
	share := calendar.Share{
		Calendar: cal.ID, User: c.house.users["bob"], Access: c.relation.share, Status: calendar.ShareAccepted,
		Created: now,
	}
	if c.relation.offered {
		share.Status = calendar.SharePending
	}
	c.invitation = share.Invitation()
	err = c.house.Store.Update(c.t.Context(), func(tx calendar.Tx) error {
		if share.Access > calendar.NoAccess {
			if err := tx.PutShare(c.t.Context(), share); err != nil {
				return err
			}
		}
		if d := c.relation.delegate; d > calendar.NoAccess {
			err := tx.PutDelegation(c.t.Context(), calendar.Delegation{
				Owner: owner, Delegate: c.house.users["bob"], Access: d, Created: now,
			})
			if err != nil {
				return err
			}
		}
		word := calendar.Notice{Name: "n.xml", Created: now, Data: []byte(`{"status":"accepted","title":"secret"}`)}
		message := calendar.InboxItem{
			Name: "m.ics", Created: now,
			Data: []byte("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:a message\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"),
		}
		var errs []error
		for _, id := range []calendar.UserID{owner.ID, c.house.users["bob"].ID} {
			errs = append(errs, tx.PutNotice(c.t.Context(), id, word),
				tx.PutInboxItems(c.t.Context(), []calendar.InboxEntry{{To: id, InboxItem: message}}))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// clear deletes the calendar if it still exists: a growing home would slow down the other cases.
func (c *matrix) clear() {
	c.house.send(c.t, "DELETE /dav/calendars/alice/"+c.at+"/", "")
	c.at = ""
}

// state is everything stored for alice and bob, and their notifications. Every change in a calendar changes its
// version.
func (c *matrix) state() string {
	var b strings.Builder
	for _, user := range []string{"alice", "bob"} {
		caller := calendar.Caller{User: c.house.users[user], Scopes: calendar.ScopeAll}
		all, err := c.house.service.Calendars(c.t.Context(), caller)
		for _, cal := range all {
			fmt.Fprintln(&b, cal.ID, cal.Segment, cal.Name, cal.Access, cal.Version)
		}
		delegates, lost := c.house.service.Delegates(c.t.Context(), caller)
		err = errors.Join(err, lost)
		for _, d := range delegates {
			fmt.Fprintln(&b, user, d.Delegate.Name, d.Access)
		}
		messages, lost := c.house.service.Messages(c.t.Context(), caller)
		err = errors.Join(err, lost)
		for _, m := range messages {
			fmt.Fprintln(&b, user, m.Name)
		}
		said, lost := c.house.service.Scheduling(c.t.Context(), caller)
		err = errors.Join(err, lost)
		fmt.Fprintln(&b, user, said.Availability)
		told, untold := c.house.service.Notifications(c.t.Context(), caller)
		for _, n := range told {
			fmt.Fprintln(&b, user, n.Name)
		}
		for _, place := range []calendar.Place{calendar.AtPrincipal, calendar.AtHome} {
			kept, lost := c.house.service.DeadProperties(c.t.Context(), caller, calendar.Holder{
				Place: place, User: caller.User.ID,
			})
			err = errors.Join(err, lost)
			fmt.Fprintln(&b, user, place, kept)
		}
		if err := errors.Join(err, untold); err != nil {
			c.t.Fatal(err)
		}
	}
	return b.String()
}

func (c *cell) granted() bool {
	if c.sample.fresh || c.shelf != calendars {
		// Resources of the caller, or of all users.
		return c.operation.Name == "OPTIONS" || c.ofOwn()
	}
	if c.operation.Name == "COPY" && (c.relation.holds("read") || c.relation.acts() &&
		c.relation.delegate < calendar.WriteAccess) {
		return false // the destination needs the right to write, too
	}
	needs := c.operation.Needs
	if c.sample.needs != "" {
		needs = c.sample.needs
	}
	if !c.address.Object && (c.operation.Name == "DELETE" || c.operation.Name == "MOVE") {
		needs = "own"
	}
	if c.address.Object && c.operation.Name == "ACL" {
		needs = "d:read" // it is refused for another reason
	}
	if c.address.Object && c.operation.Name == "PROPPATCH" {
		needs = "d:write-content"
	}
	return c.operation.Name == "OPTIONS" || slices.Contains(c.relation.may, needs) ||
		!c.address.Object && slices.Contains(c.relation.finds, c.operation.Name)
}

// ofOwn reports whether the caller may do this with their own or a common resource, or with a user whom they see.
func (c *cell) ofOwn() bool {
	r := c.relation
	changes := c.sample.fresh || c.operation.Name == "PROPPATCH" && c.shelf != everybodys
	switch {
	case c.replies():
		return r.share > calendar.NoAccess && !r.inOwners && !r.holds("")
	case (c.shelf == persons || c.shelf == groups) && r.inOwners && !r.owns():
		return !changes && c.operation.Name != "ACL"
	case c.shelf == privates && c.sample.lists:
		return !r.holds("none")
	case c.shelf == words:
		return c.ofWords()
	case r.acts() && c.shelf != everybodys:
		return !changes
	}
	// Common resources store no properties, so PROPPATCH fails there for another reason.
	return !changes || !r.holds("")
}

// replies reports whether the operation answers an invitation.
func (c *cell) replies() bool { return c.sample.home != "" && c.shelf == privates }

// ofWords is ofOwn for notifications and messages. The existence of their collections is no secret.
func (c *cell) ofWords() bool {
	r := c.relation
	switch {
	case r.acts() && c.operation.Name == "DELETE":
		return r.delegate == calendar.WriteAccess
	case r.acts() && c.operation.Name == "PROPPATCH":
		return !strings.HasSuffix(c.address.Name, "/inbox/")
	case c.operation.Name == "DELETE", c.operation.Name == "PROPPATCH" && strings.HasSuffix(c.address.Name, "/inbox/"):
		return !r.holds("")
	case strings.HasPrefix(c.operation.Name, "calendar-") && strings.HasSuffix(c.address.Name, "/outbox/"):
		return true // it is always empty
	case c.operation.Name == "sync-collection", strings.HasPrefix(c.operation.Name, "calendar-"),
		strings.HasPrefix(c.operation.Name, "POST"),
		strings.Contains(c.address.Name, "{notice}"), strings.Contains(c.address.Name, "{message}"):
		return !r.holds("none") && !r.holds("bound")
	}
	return true
}

// ask sends the request, with the calendar's name in the address.
func (c *cell) ask(name string) reply {
	user := strings.Fields(c.relation.as)[0]
	own := "/dav/calendars/" + user + "/own/"
	if c.relation.acts() {
		own = "/dav/calendars/alice/own/" // a request reaches one home
	}
	if c.relation.inOwners {
		user = "alice"
	}
	if c.sample.fresh {
		name = "fresh-" + name
	}
	path := strings.NewReplacer("{user}", stdcmp.Or(c.user, user), "{calendar}", name, "{object}", "a.ics", "{notice}",
		"n.xml", "{message}", "m.ics").Replace(c.address.Name)
	header := strings.ReplaceAll(c.sample.header, "OWN", own)
	if strings.HasSuffix(path, "/") && c.operation.Name == "MOVE" {
		header = strings.ReplaceAll(header, "own/moved.ics", "moved-"+name+"/")
	} else {
		header = strings.ReplaceAll(header, ".ics", "-"+name+".ics")
	}
	body := c.sample.body
	if c.replies() {
		body = c.sample.home
	}
	if c.sample.outbox != "" && strings.HasSuffix(c.address.Name, "/outbox/") {
		body = c.sample.outbox
	}
	body = strings.NewReplacer("USER", user, "UID:a\r", "UID:a-"+name+"\r", "UID:new\r", "UID:new-"+name+"\r", "PATH",
		path, "INVITATION", string(c.invitation)).Replace(body)
	return c.house.send(c.t,
		strings.TrimSpace(fmt.Sprintf("%s %s\nAs: %s\n%s", c.operation.Method, path, c.relation.as, header)), body)
}
