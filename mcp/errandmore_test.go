package mcp

import "testing"

// moreErrands are twenty further things that users ask assistants for.
func moreErrands() []errand {
	return []errand{
		{
			name: "book a room", with: (*house).greenRoom,
			calls: `{"name":"list_people","arguments":{"rooms":true,"query":"green"}}
				{"name":"create_event","arguments":{"calendar_id":"WORK","title":"Retreat","start":"2026-03-03T13:00",
				"attendees":["$1.people[0].email"]}}`,
			says: []string{"green@example.com", "ACCEPTED", "Tuesday"}, about: "retreat",
			takesPlace: []string{"2026-03-03 13:00-14:00"},
		},
		{
			name: "hear that a room is taken", with: (*house).greenRoom,
			calls: `{"name":"list_people","arguments":{"rooms":true}}
				{"name":"create_event","arguments":{"calendar_id":"WORK","title":"Workshop","start":"2026-03-03T10:30",
				"attendees":["$1.people[0].email"]}}`,
			says: []string{"declined", "taken Tue 2026-03-03, 10:00–11:00"},
		},
		{
			name: "who is busy on Monday",
			calls: `{"name":"get_free_busy","arguments":{"usernames":["bob","carol"],"start_time":"2026-03-02",
				"end_time":"2026-03-02"}}`,
			says: []string{"bob", "carol", "Mon", "09:00", "17:00"},
		},
		{
			name: "a time with room to breathe",
			calls: `{"name":"find_time","arguments":{"duration_minutes":60,"date_range":"2026-03-03",
				"buffer_minutes":30,				"working_hours":"10:00-17:00","limit":1}}`,
			says: []string{"13:00", "14:00", "Tue"},
		},
		{
			name: "a time when most can come",
			calls: `{"name":"find_time","arguments":{"duration_minutes":60,"date_range":"2026-03-02","usernames":["bob",
				"carol"],"working_hours":"12:00-16:00","limit":1}}`,
			says: []string{"busy", "bob"},
		},
		{
			name:  "how long were the standups",
			calls: `{"name":"sum_hours","arguments":{"date_range":"2026-02-23 to 2026-02-27","words":["standup"]}}`,
			says:  []string{"1 h 15 min", "Work"},
		},
		{
			name: "call it off, and say why",
			there: map[string][]string{"lunch": {
				"DTSTART;" + berlin + "20260306T120000", "DURATION:PT1H", "SUMMARY:Lunch",
				"ORGANIZER:mailto:alice@example.com", "ATTENDEE:mailto:alice@example.com",
				"ATTENDEE;PARTSTAT=ACCEPTED:mailto:eve@example.net",
			}},
			calls: `{"name":"search_events","arguments":{"query":"lunch"}}
				{"name":"patch_event","arguments":{"calendar_id":"$1.events[0].calendar_id",
				"event_uid":"$1.events[0].event_uid","location":"Lido"}}
				{"name":"delete_event","arguments":{"calendar_id":"$1.events[0].calendar_id",
				"event_uid":"$1.events[0].event_uid","comment":"The cook is ill"}}`,
			says: []string{"Lunch", "eve@example.net", "true"},
		},
		{
			name: "what was done since noon",
			calls: `{"name":"create_event","arguments":{"calendar_id":"HOME","title":"Brunch",
				"start":"2026-03-07T11:00"}}
				{"name":"list_changes","arguments":{"since":"noon"}}`,
			says: []string{"Brunch", "created"},
		},
		{
			name:  "what was done since Wednesday",
			calls: `{"name":"list_changes","arguments":{"since":"wednesday"}}`,
			says:  []string{"Phone", "Budget meeting"},
		},
		{
			name: "which reminders are set",
			calls: `{"name":"list_events","arguments":{"date_range":"2026-03-03","keyword":"interview",
				"detail":"full"}}`,
			says: []string{"Interview", "5"},
		},
		{
			name:  "which tasks are due by Friday",
			calls: `{"name":"list_tasks","arguments":{"due_before":"2026-03-07"}}`,
			says:  []string{"Tax return", "Fri"},
		},
		{
			name: "that is done",
			calls: `{"name":"list_tasks","arguments":{"query":"tax"}}
				{"name":"update_task","arguments":{"calendar_id":"$1.tasks[0].calendar_id","task_uid":"$1.tasks[0].uid",
				"completed":true}}`,
			says: []string{"Tax return", "COMPLETED"},
		},
		{
			name: "how to join the call",
			there: map[string][]string{"call2": {
				"DTSTART;" + berlin + "20260303T160000", "DURATION:PT1H", "SUMMARY:Remote",
				"DESCRIPTION:Join at https://meet.google.com/abc-defg-hij",
			}},
			calls: `{"name":"list_events","arguments":{"date_range":"2026-03-03","keyword":"remote"}}`,
			says:  []string{"https://meet.google.com/abc-defg-hij"},
		},
		{
			name: "let somebody see a calendar",
			calls: `{"name":"list_calendars","arguments":{}}
				{"name":"share_calendar","arguments":{"calendar_id":"$1.calendars[name=Home].id","username":"bob",
				"permission":"read"}}`,
			says: []string{"bob", "read"},
		},
		{
			name: "a calendar for one project",
			calls: `{"name":"create_calendar","arguments":{"name":"Zebra","color":"#107C41"}}
				{"name":"create_event","arguments":{"calendar_id":"$1.id","title":"Kickoff",
				"start":"2026-03-04T15:00"}}`,
			says: []string{"Kickoff", "Wednesday"}, about: "kickoff", takesPlace: []string{"2026-03-04 15:00-16:00"},
		},
		{
			name: "move an event into another calendar", about: "customer",
			takesPlace: []string{"2026-03-03 11:00-12:00"},
			calls: `{"name":"search_events","arguments":{"query":"customer"}}
				{"name":"move_event","arguments":{"calendar_id":"$1.events[0].calendar_id",
				"event_uid":"$1.events[0].event_uid","to_calendar_id":"HOME"}}`,
			says: []string{"Customer call", string(home)},
		},
		{
			name:  "what do others share",
			calls: `{"name":"list_calendars","arguments":{}}`,
			says:  []string{"Carol's", "carol", "read", "free-busy"},
		},
		{
			name: "somebody who need not come",
			calls: `{"name":"create_event","arguments":{"calendar_id":"WORK","title":"Demo","start":"2026-03-05T10:00",
				"attendees":["Zoë <zoe@example.com>","Eve <eve@example.net> (optional)"]}}`,
			says: []string{"Eve <eve@example.net> (optional", "zoe@example.com", "told"},
		},
		{
			name: "stop a series", about: "weekly",
			there: map[string][]string{"w": {
				"DTSTART;" + berlin + "20260302T170000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=9", "SUMMARY:Weekly",
			}},
			calls: `{"name":"list_events","arguments":{"date_range":"2026-03-16","keyword":"weekly"}}
				{"name":"delete_event","arguments":{"calendar_id":"$1.events[0].calendar_id",
				"event_uid":"$1.events[0].event_uid","recurrence_id":"$1.events[0].recurrence_id",
				"scope":"following"}}`,
			says:       []string{"Weekly", "Monday"},
			takesPlace: []string{"2026-03-02 17:00-18:00", "2026-03-09 17:00-18:00"},
		},
		{
			name:  "a word that is spelt wrong",
			calls: `{"name":"search_events","arguments":{"query":"dentits"}}`,
			says:  []string{"did", "dentist", "Wed"},
		},
	}
}

// TestMoreErrands does twenty further things like TestErrands.
func TestMoreErrands(t *testing.T) {
	t.Parallel()
	all := moreErrands()
	if len(all) != 20 {
		t.Errorf("%d errands", len(all))
	}
	for _, e := range all {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			e.runAll(t)
		})
	}
}
