package mirror_test

import (
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

// linkedNow returns the names of the linked calendars and of the others.
func (h *house) linkedNow() (linked, unlinked []string) {
	h.t.Helper()
	l, err := h.Mirrors.LinkedAccount(h.ctx, h.alice, h.linked.ID)
	h.must(err)
	for _, c := range l.Calendars {
		linked = append(linked, c.Name)
	}
	for _, c := range l.Unlinked {
		unlinked = append(unlinked, c.Name)
	}
	slices.Sort(linked)
	return linked, unlinked
}

func (h *house) expectLinked(linked, unlinked []string) {
	h.t.Helper()
	got, others := h.linkedNow()
	if diff := gocmp.Diff([][]string{linked, unlinked}, [][]string{got, others}); diff != "" {
		h.t.Errorf("linked, and not:\n%s", diff)
	}
}

func (h *house) choose(later bool, remotes ...string) {
	h.t.Helper()
	_, err := h.Mirrors.Choose(h.ctx, h.alice, h.linked.ID, mirror.Choice{Remotes: remotes, New: later})
	h.must(err)
}

// TestCalendarsAreChosen: only chosen calendars of an account are linked. Others do not return by themselves, and a
// chosen one comes back from the trash with its entries.
func TestCalendarsAreChosen(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.others = []string{"Club", "School"}
		h.model.set("", "u1", event("u1", "x"))
		var err error
		h.linked, _, err = h.Mirrors.Link(h.ctx, h.alice,
			mirror.NewAccount{Provider: "model", Name: "Work", Secret: mirror.Secret{Password: "secret"}, Choose: true})
		h.must(err)
		h.expectLinked(nil, []string{"Club", "Elsewhere", "School"})
		h.must(h.refresh())
		h.expectLinked(nil, []string{"Club", "Elsewhere", "School"})

		h.choose(false, "one", "id of Club")
		h.must(h.refresh())
		h.expectLinked([]string{"Club", "Elsewhere"}, []string{"School"})
		l, err := h.Mirrors.LinkedAccount(h.ctx, h.alice, h.linked.ID)
		h.must(err)
		cal := l.Calendars[slices.IndexFunc(l.Calendars, func(c mirror.LinkedCalendar) bool {
			return c.State.Remote == "one"
		})].Calendar
		h.same(cal)

		h.choose(false, "id of Club")
		h.must(h.refresh())
		h.expectLinked([]string{"Club"}, []string{"Elsewhere", "School"})
		h.model.set("", "u2", event("u2", "y"))
		h.choose(false, "one", "id of Club")
		h.must(h.refresh())
		h.expectLinked([]string{"Club", "Elsewhere"}, []string{"School"})
		h.same(cal)

		// One that is deleted here stays deleted when the trash is emptied, even if new ones are linked.
		h.choose(true, "one", "id of Club")
		h.must(h.DeleteCalendar(h.ctx, h.alice, cal.ID))
		h.must(h.ForgetCalendar(h.ctx, h.alice, cal.ID))
		h.model.others = append(h.model.others, "New")
		h.must(h.refresh())
		h.expectLinked([]string{"Club", "New"}, []string{"Elsewhere", "School"})

		h.choose(false, "id of Club")
		h.model.others = []string{"Club", "Newer"}
		h.must(h.refresh())
		h.expectLinked([]string{"Club"}, []string{"Elsewhere", "Newer"})
		h.model.others = []string{"Club", "School", "Newer"} // back after a listing that lacked it
		h.choose(true, "id of Club")
		h.must(h.refresh())
		h.expectLinked([]string{"Club"}, []string{"Elsewhere", "Newer", "School"})
	})
}

// TestChoicesAreRefused: only the owner chooses, and only among the account's calendars.
func TestChoicesAreRefused(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.others = []string{"Club"}
		h.link()
		few := h.alice
		few.Calendars = []calendar.CalendarID{h.linked.Calendars[0].ID}
		for name, c := range map[string]struct {
			caller calendar.Caller
			remote string
			want   calendar.Reason
		}{
			"another user":                     {bob, "one", calendar.NotFound},
			"a token limited to few calendars": {few, "one", calendar.Forbidden},
			"an unknown calendar":              {h.alice, "unknown", calendar.Invalid},
		} {
			_, err := h.Mirrors.Choose(h.ctx, c.caller, h.linked.ID, mirror.Choice{Remotes: []string{c.remote}})
			if calendar.ReasonOf(err) != c.want {
				t.Errorf("%s: %v", name, err)
			}
		}
		h.expectLinked([]string{"Club", "Elsewhere"}, nil)
		h.model.password = "another"
		_, err := h.Mirrors.Choose(h.ctx, h.alice, h.linked.ID, mirror.Choice{Remotes: []string{"one"}})
		h.must(err) // unlinking asks the account nothing
		h.expectLinked([]string{"Elsewhere"}, []string{"Club"})
		_, err = h.Mirrors.Choose(h.ctx, h.alice, h.linked.ID, mirror.Choice{Remotes: []string{"one", "id of Club"}})
		if calendar.ReasonOf(err) != calendar.Unavailable {
			t.Errorf("the account does not let us in: %v", err)
		}
	})
}
