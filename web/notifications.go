package web

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"caldav-mcp-server/calendar"
)

// Notifications are the users' choices of notifications without an app.
type Notifications interface {
	// Key is the server's key for push services; "" if browsers cannot be notified. Mails reports whether mail is sent.
	Key() string
	Mails() bool
	// Setting returns a user's settings, or proposals before the first choice. Want stores them.
	Setting(ctx context.Context, u calendar.User) (calendar.ReminderSettings, error)
	Want(ctx context.Context, u calendar.User, s calendar.ReminderSettings) error
	// Switches returns the calendars that a user switched on or off. Switch does so.
	Switches(ctx context.Context, u calendar.User) (map[calendar.CalendarID]bool, error)
	Switch(ctx context.Context, u calendar.User, on map[calendar.CalendarID]bool) error
	// Browsers returns a user's browsers. AddBrowser adds one until its session ends.
	Browsers(ctx context.Context, u calendar.User) ([]calendar.Browser, error)
	AddBrowser(ctx context.Context, u calendar.User, session, agent, endpoint, key, auth string) error
	RemoveBrowser(ctx context.Context, u calendar.User, id calendar.BrowserID) error
	TestBrowser(ctx context.Context, u calendar.User, id calendar.BrowserID) error
	// Snooze puts the reminder of an instance off, Dismiss ends it.
	Snooze(ctx context.Context, c calendar.Caller, of calendar.ReminderReference) error
	Dismiss(ctx context.Context, c calendar.Caller, of calendar.ReminderReference) error
}

// NotificationsPath is the page with these choices.
const NotificationsPath = root + notificationsPage

const notificationsPage = "notifications"

func (h *Handler) notificationPages() []page {
	if h.Notifications == nil {
		return nil
	}
	const back = notificationsPage
	return []page{
		get(back, people, notificationPages.choose),
		post(back, people, notificationPages.save),
		postBack(back+"/calendars", people, back, notificationPages.saveCalendars),
		postBack(back+"/browsers", people, back, notificationPages.addBrowser),
		postBack(back+"/browsers/test", people, back, notificationPages.testBrowser),
		postBack(back+"/browsers/remove", people, back, notificationPages.removeBrowser),
		postBack(back+"/snooze", people, back, notificationPages.snooze),
		postBack(back+"/dismiss", people, back, notificationPages.dismiss),
	}
}

// notificationsContent is the data of the page.
type notificationsContent struct {
	// Key is the key for push services; "" if browsers cannot be notified.
	Key      string
	Browsers []browserRow
	// Asked are the kinds of notifications with their channels, Before the default reminders.
	Asked     []channelRow
	Before    []choice
	Mails     bool
	MailTo    string
	CanMail   bool
	Calendars []choice
}

// browserRow is a browser in the list.
type browserRow struct {
	ID         calendar.BrowserID
	Name, Made string
	Here       bool
}

// channelRow is a kind of notifications and the ways to get them.
type channelRow struct {
	Name, Label string
	Ways        []choice
}

// notificationPages are the choices of notifications, and the buttons on one.
type notificationPages struct{ *pageRequest }

// befores are the default reminders to choose from, in minutes.
var befores = []int64{calendar.NoReminder, 0, 5, 10, 15, 30, 60, 24 * 60}

// before names a default reminder.
func (p notificationPages) before(minutes int64) string {
	switch minutes {
	case calendar.NoReminder:
		return p.lang.Text("notifications.before-none")
	case 0:
		return p.lang.Text("notifications.before-start")
	}
	return p.lang.Text("notifications.before-some", "duration", p.lang.Duration(time.Duration(minutes)*time.Minute))
}

func (p notificationPages) content(s calendar.ReminderSettings) (c notificationsContent, err error) {
	ctx, u, clock := p.r.Context(), p.user(), p.clock()
	c.Key, c.MailTo, c.Mails, c.CanMail = p.Notifications.Key(), u.Email, s.Mails, p.Notifications.Mails()
	for _, minutes := range befores {
		c.Before = append(c.Before, choice{strconv.FormatInt(minutes, 10), p.before(minutes), minutes == s.Before})
	}
	for _, row := range []struct {
		name, label string
		now         calendar.Channel
	}{
		{"alarms", "notifications.alarms", s.Alarms},
		{"invitations", "notifications.invitations", s.Invitations},
		{"shares", "notifications.shares", s.Shares},
		{"changes", "notifications.changes", s.Changes},
	} {
		one := channelRow{Name: row.name, Label: p.lang.Text(row.label)}
		for _, way := range []struct {
			channel calendar.Channel
			label   string
		}{
			{calendar.BrowserChannel, "notifications.by-browser"},
			{calendar.MailChannel, "notifications.by-mail"},
			{calendar.NoChannel, "notifications.not-at-all"},
		} {
			one.Ways = append(one.Ways, choice{string(way.channel), p.lang.Text(way.label), way.channel == row.now})
		}
		c.Asked = append(c.Asked, one)
	}
	all, err := p.Notifications.Browsers(ctx, u)
	if err != nil {
		return c, err
	}
	for _, b := range all {
		c.Browsers = append(c.Browsers, browserRow{
			b.ID, p.browserName(b.Agent), clock.date(b.Created), b.Session == string(p.session.ID),
		})
	}
	c.Calendars, err = p.calendars()
	return c, err
}

// calendars returns the calendars that can ring, with those ticked that do.
func (p notificationPages) calendars() ([]choice, error) {
	on, err := p.Notifications.Switches(p.r.Context(), p.user())
	if err != nil {
		return nil, err
	}
	all, err := p.Service.Calendars(p.r.Context(), p.caller())
	var list []choice
	for _, cal := range all {
		if cal.Access < calendar.ReadAccess {
			continue
		}
		is, said := on[cal.ID]
		if !said {
			is = cal.Access == calendar.OwnerAccess && !cal.Followed() && (!cal.Origin.Mirrors() || cal.Origin.Writable)
		}
		list = append(list, choice{string(cal.ID), calendarName(cal), is})
	}
	return list, err
}

func (p notificationPages) choose() error {
	s, err := p.Notifications.Setting(p.r.Context(), p.user())
	if err != nil {
		return err
	}
	return p.showChoices(s, nil)
}

// showChoices shows the page, with an error if there is one.
func (p notificationPages) showChoices(s calendar.ReminderSettings, wrong error) error {
	c, err := p.content(s)
	if err != nil {
		return err
	}
	if wrong != nil {
		return p.again(notificationsPage, c, wrong)
	}
	return p.show(notificationsPage, c)
}

func (p notificationPages) save() error {
	before, err := strconv.ParseInt(p.field("before"), 10, 64)
	if err != nil {
		before = calendar.NoReminder
	}
	s := calendar.ReminderSettings{
		Before: before, Mails: p.field("mails") != "",
		Alarms: calendar.Channel(p.field("alarms")), Invitations: calendar.Channel(p.field("invitations")),
		Shares: calendar.Channel(p.field("shares")), Changes: calendar.Channel(p.field("changes")),
	}
	if err := p.Notifications.Want(p.r.Context(), p.user(), s); err != nil {
		return p.showChoices(s, err)
	}
	return p.done(notificationsPage, "saved")
}

// saveCalendars switches the calendars of the form. A calendar that the form does not list stays as it is.
func (p notificationPages) saveCalendars() error {
	on := map[calendar.CalendarID]bool{}
	shown, err := p.calendars()
	if err != nil {
		return err
	}
	for _, listed := range p.r.PostForm["listed"] {
		for _, one := range shown {
			if one.Value == listed {
				on[calendar.CalendarID(listed)] = false
			}
		}
	}
	for _, ticked := range p.r.PostForm["calendar"] {
		if _, listed := on[calendar.CalendarID(ticked)]; listed {
			on[calendar.CalendarID(ticked)] = true
		}
	}
	return p.after(p.Notifications.Switch(p.r.Context(), p.user(), on), notificationsPage, "saved")
}

func (p notificationPages) addBrowser() error {
	if p.field("endpoint") == "" {
		return p.wrong("notifications.script-denied")
	}
	return p.after(p.Notifications.AddBrowser(p.r.Context(), p.user(), string(p.session.ID), p.r.UserAgent(),
		p.field("endpoint"), p.field("key"), p.field("auth")), notificationsPage, "browser-added")
}

func (p notificationPages) browserID() calendar.BrowserID { return calendar.BrowserID(p.field("id")) }

func (p notificationPages) testBrowser() error {
	return p.after(p.Notifications.TestBrowser(p.r.Context(), p.user(), p.browserID()), notificationsPage,
		"browser-tested")
}

func (p notificationPages) removeBrowser() error {
	return p.after(p.Notifications.RemoveBrowser(p.r.Context(), p.user(), p.browserID()), notificationsPage, "removed")
}

// about returns the instance that a button belongs to.
func (p notificationPages) about() calendar.ReminderReference {
	return calendar.ReminderReference{
		Calendar: calendar.CalendarID(p.field("calendar")), Object: calendar.ObjectName(p.field("object")),
		Instance: p.field("instance"),
	}
}

// settled answers the service worker.
func (p notificationPages) settled(err error) error {
	if err == nil {
		p.w.WriteHeader(http.StatusNoContent)
	}
	return err
}

func (p notificationPages) snooze() error {
	return p.settled(p.Notifications.Snooze(p.r.Context(), p.caller(), p.about()))
}

func (p notificationPages) dismiss() error {
	return p.settled(p.Notifications.Dismiss(p.r.Context(), p.caller(), p.about()))
}

// Digests sends daily mails to users who want them.
type Digests interface {
	// Setting returns a user's setting, Want stores it.
	Setting(ctx context.Context, u calendar.User) (calendar.Digest, error)
	Want(ctx context.Context, u calendar.User, d calendar.Digest) error
	// Open returns the recipient of a mail by its unsubscribe link, and Stop unsubscribes them; NotFound if the link is
	// invalid.
	Open(token string) (calendar.MailAddress, error)
	Stop(ctx context.Context, token string) (calendar.MailAddress, error)
}

// stopPath is the path of the unsubscribe links; StopPath is the same below the path of BASE_URL.
const (
	stopPath = "no-mail/"
	StopPath = root + stopPath
	// SettingsPath is the page with the digest's settings, JournalPath the page for undoing changes.
	SettingsPath = root + "settings"
	JournalPath  = root + "journal"
)

// digestPages are the settings and, for any reader of the mail, the unsubscribe page. Mail programs open links, so
// opening one changes nothing.
func (h *Handler) digestPages() []page {
	if h.Digests == nil {
		return nil
	}
	return []page{
		postBack("settings/digest", people, "settings", settingsPages.saveDigest),
		get(stopPath+"{token}", anybody, showing("nomail", unsubscribePages.stopForm)),
		post(stopPath+"{token}", anybody, showing("nomail", unsubscribePages.stopDigest)),
	}
}

// digestContent is the digest part of the settings page.
type digestContent struct {
	calendar.Digest
	Hours []choice
}

// usualHour is the default hour of the digest.
const usualHour = 18

// digestContent returns nil if the server sends no digests.
func (p settingsPages) digestContent(u calendar.User) (*digestContent, error) {
	if p.Digests == nil {
		return nil, nil // there is none
	}
	d, err := p.Digests.Setting(p.r.Context(), u)
	if !d.Wanted() {
		d.Hour = usualHour
	}
	content := &digestContent{Digest: d}
	for hour := range 24 {
		content.Hours = append(content.Hours, choice{strconv.Itoa(hour), fmt.Sprintf("%02d:00", hour), hour == d.Hour})
	}
	return content, err
}

func (p settingsPages) saveDigest() error {
	hour, err := strconv.Atoi(p.field("hour"))
	if err != nil {
		hour = -1
	}
	return p.settled(p.Digests.Want(p.r.Context(), p.user(), calendar.Digest{
		Hour: hour, Agenda: p.field("agenda") != "", Changes: p.field("changes") != "",
	}), "saved")
}

// stopContent is the data of the unsubscribe page.
type stopContent struct {
	Address calendar.MailAddress
	Done    bool
}

// unsubscribePages stop the daily mail, for any reader of it.
type unsubscribePages struct{ *pageRequest }

func (p unsubscribePages) stopForm() (stopContent, error) {
	address, err := p.Digests.Open(p.r.PathValue("token"))
	return stopContent{Address: address}, err
}

func (p unsubscribePages) stopDigest() (stopContent, error) {
	address, err := p.Digests.Stop(p.r.Context(), p.r.PathValue("token"))
	return stopContent{address, true}, err
}
