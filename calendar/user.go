package calendar

import (
	"cmp"
	"strings"
	"time"
)

// User is a person with an account.
type User struct {
	ID   UserID
	Name string // what they log in with, lower case
	// DisplayName is how others see them; empty means Name.
	DisplayName string
	Email       string
	// Timezone is the user's own zone (IANA); empty means not set.
	Timezone string
	Created  time.Time
	// Admin tells that the user may look after the others.
	Admin bool
	// Disabled tells that nobody gets in as this user, by whatever credential.
	Disabled bool
	// WeekStart is the day with which the user's weeks begin (mon, tue …), WorkingDays are those on which they work,
	// with blanks between, WorkingHours when (09:00-17:00). Each is empty if not set.
	WeekStart, WorkingDays, WorkingHours string
	// Group tells that it is no person but a name for some users, with whom calendars are shared by it.
	Group bool
	// Quota bounds what the user may have.
	Quota Quota
	// Room is what the user is who is no person.
	Room Room
}

// GetsIn reports whether the user may be let in at all: rooms never sign in.
func (u User) GetsIn() bool { return !u.Disabled && !u.Room.Bookable() }

// Workweek returns the user's working hours and days, as people usually have them where nothing is set.
func (u User) Workweek() (hours string, days []string) {
	return cmp.Or(u.WorkingHours, "09:00-17:00"), strings.Fields(cmp.Or(u.WorkingDays, "mon tue wed thu fri"))
}

// FirstDay returns the day with which the user's weeks begin: Monday, as ISO 8601 has it, where nothing is set.
func (u User) FirstDay() time.Weekday {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if u.WeekStart != "" && strings.HasPrefix(strings.ToLower(day.String()), u.WeekStart) {
			return day
		}
	}
	return time.Monday
}

// Title returns the name that people read.
func (u User) Title() string {
	if u.DisplayName != "" {
		return u.DisplayName
	}
	return u.Name
}
