package calendar

import (
	"cmp"
	"strings"
	"time"
)

// User is an account: a person, a group or a bookable resource.
type User struct {
	ID   UserID
	Name string // login name, lower case
	// DisplayName is the name that others see; empty means Name.
	DisplayName string
	Email       string
	// Timezone is the user's own zone (IANA); empty means not set.
	Timezone string
	Created  time.Time
	// Admin is set when the user may manage other users.
	Admin bool
	// Disabled blocks access with any credential.
	Disabled bool
	// WeekStart is the first day of the user's week (mon, tue …). WorkingDays are the working days, separated by
	// spaces; WorkingHours is the working time (09:00-17:00). Each is empty if not set.
	WeekStart, WorkingDays, WorkingHours string
	// Group is set when the account is a group of users, for sharing calendars with all of them.
	Group bool
	// Quota is the user's quota.
	Quota Quota
	// Room is set when the account is a bookable resource.
	Room Room
}

// GetsIn reports whether the user may sign in: disabled users and rooms may not.
func (u User) GetsIn() bool { return !u.Disabled && !u.Room.Bookable() }

// Workweek returns the user's working hours and days, with common defaults if not set.
func (u User) Workweek() (hours string, days []string) {
	return cmp.Or(u.WorkingHours, "09:00-17:00"), strings.Fields(cmp.Or(u.WorkingDays, "mon tue wed thu fri"))
}

// FirstDay returns the first day of the user's week: Monday, as in ISO 8601, if not set.
func (u User) FirstDay() time.Weekday {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if u.WeekStart != "" && strings.HasPrefix(strings.ToLower(day.String()), u.WeekStart) {
			return day
		}
	}
	return time.Monday
}

// Title returns the display name.
func (u User) Title() string {
	if u.DisplayName != "" {
		return u.DisplayName
	}
	return u.Name
}
