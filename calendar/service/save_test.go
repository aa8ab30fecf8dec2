package service_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

func TestWhatIsPutIsWhatIsRead(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		odd := strings.ReplaceAll(event("one", 2, "a  b\\, c"), "\r\n", "\n") + "\n\n"
		saved := h.put(h.alice, work, "1.ics", odd)
		got, err := h.Object(h.ctx, nil, h.alice, work, "1.ics")
		h.must(err)
		if string(got.Data) != odd || got.ETag != calendar.ETagOf([]byte(odd)) || got.ETag != saved.Object.ETag ||
			!saved.Created {
			h.t.Errorf("stored %q as %s, created %v", got.Data, got.ETag, saved.Created)
		}
		if got.UID != "one" || got.Kind != calendar.Event || got.Summary != "a  b, c" || !got.Created.Equal(h.Now()) {
			h.t.Errorf("derived %+v at %v", got.Derived, got.Created)
		}
	})
}

// TestRepeatedPutChangesNothing: a client that sends the same again must not make others sync.
func TestRepeatedPutChangesNothing(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		first := h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		before := h.token(h.alice, work)
		h.Pass(time.Hour)
		again := h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		if again.Created || again.Object.Version != first.Object.Version || h.token(h.alice, work) != before {
			h.t.Errorf("version %d, then %d", first.Object.Version, again.Object.Version)
		}
	})
}

func TestPreconditions(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		old := h.put(h.alice, work, "1.ics", event("one", 2, "x")).Object.ETag
		other := []calendar.ETag{`"0"`}
		for _, c := range []struct {
			name calendar.ObjectName
			when calendar.Precondition
			ok   bool
		}{
			{"1.ics", calendar.Precondition{Match: []calendar.ETag{`"0"`, old}}, true},
			{"1.ics", calendar.Precondition{Match: other}, false},
			{"1.ics", calendar.Precondition{MatchAny: true}, true},
			{"1.ics", calendar.Precondition{NoneMatchAny: true}, false},
			{"1.ics", calendar.Precondition{NoneMatch: []calendar.ETag{old}}, false},
			{"1.ics", calendar.Precondition{NoneMatch: other}, true},
			{"2.ics", calendar.Precondition{MatchAny: true}, false},
			{"2.ics", calendar.Precondition{Match: other}, false},
			{"2.ics", calendar.Precondition{NoneMatch: other}, true},
			{"2.ics", calendar.Precondition{NoneMatchAny: true}, true},
		} {
			now := calendar.ETag("")
			if c.name == "1.ics" {
				now = old
			}
			if err := c.when.Check(now); (err == nil) != c.ok {
				h.t.Errorf("%s %+v: %v", c.name, c.when, err)
			}
			if c.ok {
				continue
			}
			// The bytes that are stored already are refused like others.
			for _, data := range []string{event("one", 3, "new"), event("one", 2, "x")} {
				_, err := h.Put(h.ctx, h.alice, work, calendar.Draft{Name: c.name, Data: []byte(data), When: c.when})
				h.refused(err, calendar.Stale, "", "read it again")
			}
			h.refused(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{Match: other}), calendar.Stale, "",
				string(old))
		}
		if got := h.changes(h.alice, work, ""); got != "1.ics@2" {
			h.t.Errorf("after refusals alone: %s", got)
		}
	})
}

func TestRefusedObjects(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work", calendar.Event)
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		todo := "BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:t\nEND:VTODO\nEND:VCALENDAR\n"
		for _, c := range []struct {
			name   calendar.ObjectName
			data   string
			reason calendar.Reason
			rule   calendar.Rule
			says   string
		}{
			{"2.ics", "hello", calendar.Invalid, calendar.RuleValidData, "line 1"},
			{"2.ics", todo, calendar.Forbidden, calendar.RuleSupportedKind, "takes VEVENT, not VTODO"},
			{"2.ics", event("one", 5, "y"), calendar.Exists, calendar.RuleUIDConflict, `UID "one"`},
			{"1.ics", event("two", 5, "y"), calendar.Exists, calendar.RuleUIDConflict, "cannot change"},
			{
				"2.ics", event("big", 5, strings.Repeat("x", 4<<20)), calendar.TooLarge, calendar.RuleMaxSize,
				"this server takes 4194304",
			},
			{"", event("two", 5, "y"), calendar.Invalid, "", "name"},
		} {
			_, err := h.Put(h.ctx, h.alice, work, calendar.Draft{Name: c.name, Data: []byte(c.data)})
			h.refused(err, c.reason, c.rule, c.says)
		}
	})
}

// What a door has looked up before it read the body may be out of date when it writes.
func TestWritesNeedTheShareAsItIs(t *testing.T) {
	each(t, func(h *house) {
		work, his := h.calendar(h.alice, "work"), h.calendar(h.bob, "his")
		h.put(h.alice, work, "1.ics", event("one", 2, "one"))
		h.put(h.bob, his, "2.ics", event("two", 2, "two"))
		h.share(h.alice, work, h.bob, calendar.WriteAccess)
		shared := h.fresh(h.bob, work)
		writes := map[string]func() error{
			"put": func() error {
				_, err := h.Put(h.ctx, h.bob, shared,
					calendar.Draft{Name: "3.ics", Data: []byte(event("three", 2, "x"))})
				return err
			},
			"delete": func() error { return h.Delete(h.ctx, h.bob, shared, "1.ics", calendar.Precondition{}) },
			"move away": func() error {
				_, err := h.Move(h.ctx, h.bob, ledger.Transfer{From: shared, Name: "1.ics", To: his, As: "1.ics"})
				return err
			},
			"move in": func() error {
				_, err := h.Move(h.ctx, h.bob, ledger.Transfer{From: his, Name: "2.ics", To: shared, As: "2.ics"})
				return err
			},
			"keep": func() error {
				kept := []calendar.DeadProperty{
					{Name: calendar.PropertyName{Space: "x", Local: "y"}, Value: "<y xmlns='x'/>"},
				}
				of := calendar.Holder{Place: calendar.AtObject, Calendar: shared, Object: "1.ics"}
				return h.SetDeadProperties(h.ctx, h.bob, of, kept, calendar.Precondition{})
			},
		}
		before := h.content(h.alice, work)
		for _, now := range []struct {
			access calendar.Access
			reason calendar.Reason
		}{
			{calendar.ReadAccess, calendar.Forbidden},
			{calendar.FreeBusyAccess, calendar.NotFound},
			{calendar.NoAccess, calendar.NotFound},
		} {
			h.offer(work, h.bob, now.access, "")
			for name, write := range writes {
				if err := write(); err == nil || calendar.ReasonOf(err) != now.reason {
					t.Errorf("%s with access %d: %v, want %v", name, now.access, err, now.reason)
				}
			}
		}
		h.is(work, before)
	})
}

func TestDeletedObjectsFreeTheirUID(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "x"))
		h.must(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}))
		_, err := h.Object(h.ctx, nil, h.alice, work, "1.ics")
		h.refused(err, calendar.NotFound, "", "1.ics")
		h.refused(h.Delete(h.ctx, h.alice, work, "1.ics", calendar.Precondition{}), calendar.NotFound, "", "1.ics")
		if saved := h.put(h.alice, work, "2.ics", event("one", 2, "x")); !saved.Created {
			h.t.Error("the UID came back as a change, not as a new object")
		}
		if saved := h.put(h.alice, work, "1.ics", event("three", 2, "x")); !saved.Created {
			h.t.Error("the name came back as a change, not as a new object")
		}
	})
}

// TestWhoMayOnlyWriteReadsNothing: a refusal names neither an object's tag, by which its content could be guessed,
// nor its name, nor the calendar's (security L3).
func TestWhoMayOnlyWriteReadsNothing(t *testing.T) {
	each(t, func(h *house) {
		work := h.calendar(h.alice, "zzname", calendar.Event)
		saved := h.put(h.alice, work, "zzobject.ics", event("one", 9, "x"))
		blind := h.alice
		blind.Scopes = calendar.ScopeWrite | calendar.ScopeDelete
		try := func(name calendar.ObjectName, data string, when calendar.Precondition) error {
			_, err := h.Put(h.ctx, blind, work, calendar.Draft{Name: name, Data: []byte(data), When: when})
			return err
		}
		other := calendar.Precondition{Match: []calendar.ETag{`"other"`}}
		for what, err := range map[string]error{
			"another tag":     try("zzobject.ics", event("one", 9, "y"), other),
			"deleting":        h.Delete(h.ctx, blind, work, "zzobject.ics", other),
			"the UID again":   try("new.ics", event("one", 9, "y"), calendar.Precondition{}),
			"of another kind": try("task.ics", text(calendar.Todo, "task"), calendar.Precondition{}),
		} {
			refused, ok := errors.AsType[*calendar.Error](err)
			if !ok || refused.Conflict != "" || strings.Contains(err.Error(), "zz") ||
				strings.Contains(err.Error(), strings.Trim(string(saved.Object.ETag), `"`)) {
				h.t.Errorf("%s: %v, %+v", what, err, refused)
			}
		}
	})
}
