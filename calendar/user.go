package calendar

import (
	"cmp"
	"context"
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
	// View says how the user sees calendars.
	View ViewSettings
	// Language is the chosen language of pages and mails (BCP 47), "" for the browser's. BrowserLanguage is the
	// one that a browser of the user asked for last, for mails.
	Language, BrowserLanguage string
	// Group is set when the account is a group of users, for sharing calendars with all of them.
	Group bool
	// Quota is the user's quota.
	Quota Quota
	// Room is set when the account is a bookable resource.
	Room Room
}

// ViewSettings say how a user sees calendars.
type ViewSettings struct {
	// SecondZone is another time zone to show (IANA); empty for none.
	SecondZone string
	// Clock is "12" or "24", for times of day with or without am and pm; empty is as usual in the user's language.
	Clock string
	// The following hide the numbers of weeks, hide the difference between working hours and others, and switch
	// shortcuts of one key off (WCAG 2.1.4).
	WeekNumbersOff, WorkingHoursOff, ShortcutsOff bool
}

// GetsIn reports whether the user may sign in: disabled users and rooms may not.
func (u User) GetsIn() bool { return !u.Disabled && !u.Room.Bookable() }

// Workweek returns the user's working hours and days, with common defaults if not set.
func (u User) Workweek() (hours string, days []string) {
	return cmp.Or(u.WorkingHours, "09:00-17:00"), strings.Fields(cmp.Or(u.WorkingDays, "mon tue wed thu fri"))
}

// Languages returns the languages for mails to the user, best first. Some may be empty.
func (u User) Languages() []string { return []string{u.Language, u.BrowserLanguage} }

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

// Directory is the part of a Store that holds the users.
type Directory interface {
	// UserByName returns a user by login name, or NotFound.
	UserByName(ctx context.Context, name string) (User, error)
	// UserByID returns a user by ID, which never changes, or NotFound.
	UserByID(ctx context.Context, id UserID) (User, error)
	// Users returns all users, sorted by the bytes of their names.
	Users(ctx context.Context) ([]User, error)
	// Groups are users that only UserByID and the following methods return. GroupByName returns a group, or
	// NotFound; GroupsOf returns the groups of a user and Members the users of a group, both sorted by name.
	GroupByName(ctx context.Context, name string) (User, error)
	GroupsOf(ctx context.Context, user UserID) ([]User, error)
	Members(ctx context.Context, group UserID) ([]User, error)
	// Acquaintances returns the users who share a live calendar with a user, or are delegates of each other, in either
	// direction, sorted by name and calendar. Shares that are not answered yet count, declined ones do not.
	Acquaintances(ctx context.Context, user UserID) ([]Acquaintance, error)
}

// Acquaintance is a user on the other side of a share or a delegation.
type Acquaintance struct {
	User User
	// Calendar is the shared calendar, "" for a delegation.
	Calendar CalendarID
}

// Match is the way to compare a text with a user's details. It ignores case.
type Match uint8

// The ways to match.
const (
	Contains Match = iota
	StartsWith
	Equals
)

// Comparison reports whether a user's value matches the text.
type Comparison func(value, text string, how Match) bool

// Policy holds the administrator's settings that apply to all users. It may change at any time, for all processes.
type Policy struct {
	// OpenDirectory lets every user see and search all others. Otherwise users see only users who share a calendar
	// with them, and find others by their exact name or address.
	OpenDirectory bool
	// NeedAcceptance asks users before they get a calendar that another user shares. Otherwise they get it at once,
	// and may leave it.
	NeedAcceptance bool
	// Quota applies to users without a quota of their own.
	Quota Quota
}
