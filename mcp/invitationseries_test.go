package mcp

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// TestAnswerToASeriesNamesTheDaysThatStay: a day that was answered by itself keeps that answer, and the result says so.
func TestAnswerToASeriesNamesTheDaysThatStay(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := newHouse(t, url)
		h.reachable(t, "alice", "bob")
		door := h.open(t, h.config())
		var made toldIn
		use(t, door, "bob", "create_event", params{
			"calendar_id": "00000000-0000-4000-8000-000000000004", "title": "Standup", "start": "2026-03-03T09:30:00Z",
			"rrule": "FREQ=DAILY;COUNT=5", "attendees": []string{"alice@example.com"},
		}, &made)
		var waiting invitationsOf
		use(t, door, "alice", "list_invitations", params{}, &waiting)
		var v struct {
			Answered string
			Kept     []keptAnswer `json:"kept_answers"`
			Hint     string       `json:"kept_hint"`
		}
		respond := func(said, scope, id string) string {
			v.Kept, v.Hint = nil, ""
			args := params{
				"calendar_id": waiting.Invitations[0].Calendar, "event_uid": made.UID, "answer": said,
				"scope": scope,
			}
			if id != "" {
				args["recurrence_id"] = id
			}
			return contentText(t, use(t, door, "alice", "respond_to_event", args, &v))
		}
		respond("accept", "this", "20260305T093000Z")
		if v.Kept != nil || v.Hint != "" {
			t.Errorf("an answer to one day: %+v", v)
		}
		text := respond("decline", "all", "")
		want := []keptAnswer{{"20260305T093000Z", "2026-03-05T10:30:00+01:00", "Thursday", "ACCEPTED"}}
		if diff := cmp.Diff(want, v.Kept); diff != "" || v.Answered != "DECLINED" ||
			!strings.Contains(v.Hint, "scope this") {
			t.Errorf("%+v (-want +got):\n%s", v, diff)
		}
		if !strings.Contains(text, "20260305T093000Z") || !strings.Contains(text, keptHint) {
			t.Errorf("the text does not say so: %s", text)
		}
		respond("decline", "this", "20260305T093000Z")
		respond("tentative", "all", "")
		if v.Kept != nil {
			t.Errorf("no day has another answer: %+v", v.Kept)
		}
	})
}

// TestEverybodyIsToldOnce: a series that is split sends its attendees two messages, and the result names each attendee
// once. The attendee list applies to instances with a response of their own.
func TestEverybodyIsToldOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t, testdb.SQLite(t))
	h.reachable(t, "alice", "bob")
	door := h.open(t, h.config())
	of := params{"calendar_id": "00000000-0000-4000-8000-000000000004"}
	with := func(more params) params {
		all := maps.Clone(of)
		maps.Copy(all, more)
		return all
	}
	var v toldIn
	use(t, door, "bob", "create_event", with(params{
		"title": "Standup", "start": "2026-03-03T09:30:00Z",
		"rrule": "FREQ=DAILY;COUNT=6", "attendees": []string{"alice@example.com", "Eve <eve@example.net>"},
	}), &v)
	of["event_uid"] = v.UID
	var waiting invitationsOf
	use(t, door, "alice", "list_invitations", params{}, &waiting)
	use(t, door, "alice", "respond_to_event", params{
		"calendar_id": waiting.Invitations[0].Calendar, "event_uid": v.UID,
		"answer": "decline", "scope": "this", "recurrence_id": "20260304T093000Z",
	}, new(any))
	for _, c := range []struct {
		more          params
		told, answers []string
	}{
		{
			params{"scope": "all", "attendees": []string{"alice@example.com", "eve@example.net", "zoe@example.net"}},
			[]string{"zoe@example.net (by mail, within a minute)"},
			[]string{
				"alice@example.com (DECLINED)",
				"Eve <eve@example.net> (NEEDS-ACTION)", "zoe@example.net (NEEDS-ACTION)",
			},
		},
		{
			params{"scope": "all", "remove_attendees": []string{"alice@example.com"}},
			[]string{"alice@example.com"},
			[]string{"Eve <eve@example.net> (NEEDS-ACTION)", "zoe@example.net (NEEDS-ACTION)"},
		},
		{
			params{"scope": "following", "recurrence_id": "20260306T093000Z", "title": "Talk"},
			[]string{"eve@example.net (by mail, within a minute)", "zoe@example.net (by mail, within a minute)"},
			[]string{"Eve <eve@example.net> (NEEDS-ACTION)", "zoe@example.net (NEEDS-ACTION)"},
		},
	} {
		v = toldIn{}
		use(t, door, "bob", "patch_event", with(c.more), &v)
		if diff := cmp.Diff(c.told, v.Told); diff != "" {
			t.Errorf("%v told (-want +got):\n%s", c.more, diff)
		}
		v = toldIn{}
		use(t, door, "bob", "get_event", with(params{"recurrence_id": "20260304T093000Z"}), &v)
		if diff := cmp.Diff(c.answers, v.Guest); diff != "" {
			t.Errorf("%v guests of the day (-want +got):\n%s", c.more, diff)
		}
	}
}

// TestToldOf: who got one of several messages was reached, even if another one had nothing to say any more.
func TestToldOf(t *testing.T) {
	t.Parallel()
	v := toldTo([]calendar.Told{
		{To: "a@example.com", Method: "CANCEL"},
		{To: "a@example.com", Method: "REQUEST", Status: "1.2"},
		{To: "b@example.com", Method: "CANCEL"},
		{To: "c@example.com", Method: "CANCEL", Status: "1.2"},
		{To: "c@example.com", Method: "REQUEST", Status: "5.1"},
		{To: "c@example.com", Method: "REQUEST", Status: "5.1"},
	})
	want := toldView{
		Told:      []shown{"a@example.com", "c@example.com"},
		Unreached: []shown{"b@example.com: sent nothing, since it is over", "c@example.com: it could not be delivered"},
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
