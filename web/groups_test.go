package web_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

// Administrators make groups, and say who is in them; a member has at once what is shared with the group, and loses it
// with it.
func TestGroups(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		ann, bob := h.user("ann"), h.user("bob")
		root := h.as("root")
		root.post("groups", "name", "ann").shows(http.StatusConflict, `a user or a group "ann" already`)
		root.post("groups", "name", "a/b", "title", "All <of> us").shows(http.StatusUnprocessableEntity,
			"is no user name")
		root.post("groups", "name", "Staff", "title", "All <of> us").at("groups/staff?done=group-made").
			shows(http.StatusOK, "All <of> us", "No members yet")
		root.post("groups/staff", "do", "add", "members", "").shows(http.StatusUnprocessableEntity,
			"Enter the user names")
		root.post("groups/staff", "do", "add", "members", "ann, nobody").shows(http.StatusUnprocessableEntity,
			"There is no user nobody. No user was added.",
			"No members yet")
		root.post("groups/staff", "do", "add", "members", "ann,BOB").at("groups/staff?done=members-added").
			shows(http.StatusOK, "ann", "bob")
		root.get("people").shows(http.StatusOK, "staff", "2 members")

		caller := func(u calendar.User) calendar.Caller { return calendar.Caller{User: u, Scopes: calendar.ScopeAll} }
		made, err := h.calendars.CreateCalendar(t.Context(), caller(ann), calendar.NewCalendar{
			Properties: calendar.Properties{Name: "Quagga", Kinds: calendar.AllKinds()},
		})
		h.must(err)
		h.as("ann").post("calendars/"+string(made.ID)+"/share", "with", "staff", "access", "read").shows(http.StatusOK,
			"Shared.")
		has := func() bool {
			all, err := h.calendars.Calendars(t.Context(), caller(bob))
			h.must(err)
			return slices.ContainsFunc(all, func(c calendar.Calendar) bool { return c.ID == made.ID })
		}
		if !has() {
			t.Error("a member has nothing of what is shared with the group")
		}
		root.post("groups/staff", "do", "remove", "member", "bob").at("groups/staff?done=member-removed").
			hides(`name="member" value="bob"`)
		root.post("groups/staff", "do", "remove", "member", "bob").shows(http.StatusNotFound,
			"ob is not in the group staff")
		if has() {
			t.Error("who was taken out has the calendar still")
		}
		root.post("groups/staff", "do", "blow-up").shows(http.StatusNotFound)
		root.post("groups/staff", "do", "delete").at("people?done=group-deleted").hides("groups/staff")
		root.get("groups/staff").shows(http.StatusNotFound)

		// To everybody else there are none, and an administrator says once more who they are.
		h.must(second(h.auth.CreateGroup(t.Context(), "other", "")))
		eve := h.as("ann")
		eve.get("groups/other").shows(http.StatusNotFound, "no such page")
		eve.post("groups/other", "do", "delete").shows(http.StatusNotFound, "no such page")
		eve.post("groups", "name", "mine").shows(http.StatusNotFound, "no such page")
		h.pass(time.Hour)
		root.post("groups", "name", "late").at("confirm?next=people")
		root.post("groups/other", "do", "delete").at("confirm?next=groups%2Fother")
		if all, err := h.auth.Groups(t.Context()); err != nil || len(all) != 1 {
			t.Errorf("there are %d groups, %v", len(all), err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// Administrators bound what a user may have, at once, and see what they have; of the calendars they see nothing.
func TestUserBounds(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		ann := h.user("ann")
		caller := calendar.Caller{User: ann, Scopes: calendar.ScopeAll}
		made := func() error {
			u, err := h.auth.User(t.Context(), "ann")
			h.must(err)
			caller.User = u
			return second(h.calendars.CreateCalendar(t.Context(), caller, calendar.NewCalendar{
				Properties: calendar.Properties{Name: "Quagga", Kinds: calendar.AllKinds()},
			}))
		}
		h.must(made())
		root := h.as("root")
		root.get("people/ann").shows(http.StatusOK, "Calendars now 1", "Size now 0 B").hides("Quagga")
		root.post("people/ann", "do", "bounds", "calendars", "1", "objects", "many", "bytes", "none").
			shows(http.StatusUnprocessableEntity, `"many" is not a positive number`)
		h.must(made())
		root.post("people/ann", "do", "bounds", "calendars", "2", "objects", "none", "bytes", "5MB").
			at("people/ann?done=saved").shows(http.StatusOK)
		for _, value := range []string{`value="2"`, `value="none"`, `value="5000000"`} {
			if s := root.get("people/ann"); !strings.Contains(s.body, value) {
				t.Errorf("the page does not have %s", value)
			}
		}
		if err := made(); calendar.ReasonOf(err) != calendar.TooLarge {
			t.Errorf("a third calendar: %v", err)
		}
		root.post("people/ann", "do", "bounds", "calendars", "default", "objects", "default", "bytes", "default").
			at("people/ann?done=saved")
		h.must(made())
		h.as("ann").post("people/ann", "do", "bounds", "calendars", "none", "objects", "none", "bytes", "none").
			shows(http.StatusNotFound, "no such page")
	})
}

// carrier is mail that arrives, unless it is said to fail.
type carrier struct {
	mu    sync.Mutex
	links []string
	fails error
}

func (c *carrier) Send(_ context.Context, u calendar.User, reset bool, link string, _ time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	kind := map[bool]string{false: "invitation", true: "reset"}[reset]
	c.links = append(c.links, u.Email+" "+kind+" "+link)
	return c.fails
}

// Where there is mail, the link to choose a password comes by it; where the mail fails, the link is there to be handed
// over.
func TestLinksAreMailed(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, database string) {
		post := new(carrier)
		h := open(t, database, func(c *web.Config) { c.Passlinks = post })
		h.admin()
		root := h.as("root")
		made := root.post("invite", "name", "ann", "email", "ann@example.com").shows(http.StatusOK,
			"on its way to ann@example.com", "You can also give ann this link")
		if len(post.links) != 1 || post.links[0] != "ann@example.com invitation "+made.secret() {
			t.Fatalf("mailed: %q", post.links)
		}
		root.post("invite", "name", "bob").shows(http.StatusOK, "Give bob this link")
		post.fails = calendar.Errorf(calendar.Unavailable, "",
			"the mail could not be sent just now; try again in a while")
		reset := root.post("people/ann", "do", "reset").shows(http.StatusOK, "could not be sent just now",
			"Give ann this link")
		if len(post.links) != 2 || post.links[1] != "ann@example.com invitation "+reset.secret() {
			t.Fatalf("mailed: %q", post.links)
		}
		key := strings.TrimPrefix(reset.secret(), h.server.URL+"/account/")
		h.browser().post(key, "password", rightPassword, "again", rightPassword).at("welcome").shows(http.StatusOK)
		// What is refused is mailed to nobody.
		root.post("invite", "name", "ann", "email", "victim@example.com").shows(http.StatusConflict)
		root.post("invite", "name", "cat", "email", "victim").shows(http.StatusUnprocessableEntity)
		if _, err := h.auth.User(t.Context(), "cat"); calendar.ReasonOf(err) != calendar.NotFound ||
			len(post.links) != 2 {
			t.Errorf("cat: %v, mailed: %q", err, post.links)
		}
	})
}

// A user may be called as a page of administrators is.
func TestUserNamedInvite(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("invite")
		h.as("root").get("people/invite").shows(http.StatusOK, "Send password reset link")
	})
}

// Administrators create, change and delete rooms; bad input keeps what was typed. To all others there is no such page.
func TestRoomPages(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		h.must(second(h.auth.CreateGroup(t.Context(), "staff", "")))
		root := h.as("root")
		root.get("rooms").shows(http.StatusOK, "No rooms yet")
		root.post("rooms", "name", "blue", "email", "blue@example.org", "capacity", "a lot", "bookers", "users").
			shows(http.StatusUnprocessableEntity, "“a lot” is not a number of seats")
		page := root.post("rooms", "name", "blue", "email", "blue@example.org", "bookers", "nobody",
			"display-name", "Blue")
		page.shows(http.StatusUnprocessableEntity, `no user and no group "nobody"`)
		if !strings.Contains(page.body, `value="blue@example.org"`) {
			t.Error("the form lost what was typed")
		}
		root.post("rooms", "name", "blue", "email", "blue@example.org", "bookers", "staff", "capacity", "8",
			"display-name", "Blue").at("rooms?done=room-created").shows(http.StatusOK, "8 seats", "for staff")
		root.post("rooms/blue", "do", "save", "display-name", "Blue", "email", "", "bookers", "anybody").
			shows(http.StatusUnprocessableEntity, "Enter the mail address")
		root.post("rooms/blue", "do", "save", "display-name", "Blue 2", "email", "blue@example.org", "bookers",
			"anybody", "by-hand", "1").at("rooms?done=saved").shows(http.StatusOK, "Blue 2", "also by mail",
			"answers by hand").
			hides("8 seats")
		room, err := h.auth.User(t.Context(), "blue")
		h.must(err)
		want := calendar.Room{Kind: calendar.RoomToMeet, Bookers: calendar.Anybody, ByHand: true}
		if room.Room != want {
			t.Errorf("the room is %+v, want %+v", room.Room, want)
		}
		root.get("rooms/ann").shows(http.StatusNotFound)
		ann := h.as("ann")
		for _, path := range []string{"rooms", "rooms/blue"} {
			ann.get(path).shows(http.StatusNotFound, "no such page")
			ann.post(path, "do", "delete", "sure", "1").shows(http.StatusNotFound, "no such page")
		}
		root.post("rooms/blue", "do", "delete").shows(http.StatusUnprocessableEntity, "Tick the box")
		root.post("rooms/blue", "do", "delete", "sure", "1").at("rooms?done=room-deleted").
			shows(http.StatusOK, "No rooms yet")
	})
}

// The page of the audit log filters by user and outcome; foreign text is inert, and only administrators see it.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	events := []web.AuditEvent{
		{Door: "caldav", User: "ann", Did: "PUT /dav", Outcome: "ok"},
		{Door: "caldav", User: "<b>eve", Did: "POST /account/sign-in", Outcome: "refused"},
		{Door: "command", Did: "set-user", Whom: "ann", Outcome: "ok"},
		{Door: "caldav", User: "eve", Did: "share", Whom: "fay", Calendar: "c-1", Detail: "read-write", Outcome: "ok"},
	}
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		root := h.as("root")
		root.get("audit").shows(http.StatusOK, "PUT /dav", "set-user", "<b>eve", "Earlier events",
			"share fay read-write calendar c-1").hides("<b>eve")
		root.get("audit?user=ANN").shows(http.StatusOK, "PUT /dav", "set-user").hides("sign-in<")
		root.get("audit?outcome=refused").shows(http.StatusOK, "POST /account/sign-in").hides("PUT /dav")
		root.get("audit?what=set-&before=x").shows(http.StatusOK, "set-user").hides("PUT /dav")
		root.get("audit?user=nobody").shows(http.StatusOK, "No events found so far")
		h.as("ann").get("audit").shows(http.StatusNotFound, "no such page")
	}, func(c *web.Config) {
		c.Audit = func(_ int64, _ int, match func(web.AuditEvent) bool) ([]web.AuditEvent, int64, error) {
			return slices.DeleteFunc(slices.Clone(events), func(e web.AuditEvent) bool { return !match(e) }), 7, nil
		}
	})
}

// A list of users is shown before it is imported, with an error by line. Nothing locks the administrator out.
func TestImportUsersPage(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		h.user("ann")
		root := h.as("root")
		root.uploadTo("import-users", nil, "do", "import").shows(http.StatusUnprocessableEntity,
			"Choose a file, or paste")
		root.uploadTo("import-users", nil, "list", "name,shoe\nbob,42").shows(http.StatusUnprocessableEntity,
			`no field "shoe"`, "bob,42")
		list := "name;email;display_name\nbob;bob@example.org;<b>Bob\nann;;Ann Lee\ncat;nowhere;\n"
		root.uploadTo("import-users", nil, "do", "preview", "list", list).shows(http.StatusOK, "Nothing is changed yet",
			"New: 1, changed: 1, unchanged: 0, with errors: 1",
			`4 cat nowhere "nowhere" is no e-mail address; it looks like name@example.com. 2 bob <b>Bob `+
				"bob@example.org new 3 ann Ann Lee changed").hides("links.csv")
		if kept := root.uploadTo("import-users", []byte(list), "do", "preview", "new-links", "1"); !strings.Contains(
			kept.body, `name="new-links" value="1" checked`) || !strings.Contains(kept.body, "bob;bob@example.org") {
			t.Errorf("the preview does not keep the tick and the file:\n%s", kept.body)
		}
		if _, err := h.auth.User(t.Context(), "bob"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("bob after the preview: %v", err)
		}
		done := root.uploadTo("import-users", nil, "do", "import", "list", list).shows(http.StatusOK, "Imported.")
		bob, err := h.auth.User(t.Context(), "bob")
		h.must(err)
		if bob.DisplayName != "<b>Bob" || bob.Email != "bob@example.org" {
			t.Errorf("bob is %+v", bob)
		}
		link := strings.TrimPrefix(done.secret(), h.server.URL+"/account/")
		h.browser().get(link).shows(http.StatusOK, "as bob")
		_, file, _ := strings.Cut(done.body, `href="data:text/csv;base64,`)
		file, _, _ = strings.Cut(file, `"`)
		file = strings.ReplaceAll(file, "&#43;", "+")
		table, err := base64.StdEncoding.DecodeString(file)
		if want := "name,email,link\nbob,bob@example.org," + done.secret() + "\n"; err != nil || string(table) != want {
			t.Errorf("the links as a file: %q, %v, want %q", table, err, want)
		}
		// Groups must exist; users join them, and leave none.
		h.must(second(h.auth.CreateGroup(t.Context(), "staff", "")))
		h.must(second(h.auth.AddMembers(t.Context(), "staff", []string{"bob"})))
		h.must(second(h.auth.CreateGroup(t.Context(), "sales", "")))
		list = "name,groups,language\ndan,Sales; staff,de\nbob,staff,\nann,sales,\neve,nowhere,\nfay,,xx\n"
		for _, do := range []string{"preview", "import"} {
			root.uploadTo("import-users", nil, "do", do, "list", list).shows(http.StatusOK,
				"New: 1, changed: 1, unchanged: 1, with errors: 2", `There is no group "nowhere"`,
				`There is no language "xx"`)
		}
		root.uploadTo("import-users", nil, "do", "preview", "list", list).shows(http.StatusOK,
			"New: 0, changed: 0, unchanged: 3, with errors: 2")
		var members []string
		all, err := h.auth.Groups(t.Context())
		h.must(err)
		for _, g := range all {
			for _, u := range g.Members {
				members = append(members, g.Name+" "+u.Name+" "+u.Language)
			}
		}
		if want := []string{"sales ann ", "sales dan de", "staff bob ", "staff dan de"}; !slices.Equal(members, want) {
			t.Errorf("the members are %q, want %q", members, want)
		}
		root.uploadTo("import-users", nil, "do", "import", "list", "name,admin\nroot,false").shows(http.StatusOK,
			"with errors: 1", "That would be you")
		root.uploadTo("import-users", nil, "do", "preview", "list", "name\n"+strings.Repeat("x\n", 501)).
			shows(http.StatusUnprocessableEntity, "This page takes 500 at once")
		ann := h.as("ann")
		ann.get("import-users").shows(http.StatusNotFound, "no such page")
		ann.post("import-users", "do", "import", "list", list).shows(http.StatusNotFound, "no such page")
	})
}

// The list of shares says what a person also has through a group, changes the right in place, and says after the end
// of a person's share that a group still gives access. An administrator who names a group that they are not in reads
// why it is refused; others read that there is no such user.
func TestSharesWithGroups(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.admin()
		ann := h.user("ann")
		h.user("ben")
		work := h.made(ann, "Work")
		h.must(second(h.auth.CreateGroup(t.Context(), "sales", "Sales")))
		h.must(second(h.auth.AddMembers(t.Context(), "sales", []string{"ben"})))
		b, page := h.as("ann"), "calendars/"+string(work.ID)
		b.get(page).shows(http.StatusOK, "User name, mail address or group")
		b.post(page+"/share", "with", "sales", "access", "read").
			shows(http.StatusNotFound, `There is no user "sales"`)
		h.must(second(h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Admin: new(true)})))
		b.post(page+"/share", "with", "Sales", "access", "read").shows(http.StatusUnprocessableEntity,
			`You are not in the group "sales", and share nothing with it; only members share with a group`)
		b.post(page+"/share", "with", "nobody", "access", "read").
			shows(http.StatusNotFound, `There is no user "nobody"`)

		h.must(second(h.auth.AddMembers(t.Context(), "sales", []string{"ann"})))
		b.post(page+"/share", "with", "sales", "access", "read").at(page + "?done=shared")
		b.post(page+"/share", "with", "ben", "access", "busy").at(page+"?done=shared").
			shows(http.StatusOK, "ben (ben) may see busy times, not answered yet , also through Sales: read")
		b.post(page+"/share", "with", "ben", "access", "write").at(page+"?done=shared").
			shows(http.StatusOK, "ben (ben) may read and change")
		// The owner left the group: its right can be lowered in place, not raised.
		h.must(h.auth.RemoveMembers(t.Context(), "sales", []string{"ann"}))
		b.post(page+"/share", "with", "sales", "access", "write").
			shows(http.StatusUnprocessableEntity, "You are not in the group")
		b.post(page+"/share", "with", "sales", "access", "busy").at(page+"?done=shared").
			shows(http.StatusOK, "also through Sales: see busy times")
		b.post(page+"/unshare", "with", "ben").at(page+"?done=unshared-but-group").
			shows(http.StatusOK, "A group still gives them access").hides("also through")
		b.post(page+"/unshare", "with", "sales").at(page + "?done=unshared")
	})
}

// The audit log names whom an action concerns, and the right or the numbers. A refused sign-in is logged with the name
// of a user only: the field may hold a password. A preview is no change.
func TestAuditNames(t *testing.T) {
	t.Parallel()
	var line, preview string
	noted := func(c *web.Config) {
		c.Did = func(_ context.Context, what, whom string) { line = what + " | " + whom }
		c.Details = func(_ context.Context, calendar, detail string) { line += " | " + calendar + " | " + detail }
		c.Unchanged = func(context.Context) { preview = "unchanged" }
	}
	h := open(t, testdb.SQLite(t), noted)
	h.admin()
	ann := h.user("ann")
	h.user("bob")
	h.must(second(h.auth.CreateGroup(t.Context(), "staff", "")))
	work, root, b := string(h.made(ann, "Work").ID), h.as("root"), h.as("ann")
	logged := func(want string) {
		t.Helper()
		if line != want {
			t.Errorf("logged %q, want %q", line, want)
		}
		line = ""
	}
	line = ""
	b.post("calendars/"+work+"/share", "with", "BOB", "access", "read").shows(http.StatusOK)
	logged("share | bob | " + work + " | read")
	b.post("calendars/"+work+"/share", "with", "my secret", "access", "read").shows(http.StatusNotFound)
	logged("")
	b.post("calendars/"+work+"/unshare", "with", "bob").shows(http.StatusOK)
	logged("unshare | bob | " + work + " | ")
	root.post("invite", "name", "Cem", "admin", "on").shows(http.StatusOK)
	logged("invite | cem |  | admin=true")
	list := "name,display_name\ndan,Dan\nbob,Bob\nann,\na b,\n"
	root.post("import-users", "do", "preview", "list", list).shows(http.StatusOK)
	logged("")
	if preview != "unchanged" {
		t.Error("a preview counts as a change")
	}
	root.post("import-users", "do", "import", "list", list).shows(http.StatusOK)
	logged("import-users | dan bob |  | created=1 changed=1 unchanged=1 failed=1")
	root.post("groups/staff", "do", "add", "members", "ann bob").shows(http.StatusOK)
	logged("groups/add | staff ann bob")
	root.post("groups/staff", "do", "remove", "member", "bob").shows(http.StatusOK)
	logged("groups/remove | staff bob")
	root.post("people/bob", "do", "bounds", "calendars", "5", "objects", "none", "bytes", "5MB").shows(http.StatusOK)
	logged("people/quota | bob |  | calendars=5 objects=none bytes=5MB")
	root.post("people/dan", "do", "delete", "name", "dan", "calendars", "give", "successor", "bob").shows(http.StatusOK)
	logged("people/delete | dan bob |  | successor=bob")
	for name, want := range map[string]string{"Ann": " | ann", rightPassword: "", "nobody": ""} {
		h.browser().post("sign-in", "name", name, "password", "wrong").shows(http.StatusUnprocessableEntity)
		logged(want)
	}
}
