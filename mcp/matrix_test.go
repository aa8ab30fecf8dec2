package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mcp/wire"
	"caldav-mcp-server/store/storetest"
)

// TestAuthorization tries every tool as every kind of user. Granted calls work, all others are refused and change
// nothing, and a calendar that the user cannot see gets byte for byte the same response as a missing one.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	for _, s := range stances() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			testdb.Each(t, func(t *testing.T, url string) { authorize(t, url, s, (*house).asTheyAre) })
		})
	}
}

// TestAuthorizationOfGrants is the same for programs that a user let in: they come with access tokens, of grants that
// the store keeps.
func TestAuthorizationOfGrants(t *testing.T) {
	t.Parallel()
	for _, s := range stances() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			if slowtest.Rounds(t, slowtest.Random, 1, 2) == 1 {
				authorize(t, testdb.SQLite(t), s, (*house).granted)
				return
			}
			testdb.Each(t, func(t *testing.T, url string) { authorize(t, url, s, (*house).granted) })
		})
	}
}

func authorize(t *testing.T, url string, s stance, come func(*house, *testing.T, calendar.Caller) calendar.Caller) {
	h := newHouse(t, url)
	for name, change := range map[string]func(*calendar.Caller){
		"bob-read":        func(c *calendar.Caller) { c.Scopes = calendar.ScopeRead },
		"bob-none":        func(c *calendar.Caller) { c.Scopes = 0 },
		"bob-bound":       func(c *calendar.Caller) { c.Calendars = []calendar.CalendarID{"another"} },
		"alice-elsewhere": func(c *calendar.Caller) { c.Calendars = []calendar.CalendarID{work} },
	} {
		user, _, _ := strings.Cut(name, "-")
		c := h.callers[user]
		change(&c)
		h.callers[name] = c
	}
	if err := h.Store.InsertUser(t.Context(), calendar.User{ID: "carol-id", Name: "carol", Created: noon},
		""); err != nil {
		t.Fatal(err)
	}
	door := h.open(t, h.config())
	tools, _ := listTools(t, door)
	caller := come(h, t, h.callers[s.token])
	h.callers[s.token] = caller
	scopes := map[string]calendar.Scope{"": calendar.ScopeRead}
	for _, tool := range tools {
		if !slices.ContainsFunc(deeds(), func(d deed) bool { return d.tool == tool.Name }) {
			t.Errorf("%s has no deed here: whether it is refused to whom it should be is not known", tool.Name)
		}
	}
	for _, row := range (toolbox{}).tools() {
		scopes[row.name] = row.scope
	}
	c := &cell{t: t, house: h, door: door, stance: s, caller: caller}
	for _, d := range deeds() {
		if scope, listed := scopes[d.tool]; !listed {
			t.Errorf("%s is no tool", d.tool)
		} else if !d.leaves || s.share > calendar.NoAccess {
			c.deed, c.scope = d, scope
			c.try()
		}
	}
}

// cell is one of the matrix after the other.
type cell struct {
	*house
	t      *testing.T
	door   string
	stance stance
	caller calendar.Caller
	deed   deed
	scope  calendar.Scope
	// cal is the calendar, as bob sees it; since is when it was there and empty.
	cal   calendar.Calendar
	since string
	// untouched says that nothing has changed the calendar since it was made: the next one takes it over.
	untouched bool
}

func (c *cell) try() {
	if !c.untouched {
		c.clear()
		c.prepare()
	}
	c.untouched = false
	defer c.Pass(time.Minute)
	before, access := c.state(), c.stance.access(c.caller)
	got := c.ask(names{cal: c.cal.ID, who: "bob", token: "token-e"}, "2025-03-26")
	want := c.due(access)
	if outcome := c.outcome(got); outcome != want {
		c.t.Errorf("%s: %s, want %s: %s", c.deed, outcome, want, got)
	}
	if said := strings.ToLower(got); want == "done" {
		seen := access >= c.deed.needs
		if c.deed.shows && strings.Contains(said, eventWord) != (access >= max(c.deed.needs, c.deed.titled)) ||
			c.deed.lists && strings.Contains(said, calendarWord) != seen {
			c.t.Errorf("%s tells too much or too little: %s", c.deed, got)
		}
		if seen || c.deed.own {
			return
		}
	}
	if access == calendar.NoAccess {
		c.looksAbsent()
	}
	if access < calendar.ReadAccess {
		c.keepsQuiet(got)
	}
	diff := cmp.Diff(before, c.state())
	if c.untouched = diff == ""; !c.untouched {
		c.t.Errorf("%s: %s, yet it changed something (-was +is):\n%s", c.deed, got, diff)
	}
}

// due is what should become of the call.
func (c *cell) due(access calendar.Access) string {
	busyAlone := access == calendar.FreeBusyAccess && c.deed.needs > access
	switch {
	case c.caller.Scopes&c.scope != c.scope, c.deed.own && c.caller.Calendars != nil:
		return "forbidden"
	case c.deed.lacking:
		return "refused"
	case c.deed.everywhere, access >= c.deed.needs:
		return "done"
	case access == calendar.NoAccess, busyAlone, c.deed.hides:
		return "refused"
	}
	return "forbidden"
}

// keepsQuiet checks that a response contains nothing of the event, apart from the call's own arguments.
func (c *cell) keepsQuiet(got string) {
	if strings.Contains(strings.ToLower(got), eventWord) && !strings.Contains(c.deed.arguments, eventWord) {
		c.t.Errorf("%s tells of an event: %s", c.deed, got)
	}
}

// outcome sorts the answers that clients of the first version get.
func (c *cell) outcome(body string) string {
	var r struct {
		Result json.RawMessage
		Error  struct{ Code wire.Code }
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		c.t.Errorf("%s: %s", c.deed, body)
	}
	switch {
	case r.Result != nil:
		return "done"
	case r.Error.Code == wire.CodeForbidden:
		return "forbidden"
	case r.Error.Code == wire.CodeTool, r.Error.Code == wire.CodeNoResource:
		return "refused"
	}
	return fmt.Sprint(r.Error.Code)
}

// names are the identifiers of bob's objects, or of missing ones, in a call.
type names struct {
	cal        calendar.CalendarID
	who, token string
}

// id is the id of an event in the calendar.
func (n names) id() string { return eventID{Calendar: n.cal, UID: "a"}.String() }

func (n names) change(v calendar.Version) string { return fmt.Sprintf("%s.%d", n.cal, v) }

// looksAbsent compares the answers with those about what never was, at each wire.
func (c *cell) looksAbsent() {
	is := names{cal: c.cal.ID, who: "bob", token: "token-e"}
	never := names{cal: "ffffffff" + c.cal.ID[8:], who: "rob", token: "token-q"}
	if is.token == string(c.caller.Token) {
		never.token = is.token // one's own is no secret
	}
	for _, v := range []string{"2025-03-26", "2025-11-25"} {
		got := c.ask(is, v)
		want := strings.NewReplacer(string(never.cal), string(is.cal), never.id(), is.id(), never.who, is.who,
			never.token, is.token).Replace(c.ask(never, v))
		if diff := cmp.Diff(want, got); diff != "" {
			c.t.Errorf("%s at %s tells that there is something (-where nothing is +where something is):\n%s",
				c.deed, v, diff)
		}
		if strings.Contains(strings.ToLower(got), calendarWord) {
			c.t.Errorf("%s at %s names the calendar: %s", c.deed, v, got)
		}
	}
}

// ask makes the call and returns the answer's body.
func (c *cell) ask(n names, v string) string {
	c.t.Helper()
	fill := strings.NewReplacer("CAL", string(n.cal), "ID", n.id(), "CHANGE", n.change(c.cal.Version), "WHO", n.who,
		"TOKEN", n.token, "SINCE", c.since, "OWN", string(c.own()), "ERRANDS", string(c.errands()))
	var body string
	var header []string
	if c.deed.tool == "" {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":%q}}`, c.deed.method,
			fill.Replace(c.deed.resource))
		// Only who has a session is told of changes.
		header = []string{wire.SessionHeader, initialize(c.t, c.door, c.stance.token, v)}
	} else {
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`,
			c.deed.tool, fill.Replace(c.deed.arguments))
	}
	g := do(c.t, request(c.t, http.MethodPost, c.door, c.stance.token, body, append(header, wire.VersionHeader, v)...))
	if g.status != http.StatusOK {
		c.t.Errorf("%s: status %d %s", c.deed, g.status, g.body)
	}
	return g.body
}

// prepare makes a calendar of bob's with two events, one of them deleted, and a task, and shares
// it. Anyone who asks has an event of their own.
func (c *cell) prepare() {
	bob := c.callers["bob"]
	var err error
	c.cal, err = c.service.CreateCalendar(c.t.Context(), bob,
		calendar.NewCalendar{Properties: calendar.Properties{Name: "Quagga", Kinds: calendar.AllKinds()}})
	c.must(err)
	for user, access := range map[calendar.UserID]calendar.Access{
		"alice-id": c.stance.share,
		"carol-id": calendar.FreeBusyAccess,
	} {
		c.must(storetest.Share(c.t.Context(), c.Store, c.cal.ID, user, access))
	}
	c.Pass(time.Second)
	c.since = c.Now().Format(time.RFC3339)
	const at = "DTSTART:20260303T090000Z"
	c.write(c.cal.ID, wrapped(calendar.Event, "gone", at, "SUMMARY:Zebra rides"))
	c.must(c.service.Delete(c.t.Context(), bob, c.now(), "gone.ics", calendar.Precondition{}))
	c.write(c.cal.ID, wrapped(calendar.Todo, "task", "DUE:20260303T090000Z", "SUMMARY:Zebra rides"))
	c.write(c.cal.ID, wrapped(calendar.Event, "a", at, "DURATION:PT1H", "SUMMARY:Zebra rides"))
	c.write(c.cal.ID, wrapped(calendar.Event, "asked", at, "SUMMARY:Zebra rides", "ORGANIZER:mailto:eve@example.net",
		"ATTENDEE:/principals/bob"))
	c.write(c.own(), wrapped(calendar.Event, "mine", at, "SUMMARY:Errand"))
	c.cal = c.now()
}

// own is a calendar that is the own one of who asks.
func (c *cell) own() calendar.CalendarID {
	if c.caller.User.Name == "bob" {
		return "00000000-0000-4000-8000-000000000004"
	}
	return work
}

// write stores the owner's object in a calendar, under its UID.
func (c *cell) write(id calendar.CalendarID, text string) {
	owner := c.callers["bob"]
	if id == work {
		owner = c.callers["alice"]
	}
	cal, err := c.service.Calendar(c.t.Context(), owner, id)
	c.must(err)
	_, rest, _ := strings.Cut(text, "UID:")
	uid, _, _ := strings.Cut(rest, "\n")
	_, err = c.service.Put(c.t.Context(), owner, cal, calendar.Draft{
		Name: calendar.ObjectName(uid + ".ics"), Data: []byte(strings.ReplaceAll(text, "\n", "\r\n")),
	})
	c.must(err)
}

// now is the calendar as it is by now.
func (c *cell) now() calendar.Calendar {
	cal, err := c.service.Calendar(c.t.Context(), c.callers["bob"], c.cal.ID)
	c.must(err)
	return cal
}

// clear deletes the last calendar, if it still exists: lists would otherwise contain those of earlier cells.
func (c *cell) clear() {
	if c.cal.ID == "" {
		return
	}
	err := c.service.DeleteCalendar(c.t.Context(), c.callers["bob"], c.cal.ID)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		c.t.Fatal(err)
	}
}

// state is what bob has: a change of any of it moves its calendar on.
func (c *cell) state() string {
	all, err := c.service.Calendars(c.t.Context(), c.callers["bob"])
	c.must(err)
	var b strings.Builder
	for _, cal := range all {
		shares, err := c.service.Shares(c.t.Context(), c.callers["bob"], cal.ID)
		c.must(err)
		fmt.Fprintln(&b, cal.ID, cal.Name, cal.Version)
		for _, s := range shares {
			fmt.Fprintln(&b, s.User.Name, s.Access)
		}
	}
	return b.String()
}

func (c *cell) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// errands is one of theirs that takes tasks.
func (c *cell) errands() calendar.CalendarID {
	if own := c.own(); own != work {
		return own
	}
	return home
}
