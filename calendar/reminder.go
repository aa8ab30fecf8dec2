package calendar

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Channel is a way to notify a user without an app.
type Channel string

// The channels.
const (
	NoChannel      Channel = "none"
	BrowserChannel Channel = "browser"
	MailChannel    Channel = "mail"
)

const (
	// NoReminder is the value of [ReminderSettings.Before] for no default reminder.
	NoReminder = -1
	// LongestReminder is the longest default reminder, in minutes.
	LongestReminder = 7 * 24 * 60
)

// ReminderSettings are a user's choices of notifications. A user who never made any gets none.
type ReminderSettings struct {
	User UserID
	// Before is the default reminder of timed events without reminders, in minutes before the start.
	Before int64
	// Alarms is the channel for reminders, Invitations for invitations, cancellations and suggestions of assistants,
	// Shares for new shares, and Changes for other users' changes.
	Alarms, Invitations, Shares, Changes Channel
	// Mails is set if reminders that ask for a mail (ACTION:EMAIL) are mailed.
	Mails bool
	// Number counts the changes of the settings; 0 means that there are none. Since is the time of the last change.
	Number int64
	Since  time.Time
	// Zone is the user's time zone when the settings were stored. After a move, all is planned again.
	Zone string
	// Inbox and Notices are the versions of the user's inbox and notices that were reported.
	Inbox, Notices Version
}

// Plans reports whether the calendars of the user must be followed.
func (s ReminderSettings) Plans() bool {
	return s.Alarms != NoChannel || s.Mails || s.Changes != NoChannel
}

// ReminderPlan is how far a user's reminders of a calendar are planned.
type ReminderPlan struct {
	User     UserID
	Calendar CalendarID
	// Number is the number of the settings that the plan follows.
	Number int64
	// Since is when the user switched the calendar on; zero if they never did.
	Since time.Time
	// Version, Own and Epoch are the planned state, Token is its sync token; "" if nothing is planned yet.
	Version, Own Version
	Epoch        Epoch
	Token        string
	// Reported is the last version whose changes by others were reported; -1 for none.
	Reported Version
}

// Reminder is the next reminder of an object for a user, or one that they put off.
type Reminder struct {
	User     UserID
	Calendar CalendarID
	Object   ObjectName
	// Snoozed is the original start of the instance that was put off; "" for the next reminder of the object.
	Snoozed string
	// At is when it is due; zero for never. Rung is the last time that rang; zero if none did.
	At, Rung time.Time
}

// ReminderReference names the instance that a notification is about.
type ReminderReference struct {
	Calendar CalendarID `json:"calendar"`
	Object   ObjectName `json:"object"`
	// Instance is the original start of the instance (RFC 3339); "" if it has no time.
	Instance string `json:"instance"`
}

// BrowserID identifies a browser that gets notifications.
type BrowserID string

// Browser is a browser that gets notifications by Web Push, until its session ends.
type Browser struct {
	ID      BrowserID
	User    UserID
	Session string
	// Agent is the browser's User-Agent.
	Agent   string
	Created time.Time
	// Endpoint is the push service's URL, Key and Auth encrypt the messages.
	Endpoint  string
	Key, Auth []byte
}

// BrowserMessageID identifies a notification to one browser.
type BrowserMessageID string

// BrowserMessage is a notification that waits to be sent.
type BrowserMessage struct {
	// ID is the id without the browser's, which the store appends for each of them.
	ID           BrowserMessageID
	Due, Expires time.Time
	Tries        int64
	Body         []byte
}

// BrowserDue is a notification that is due, with its browser.
type BrowserDue struct {
	BrowserMessage
	To Browser
}

// Alerts are notifications of one user.
type Alerts struct {
	// Messages go to each of the user's browsers, Letters to their mail address.
	Messages []BrowserMessage
	Letters  []Letter
	// Most limits the user's waiting letters.
	Most OutboxLimits
}

// Reported is the state of a user's inbox, notices and suggestions that a report covers.
type Reported struct {
	Inbox, Notices Version
	Suggestions    []SuggestionID
}

// FiredReminder is a reminder that rang, and the state that follows it.
type FiredReminder struct{ Before, After Reminder }

// Reminders is the part of a Store that holds reminders and the browsers that show them.
type Reminders interface {
	// ReminderSettings returns a user's settings; with Number 0 if there are none.
	ReminderSettings(ctx context.Context, user UserID) (ReminderSettings, error)
	// SetReminderSettings stores the choices of a user and increments Number. The first ones report only messages and
	// notices that come later.
	SetReminderSettings(ctx context.Context, s ReminderSettings) error
	// ReminderSwitches returns the calendars that a user switched on or off.
	ReminderSwitches(ctx context.Context, user UserID) (map[CalendarID]bool, error)
	// SetReminderSwitches switches calendars on or off for a user. A calendar that is switched on is planned from now
	// on, one that is switched off loses its reminders.
	SetReminderSwitches(ctx context.Context, user UserID, on map[CalendarID]bool, now time.Time) error

	// ReminderLags returns plans of active users that lag behind their calendars, one of each user before a second of
	// any user.
	ReminderLags(ctx context.Context, most int) ([]ReminderPlan, error)
	// PlannedReminders returns the next reminders of some objects of a calendar.
	PlannedReminders(ctx context.Context, user UserID, cal CalendarID, names []ObjectName) ([]Reminder, error)
	// SavePlan stores the progress of a plan with its reminders, and queues a report of other users' changes. It does
	// nothing if another process was first. Reminders that never ring again are deleted if they rang before
	// old.
	SavePlan(ctx context.Context, before, after ReminderPlan, all []Reminder, out Alerts, old time.Time) error
	// DueReminders returns reminders that are due, at most each of every user, by user and time.
	DueReminders(ctx context.Context, now time.Time, each int) ([]Reminder, error)
	// FireReminders stores the state after reminders of one user, and queues the notifications. It reports false, and
	// does nothing, if another process fired one of them.
	FireReminders(ctx context.Context, user UserID, fired []FiredReminder, out Alerts, old time.Time) (bool, error)
	// Snooze stores a reminder that was put off, in place of an earlier one of the instance; TooLarge if the user has
	// most of them. Unsnooze deletes it.
	Snooze(ctx context.Context, r Reminder, most int) error
	Unsnooze(ctx context.Context, r Reminder) error

	// ReportLags returns the settings of active users whose inbox or notices have changed since they were reported, who
	// were not told of a suggestion, or who have moved to another zone.
	ReportLags(ctx context.Context, most int) ([]ReminderSettings, error)
	// Report marks an inbox, notices and suggestions as reported, and queues the notifications. It does nothing if
	// another process was first.
	Report(ctx context.Context, s ReminderSettings, n Reported, out Alerts) error

	BrowserKeeper
}

// BrowserKeeper is the part of a Store that holds browsers and their notifications.
type BrowserKeeper interface {
	// AddBrowser adds a browser, in place of one with the same endpoint. TooLarge if the user would have more than
	// most.
	AddBrowser(ctx context.Context, b Browser, most int) error
	// BrowsersOf returns a user's browsers, oldest first.
	BrowsersOf(ctx context.Context, user UserID) ([]Browser, error)
	// RemoveBrowser deletes a user's browser, or returns NotFound.
	RemoveBrowser(ctx context.Context, user UserID, id BrowserID) error
	// PostToBrowser queues a notification to one browser of a user, or returns NotFound.
	PostToBrowser(ctx context.Context, user UserID, id BrowserID, m BrowserMessage) error
	// DueBrowserMessages returns notifications that are due: per user earliest first, and one of each user before a
	// second of any user.
	DueBrowserMessages(ctx context.Context, now time.Time, most int) ([]BrowserDue, error)
	// SettleBrowserMessage stores the next time and the tries of a notification. It is deleted if it would come after
	// it expires.
	SettleBrowserMessage(ctx context.Context, m BrowserMessage) error
	// EndBrowser deletes a browser whose subscription has ended.
	EndBrowser(ctx context.Context, id BrowserID) error
}

// MethodAlert is not an iTIP method: the letter is a notification to a user of the server. Its Data is an encoded
// AlertMail.
const MethodAlert = "ALERT"

// AlertMail is a notification as a mail.
type AlertMail struct {
	Subject, Text string
	// Until is when it is no longer worth sending; zero for never.
	Until time.Time
}

// Encode returns the mail for [Letter.Data].
func (m AlertMail) Encode() []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("encoding a notification: %v", err)) // texts and a time: JSON can encode all of them
	}
	return data
}

// AlertMailOf decodes the Data of a letter.
func AlertMailOf(data []byte) (m AlertMail, err error) {
	err = json.Unmarshal(data, &m)
	return m, err
}
