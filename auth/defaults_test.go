package auth_test

import (
	"testing"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// TestDefaultsFill: new users get the defaults where they are given nothing else, and the store keeps them.
func TestDefaultsFill(t *testing.T) {
	each(t, func(h *house) {
		d := auth.Defaults{
			Timezone: "Europe/Berlin", Language: "de", WeekStart: "sun", Clock: "12", WeekNumbersOff: true,
			Reminder: calendar.NoReminder,
		}
		for name, test := range map[string]struct{ given, want auth.NewUser }{
			"nothing": {auth.NewUser{}, auth.NewUser{
				Timezone: "Europe/Berlin", Language: "de", WeekStart: "sun",
				View: calendar.ViewSettings{Clock: "12", WeekNumbersOff: true},
			}},
			"all": {
				auth.NewUser{
					Timezone: "Asia/Tokyo", Language: "fr", WeekStart: "tue", View: calendar.ViewSettings{Clock: "24"},
				},
				auth.NewUser{
					Timezone: "Asia/Tokyo", Language: "fr", WeekStart: "tue",
					View: calendar.ViewSettings{Clock: "24", WeekNumbersOff: true},
				},
			},
		} {
			test.given.Name, test.given.Invited = name, true
			if _, err := h.CreateUser(h.t.Context(), d.Fill(test.given)); err != nil {
				h.t.Fatal(err)
			}
			u, err := h.User(h.t.Context(), name)
			if err != nil {
				h.t.Fatal(err)
			}
			got := auth.NewUser{Timezone: u.Timezone, Language: u.Language, WeekStart: u.WeekStart, View: u.View}
			if got != test.want {
				h.t.Errorf("%s: %+v, want %+v", name, got, test.want)
			}
		}
	})
}
