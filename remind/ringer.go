package remind

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/alarm"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
)

// Store keeps the state of this package.
type Store interface {
	calendar.Reminders
	calendar.Leases
	calendar.JournalReader
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
	Mails(ctx context.Context, user calendar.UserID) ([]string, error)
}

// Config holds the dependencies of a Ringer.
type Config struct {
	Store   Store
	Service *service.Service
	Zones   *zone.DB
	// Pages is the public address of the pages, with a slash at the end; "" if it is unknown.
	Pages string
	// Mailed is set if the server sends mail. Most limits a user's waiting mail.
	Mailed bool
	Most   calendar.OutboxLimits
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
	// Task traces each round that has work; nil turns that off.
	Task calendar.Task
}

// Limits and intervals.
const (
	// late is the longest delay of a reminder. An older one is silent.
	late = time.Hour
	// leaseName is the lease of the process that works, leaseTime is how long after its crash another takes over.
	leaseName = "reminders"
	leaseTime = 30 * time.Second
	// lookEvery is the polling interval, and so the longest delay of a reminder.
	lookEvery = 5 * time.Second
	// lagsMost limits the users whose plans a round follows, one calendar of each. pageMost limits a plan's objects.
	lagsMost, pageMost = 20, 100
	// stuckFor is the pause of a plan that failed.
	stuckFor = 10 * time.Minute
	// reportsMost limits the inboxes that a round reports.
	reportsMost = 100
	// dueEach limits the reminders of one user in a round.
	dueEach = 50
)

// Ringer plans and fires reminders. Several processes may have one: they take turns under a lease, and each reminder is
// claimed in the transaction that queues its notification.
type Ringer struct {
	Config
	holder string
	mine   bool
	// stuck has the plans that failed lately, and when to try them again. They do not stop the others.
	stuck map[stuckPlan]time.Time
}

type stuckPlan struct {
	user calendar.UserID
	cal  calendar.CalendarID
}

// New makes a Ringer.
func New(c Config) *Ringer {
	c.Task = c.Task.OrNone()
	return &Ringer{Config: c, holder: c.NewID(), stuck: map[stuckPlan]time.Time{}}
}

// Run works until the context ends. A round is followed by a pause of at least its own length.
func (r *Ringer) Run(ctx context.Context) {
	defer func() {
		if r.mine {
			_ = r.Store.Release(context.WithoutCancel(ctx), leaseName, r.holder)
		}
	}()
	next := time.NewTimer(calendar.UntilNext(r.Now(), lookEvery))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		began := r.Now()
		more, err := r.Round(ctx)
		if err != nil && ctx.Err() == nil {
			r.Logger.WarnContext(ctx, "some reminders wait", "error", err)
		}
		pause := calendar.UntilNext(r.Now(), lookEvery)
		if more && err == nil {
			pause = 0
		}
		next.Reset(max(pause, r.Now().Sub(began)))
	}
}

// Round does the work of one poll, unless another process has the lease. It reports whether more waits.
func (r *Ringer) Round(ctx context.Context) (more bool, err error) {
	now := r.Now()
	lags, err := r.lags(ctx)
	if err != nil {
		return false, err
	}
	reports, err := r.Store.ReportLags(ctx, reportsMost)
	if err != nil {
		return false, err
	}
	due, err := r.Store.DueReminders(ctx, now, dueEach)
	if err != nil || len(lags)+len(reports)+len(due) == 0 {
		return false, err
	}
	r.mine, err = r.Store.Lease(ctx, leaseName, r.holder, now, now.Add(leaseTime))
	if err != nil || !r.mine {
		return false, err
	}
	ctx, end := r.Task(ctx, "reminders")
	defer func() { end(err != nil) }()
	// A failure of one user does not stop the others.
	var failed []error
	for _, lag := range lags {
		err := r.follow(ctx, lag)
		if err != nil {
			r.stuck[stuckPlan{lag.User, lag.Calendar}] = now.Add(stuckFor)
		}
		failed = append(failed, err)
	}
	if len(lags) > 0 { // changed objects ring as they are now
		if due, err = r.Store.DueReminders(ctx, now, dueEach); err != nil {
			return false, err
		}
	}
	for len(due) > 0 {
		n := 1
		for n < len(due) && due[n].User == due[0].User {
			n++
		}
		failed = append(failed, r.fire(ctx, due[:n]))
		more = more || n == dueEach
		due = due[n:]
	}
	for _, s := range reports {
		failed = append(failed, r.report(ctx, s))
	}
	return more || len(lags) > 0 || len(reports) == reportsMost, errors.Join(failed...)
}

// lags returns plans with unread changes, one of each user, without those that failed lately.
func (r *Ringer) lags(ctx context.Context) ([]calendar.ReminderPlan, error) {
	now := r.Now()
	maps.DeleteFunc(r.stuck, func(_ stuckPlan, again time.Time) bool { return !now.Before(again) })
	all, err := r.Store.ReminderLags(ctx, lagsMost+len(r.stuck))
	seen := map[calendar.UserID]bool{}
	all = slices.DeleteFunc(all, func(p calendar.ReminderPlan) bool {
		_, is := r.stuck[stuckPlan{p.User, p.Calendar}]
		is = is || seen[p.User]
		seen[p.User] = seen[p.User] || !is
		return is
	})
	return all, err
}

// recipient is a user with their settings and addresses.
type recipient struct {
	calendar.ReminderSettings
	caller calendar.Caller
	mails  map[string]bool
	zone   *zone.Zone
	meter  *meter.Meter
}

// language returns the language of notifications.
func (r *recipient) language() *locale.Language { return locale.Match(r.caller.User.Languages()...) }

// recipient returns a user; nil if they are gone, or may not sign in.
func (r *Ringer) recipient(ctx context.Context, id calendar.UserID) (*recipient, error) {
	u, err := r.Store.UserByID(ctx, id)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound || err == nil && !u.GetsIn() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	settings, err := r.Store.ReminderSettings(ctx, id)
	if err != nil {
		return nil, err
	}
	mails, err := r.Store.Mails(ctx, id)
	if err != nil {
		return nil, err
	}
	who := &recipient{
		ReminderSettings: settings, mails: map[string]bool{},
		caller: calendar.Caller{User: u, Scopes: calendar.ScopeAll, Agent: "reminders"},
	}
	for _, mail := range mails {
		who.mails[mail] = true
	}
	if who.zone, err = r.Zones.Lookup(u.Timezone); err != nil || u.Timezone == "" {
		who.zone = nil
	}
	who.meter = r.Service.Meter(ctx, who.caller)
	return who, nil
}

// calendar returns a calendar that a user reads; false if they do not.
func (r *Ringer) calendar(
	ctx context.Context, who *recipient, id calendar.CalendarID,
) (cal calendar.Calendar, ok bool, err error) {
	cal, err = r.Service.Calendar(ctx, who.caller, id)
	if err == nil {
		err = who.caller.May(calendar.ReadObjects, cal)
	}
	switch reason := calendar.ReasonOf(err); {
	case err == nil && cal.Followed():
		return cal.Filled(), true, nil
	case err == nil:
		return cal, true, nil
	case reason == calendar.NotFound, reason == calendar.Forbidden:
		return cal, false, nil
	}
	return cal, false, err
}

// clock returns the zone of a user's dates and floating times.
func (r *Ringer) clock(who *recipient, cal calendar.Calendar) *zone.Zone {
	if who.zone != nil {
		return who.zone
	}
	return cal.Floating(r.Zones)
}

// query returns the query of a user's reminders.
func (r *Ringer) query(who *recipient, cal calendar.Calendar) alarm.Query {
	q := alarm.Query{Mine: func(address string) bool {
		a := scheduleAddress(address)
		return a.Mail() != "" && (who.mails[a.Mail()] || cal.Owner == who.User && cal.Origin.Owns(a.Mail())) ||
			r.Service.Principal(a) == who.caller.User.Name
	}}
	if who.Before != calendar.NoReminder {
		before := time.Duration(who.Before) * time.Minute
		q.Default = &before
	}
	return q
}

// in returns the query for an object.
func (r *Ringer) in(q alarm.Query, who *recipient, cal calendar.Calendar, o *content.Object) alarm.Query {
	q.Clock = o.Clock(r.Zones, r.clock(who, cal))
	return q
}
