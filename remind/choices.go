package remind

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/alarm"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/locale"
)

// Limits of a user.
const (
	browsersMost = 20
	snoozesMost  = 100
	// snooze is how long a reminder is put off.
	snooze = 10 * time.Minute
)

// Choices are the users' choices of notifications, for the pages.
type Choices struct {
	*Ringer
	// PublicKey is the server's key for push services; "" if no browser can be notified. Parse checks a subscription.
	PublicKey string
	// Before returns the default reminder of users who have not chosen one; nil means none.
	Before func() int64
	Parse  func(endpoint, key, auth string) (calendar.Browser, error)
}

// Key returns the public key; "" if no browser can be notified.
func (c *Choices) Key() string { return c.PublicKey }

// Mails reports whether mail can be sent.
func (c *Choices) Mails() bool { return c.Mailed }

// Setting returns a user's settings. Before the first choice they are proposals.
func (c *Choices) Setting(ctx context.Context, u calendar.User) (calendar.ReminderSettings, error) {
	s, err := c.Store.ReminderSettings(ctx, u.ID)
	if s.Number == 0 {
		s = c.proposed(u.ID)
	}
	return s, err
}

// proposed are the settings of a user who adds a browser and chose nothing yet.
func (c *Choices) proposed(user calendar.UserID) calendar.ReminderSettings {
	channel := calendar.BrowserChannel
	if c.PublicKey == "" {
		channel = calendar.MailChannel
	}
	before := int64(calendar.NoReminder)
	if c.Before != nil {
		before = c.Before()
	}
	return calendar.ReminderSettings{
		User: user, Before: before, Alarms: channel, Invitations: channel, Shares: channel,
		Changes: calendar.NoChannel, Mails: c.Mailed,
	}
}

// Want stores a user's settings.
func (c *Choices) Want(ctx context.Context, u calendar.User, s calendar.ReminderSettings) error {
	for _, channel := range []calendar.Channel{s.Alarms, s.Invitations, s.Shares, s.Changes} {
		switch {
		case !slices.Contains([]calendar.Channel{
			calendar.NoChannel, calendar.BrowserChannel, calendar.MailChannel,
		}, channel):
			return calendar.Errorf(calendar.Invalid, "", "%q is no way of notification", string(channel))
		case channel == calendar.MailChannel && (!c.Mailed || u.Email == ""):
			return calendar.Errorf(calendar.Invalid, "", "there is no verified mail address to send notifications to")
		}
	}
	if s.Before != calendar.NoReminder && (s.Before < 0 || s.Before > calendar.LongestReminder) {
		return calendar.Errorf(calendar.Invalid, "", "a default reminder comes at most a week before the start")
	}
	s.User, s.Since = u.ID, c.Now()
	return c.Store.SetReminderSettings(ctx, s)
}

// Switches returns the calendars that a user switched on or off.
func (c *Choices) Switches(ctx context.Context, u calendar.User) (map[calendar.CalendarID]bool, error) {
	return c.Store.ReminderSwitches(ctx, u.ID)
}

// Switch switches calendars on or off.
func (c *Choices) Switch(ctx context.Context, u calendar.User, on map[calendar.CalendarID]bool) error {
	return c.Store.SetReminderSwitches(ctx, u.ID, on, c.Now())
}

// Browsers returns a user's browsers.
func (c *Choices) Browsers(ctx context.Context, u calendar.User) ([]calendar.Browser, error) {
	return c.Store.BrowsersOf(ctx, u.ID)
}

// AddBrowser adds a browser of a session. The first one turns notifications on.
func (c *Choices) AddBrowser(
	ctx context.Context, u calendar.User, session, agent, endpoint, key, auth string,
) error {
	b, err := c.Parse(endpoint, key, auth)
	if err != nil {
		return calendar.Errorf(calendar.Invalid, "", "the browser's subscription cannot be used: %v", err)
	}
	b.ID, b.User, b.Session, b.Agent, b.Created = calendar.BrowserID(c.NewID()), u.ID, session, agent, c.Now()
	if err := c.Store.AddBrowser(ctx, b, browsersMost); err != nil {
		return err
	}
	if s, err := c.Store.ReminderSettings(ctx, u.ID); err != nil || s.Number > 0 {
		return err
	}
	return c.Want(ctx, u, c.proposed(u.ID))
}

// RemoveBrowser removes a browser.
func (c *Choices) RemoveBrowser(ctx context.Context, u calendar.User, id calendar.BrowserID) error {
	return c.Store.RemoveBrowser(ctx, u.ID, id)
}

// TestBrowser sends a notification to a browser.
func (c *Choices) TestBrowser(ctx context.Context, u calendar.User, id calendar.BrowserID) error {
	l := locale.Match(u.Languages()...)
	n := note{
		Title: l.Text("remind.test-title"), Body: l.Text("remind.test"), URL: pagesPath,
		Tag: tag("test"), lasts: late,
	}
	return c.Store.PostToBrowser(ctx, u.ID, id, c.message(n, c.Now()))
}

// Snooze puts the reminder of an instance off.
func (c *Choices) Snooze(ctx context.Context, who calendar.Caller, of calendar.ReminderReference) error {
	if _, _, err := c.instance(ctx, who, of); err != nil {
		return err
	}
	one := snoozed(who.User.ID, of)
	one.At, one.Rung = c.Now().Add(snooze), c.Now()
	return c.Store.Snooze(ctx, one, snoozesMost)
}

// snoozed returns the stored form of a reminder that is put off.
func snoozed(user calendar.UserID, of calendar.ReminderReference) calendar.Reminder {
	return calendar.Reminder{User: user, Calendar: of.Calendar, Object: of.Object, Snoozed: of.Instance}
}

// instance returns the object of a reference, as its reader sees it.
func (c *Choices) instance(
	ctx context.Context, who calendar.Caller, of calendar.ReminderReference,
) (calendar.Calendar, calendar.Object, error) {
	if _, err := time.Parse(time.RFC3339, of.Instance); err != nil {
		return calendar.Calendar{}, calendar.Object{}, calendar.Errorf(calendar.Invalid, "",
			"%q is no time of an event", of.Instance)
	}
	cal, err := c.Service.Calendar(ctx, who, of.Calendar)
	if err != nil {
		return cal, calendar.Object{}, err
	}
	m := c.Service.Meter(ctx, who)
	defer m.Close()
	o, err := c.Service.Object(ctx, m, who, cal, of.Object)
	return cal, o, err
}

// Dismiss dismisses the reminders of an instance that have rung. Other programs learn of it from the event
// (RFC 9074 §6), if the user may write it.
func (c *Choices) Dismiss(ctx context.Context, who calendar.Caller, of calendar.ReminderReference) error {
	cal, o, err := c.instance(ctx, who, of)
	if err != nil {
		return err
	}
	if err := c.Store.Unsnooze(ctx, snoozed(who.User.ID, of)); err != nil {
		return err
	}
	if who.May(calendar.WriteObjects, cal) != nil || cal.Origin.Mirrors() && !cal.Origin.Writable {
		return nil
	}
	read, err := content.Read(o.Data, ical.Limits{})
	if err != nil {
		return nil // such an object does not ring
	}
	start, _ := time.Parse(time.RFC3339, of.Instance)
	q := alarm.Query{Clock: read.Clock(c.Zones, cal.Floating(c.Zones))}
	if !alarm.Dismiss(ctx, read, q, start, c.Now()) {
		return nil
	}
	m := c.Service.Meter(ctx, who)
	defer m.Close()
	_, err = c.Service.Put(ctx, who, cal, calendar.Draft{
		Name: o.Name, Data: read.Document.Bytes(), When: calendar.Precondition{Match: []calendar.ETag{o.ETag}},
		Telling: calendar.TellNobody, Edited: true, Meter: m,
	})
	if reason := calendar.ReasonOf(err); err != nil && (reason == calendar.Stale || reason == calendar.Forbidden) {
		return nil // the event has changed meanwhile, and rings as it is now
	}
	return err
}
