package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/testdb"
)

// TestProposals: alice proposes other times; bob sees them and sends them back: he accepts one and declines another.
func TestProposals(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		bobs := "00000000-0000-4000-8000-000000000004"
		var lunch toldIn
		use(t, door, "bob", "create_event", params{
			"calendar_id": bobs, "title": "Lunch",
			"start": "2026-03-06T09:30:00Z", "end": "2026-03-06T10:30:00Z", "attendees": []string{
				"alice@example.com",
				"eve@example.net",
			},
		}, &lunch)
		var waiting invitationsOf
		use(t, door, "alice", "list_invitations", params{}, &waiting)
		mine := params{
			"calendar_id": waiting.Invitations[0].Calendar, "event_uid": waiting.Invitations[0].UID,
			"answer": "propose",
		}
		with := func(more params) params {
			made := params{}
			for _, p := range []params{mine, more} {
				maps.Copy(made, p)
			}
			return made
		}
		if said := refusalOf(t, door, "alice", "respond_to_event", written(t, mine)); !strings.Contains(said, "start") {
			t.Errorf("without a time: %s", said)
		}
		var v toldIn
		use(t, door, "alice", "respond_to_event", with(params{
			"start": "2026-03-06T12:00:00Z",
			"end":   "2026-03-06T13:00:00Z", "comment": "I am on a train",
		}), &v)
		if !slices.Equal(v.Told, []string{"bob@example.com"}) {
			t.Errorf("told of a proposal: %+v", v)
		}
		use(t, door, "alice", "list_invitations", params{}, &waiting)
		if len(waiting.Invitations) != 1 {
			t.Errorf("alice has still to answer: %+v", waiting.Invitations)
		}
		var bob struct {
			Invitations []struct {
				Calendar string `json:"calendar_id"`
				UID      string `json:"event_uid"`
				Proposed []string
			}
		}
		text := contentText(t, use(t, door, "bob", "list_invitations", params{}, &bob))
		if len(bob.Invitations) != 1 || len(bob.Invitations[0].Proposed) != 1 {
			t.Fatalf("bob sees %+v\n%s", bob, text)
		}
		line := bob.Invitations[0].Proposed[0]
		if !strings.HasPrefix(line, "alice@example.com: Friday 2026-03-06T12:00:00Z to Friday 2026-03-06T13:00:00Z") ||
			!strings.Contains(line, `"I am on a train"`) || !strings.Contains(text, line) {
			t.Errorf("bob sees %q in\n%s", line, text)
		}
		of := params{"calendar_id": bob.Invitations[0].Calendar, "event_uid": bob.Invitations[0].UID}
		mine = of
		if said := refusalOf(t, door, "bob", "respond_to_event",
			written(t, with(params{"answer": "tentative"}))); !strings.Contains(said, "accept") {
			t.Errorf("neither yes nor no: %s", said)
		}
		if said := refusalOf(t, door, "bob", "respond_to_event",
			written(t, with(params{"answer": "accept", "start": "2026-03-06T15:00:00Z"}))); !strings.Contains(said,
			"no guest proposed") {
			t.Errorf("another time: %s", said)
		}
		if said := refusalOf(t, door, "bob", "respond_to_event",
			written(t, with(params{"answer": "accept"}))); !strings.Contains(said, "2026-03-06T12:00:00Z") {
			t.Errorf("no time: %s", said)
		}
		if said := refusalOf(t, door, "bob", "respond_to_event",
			written(t, with(params{
				"answer": "accept", "start": "2026-03-06T12:00:00Z",
				"end": "2026-03-06T17:00:00Z",
			}))); !strings.Contains(said, "no guest proposed") {
			t.Errorf("another end: %s", said)
		}
		var after struct {
			Start string `json:"start_local"`
			Told  []string
		}
		use(t, door, "bob", "respond_to_event",
			with(params{"answer": "accept", "start": "2026-03-06T13:00:00+01:00"}), &after)
		if after.Start != "2026-03-06T12:00:00Z" || !slices.Contains(after.Told, "alice@example.com") ||
			!slices.Contains(after.Told, "eve@example.net (by mail, within a minute)") {
			t.Errorf("taken up: %+v", after)
		}
		use(t, door, "bob", "list_invitations", params{}, &bob)
		if len(bob.Invitations) > 0 {
			t.Errorf("still there: %+v", bob)
		}
		// Alice proposed the time, so she has accepted it; Eve is asked.
		for token, at := range map[string]params{"bob": of, "alice": {
			"calendar_id": waiting.Invitations[0].Calendar, "event_uid": waiting.Invitations[0].UID,
		}} {
			var now toldIn
			use(t, door, token, "get_event", at, &now)
			if diff := cmp.Diff([]string{
				"alice@example.com (ACCEPTED)", "eve@example.net (NEEDS-ACTION)",
			}, now.Guest); diff != "" {
				t.Errorf("%s sees, -want +got\n%s", token, diff)
			}
		}
		mine = params{
			"calendar_id": waiting.Invitations[0].Calendar, "event_uid": waiting.Invitations[0].UID,
			"answer": "propose",
		}
		use(t, door, "alice", "respond_to_event", with(params{"start": "2026-03-07T08:00"}), &v)
		mine = of
		use(t, door, "bob", "respond_to_event", with(params{"answer": "decline", "comment": "No"}), &v)
		if !slices.Equal(v.Told, []string{"alice@example.com"}) {
			t.Errorf("turned down: %+v", v)
		}
	})
}

// TestProposalsAreDecidedOneByOne: two attendees propose two different times. Neither is accepted or declined before
// the call names one, also if it sends back the list that it got; the other stays open.
func TestProposalsAreDecidedOneByOne(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		dan := calendar.User{ID: "dan-id", Name: "dan", Created: noon}
		h.Admit(t, dan)
		h.callers["dan"] = calendar.Caller{User: dan, Scopes: calendar.ScopeAll, Token: "token-h"}
		h.calendar(t, "dan", calendar.Properties{Name: "Dan"})
		h.reachable(t, "alice", "bob", "dan")
		door := h.open(t, h.config())
		var lunch toldIn
		bobs := "00000000-0000-4000-8000-000000000004"
		use(t, door, "bob", "create_event", params{
			"calendar_id": bobs, "title": "Lunch",
			"start": "2026-03-06T09:30:00Z", "end": "2026-03-06T10:30:00Z", "attendees": []string{
				"alice@example.com",
				"dan@example.com",
			},
		}, &lunch)
		for guest, hour := range map[string]string{"alice": "12", "dan": "15"} {
			var waiting invitationsOf
			use(t, door, guest, "list_invitations", params{}, &waiting)
			var v toldIn
			use(t, door, guest, "respond_to_event", params{
				"calendar_id": waiting.Invitations[0].Calendar,
				"event_uid":   waiting.Invitations[0].UID, "answer": "propose", "start": "2026-03-06T" + hour +
					":00:00Z",
			}, &v)
		}
		open := func() []string {
			t.Helper()
			var bob struct {
				Invitations []struct {
					UID      string `json:"event_uid"`
					Proposed []string
				}
			}
			use(t, door, "bob", "list_invitations", params{}, &bob)
			if len(bob.Invitations) == 0 {
				return nil
			}
			lunch.UID = bob.Invitations[0].UID
			return bob.Invitations[0].Proposed
		}
		if all := open(); len(all) != 2 {
			t.Fatalf("bob sees %q", all)
		}
		says := params{"calendar_id": bobs, "event_uid": lunch.UID, "answer": "decline"}
		if said := refusalOf(t, door, "bob", "respond_to_event", written(t, says)); !strings.Contains(said,
			"2026-03-06T12:00:00Z") || !strings.Contains(said, "2026-03-06T15:00:00Z") ||
			!strings.Contains(said, "start") {
			t.Errorf("which of them was not said: %s", said)
		}
		if all := open(); len(all) != 2 {
			t.Errorf("refused, and yet only %q are left", all)
		}
		says["start"] = "2026-03-06T15:00:00Z"
		var v toldIn
		use(t, door, "bob", "respond_to_event", says, &v)
		if !slices.Equal(v.Told, []string{"dan@example.com"}) {
			t.Errorf("told of one that was turned down: %q", v.Told)
		}
		if all := open(); len(all) != 1 || !strings.HasPrefix(all[0], "alice@example.com") {
			t.Errorf("still open: %q", all)
		}
	})
}

// TestProposalsThatBeginAlike: of three that begin with each other each can be chosen, one that does not say how long
// it lasts by the end that the event would have then.
func TestProposalsThatBeginAlike(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "bob")
		door := h.open(t, h.config())
		var lunch toldIn
		bobs := "00000000-0000-4000-8000-000000000004"
		use(t, door, "bob", "create_event", params{
			"calendar_id": bobs, "title": "Lunch",
			"start": "2026-03-06T09:30:00Z", "end": "2026-03-06T10:30:00Z", "attendees": []string{
				"ann@example.net",
				"dan@example.net", "eve@example.net",
			},
		}, &lunch)
		for guest, end := range map[string]string{
			"ann": "DTEND:20260306T140000Z", "dan": "X-END:none",
			"eve": "DURATION:PT30M",
		} {
			text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:COUNTER\r\nBEGIN:VEVENT\r\nUID:" +
				lunch.UID + "\r\nDTSTAMP:20260305T120000Z\r\nDTSTART:20260306T120000Z\r\n" +
				end + "\r\nORGANIZER:mailto:bob@example.com\r\nATTENDEE:mailto:" + guest +
				"@example.net\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
			err := h.service.Receive(t.Context(), calendar.Inbound{
				From: calendar.MailAddress(guest + "@example.net"), To: []calendar.MailAddress{"bob@example.com"},
				Method: calendar.MethodCounter, Data: []byte(text),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		says := params{
			"calendar_id": bobs, "event_uid": lunch.UID, "answer": "decline",
			"start": "2026-03-06T12:00:00Z",
		}
		said := refusalOf(t, door, "bob", "respond_to_event", written(t, says))
		for guest, end := range map[string]string{"ann": "14:00:00Z", "dan": "13:00:00Z", "eve": "12:30:00Z"} {
			if !strings.Contains(said, "2026-03-06T12:00:00Z to Friday 2026-03-06T"+end) {
				t.Errorf("%s's is not shown: %s", guest, said)
			}
			says["end"] = "2026-03-06T" + end
			var v toldIn
			use(t, door, "bob", "respond_to_event", says, &v)
			if len(v.Told) != 1 || !strings.HasPrefix(v.Told[0], guest) {
				t.Errorf("told that %s's comes to nothing: %q", guest, v.Told)
			}
		}
	})
}

// replaced is a store with a callback when messages are read after a decision: before the first of them, or after it.
type replaced struct {
	calendar.Store
	armed, decided, before bool
	meanwhile              func()
}

func (r *replaced) Update(ctx context.Context, do func(calendar.Tx) error) error {
	err := r.Store.Update(ctx, do)
	r.decided = r.armed
	return err
}

func (r *replaced) Proposal(
	ctx context.Context, user calendar.UserID, name calendar.ObjectName,
) (calendar.InboxItem, error) {
	now := r.decided
	if now {
		r.armed, r.decided = false, false
	}
	if now && r.before {
		r.meanwhile()
	}
	i, err := r.Store.Proposal(ctx, user, name)
	if now && !r.before {
		r.meanwhile()
	}
	return i, err
}

// TestProposalsOfWhichOneIsReplaced: of three that are turned down at once the second is replaced in that moment, or
// has gone. The two others are turned down, and all of it is told.
func TestProposalsOfWhichOneIsReplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, gone bool
		why          string
	}{
		"while it is decided": {false, false, "dan@example.net has made another proposal"},
		"before it is read":   {true, false, "this proposal is no longer open"},
		"decided before that": {true, true, "there is no message"},
	} {
		t.Run(name, func(t *testing.T) {
			testdb.Each(t, func(t *testing.T, url string) { turnsDownThree(t, url, c.before, c.gone, c.why) })
		})
	}
}

func turnsDownThree(t *testing.T, url string, before, gone bool, why string) {
	t.Helper()
	h := newHouse(t, url)
	h.reachable(t, "bob")
	middle := h.middle()
	store := &replaced{Store: middle.Store, before: before}
	middle.Store = store
	h.service = service.New(middle)
	door := h.open(t, h.config())
	var lunch toldIn
	bobs := "00000000-0000-4000-8000-000000000004"
	use(t, door, "bob", "create_event", params{
		"calendar_id": bobs, "title": "Lunch", "start": "2026-03-06T09:30:00Z",
		"end": "2026-03-06T10:30:00Z", "attendees": []string{
			"ann@example.net", "dan@example.net",
			"eve@example.net",
		},
	}, &lunch)
	proposes := func(guest, hour string) {
		t.Helper()
		text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nMETHOD:COUNTER\r\nBEGIN:VEVENT\r\nUID:" +
			lunch.UID + "\r\nDTSTAMP:20260305T" + hour + "0000Z\r\nDTSTART:20260306T" + hour +
			"0000Z\r\nORGANIZER:mailto:bob@example.com\r\nATTENDEE:mailto:" + guest +
			"@example.net\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
		err := h.service.Receive(t.Context(), calendar.Inbound{
			From: calendar.MailAddress(guest + "@example.net"), To: []calendar.MailAddress{"bob@example.com"},
			Method: calendar.MethodCounter, Data: []byte(text),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, guest := range []string{"ann", "dan", "eve"} {
		proposes(guest, "12")
	}
	all, err := h.service.ProposalsTo(t.Context(), h.callers["bob"], 10)
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	store.armed, store.meanwhile = true, func() { proposes("dan", "15") }
	if gone {
		store.meanwhile = func() {
			err := h.Store.Update(t.Context(), func(tx calendar.Tx) error {
				return tx.DropInboxItem(t.Context(), h.callers["bob"].User.ID, all[1].Name, 0)
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
	said := refusalOf(t, door, "bob", "respond_to_event", written(t, params{
		"calendar_id": bobs, "event_uid": lunch.UID,
		"answer": "decline",
	}))
	for _, want := range []string{why, "declined were the proposals of ann@example.net, eve@example.net"} {
		if !strings.Contains(said, want) {
			t.Errorf("there is no %q in %s", want, said)
		}
	}
	var bob struct{ Invitations []struct{ Proposed []string } }
	use(t, door, "bob", "list_invitations", params{}, &bob)
	switch {
	case gone && len(bob.Invitations) == 0:
	case !gone && len(bob.Invitations) == 1 && len(bob.Invitations[0].Proposed) == 1 &&
		strings.HasPrefix(bob.Invitations[0].Proposed[0], "dan@example.net: Friday 2026-03-06T15:00:00Z"):
	default:
		t.Errorf("bob sees %+v", bob)
	}
}

// written encodes the arguments of a call.
func written(t *testing.T, args params) string {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
