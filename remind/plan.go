package remind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/alarm"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/ical"
)

// follow plans the next page of a calendar's changes for a user, and reports other users' changes.
func (r *Ringer) follow(ctx context.Context, lag calendar.ReminderPlan) error {
	who, err := r.recipient(ctx, lag.User)
	if who == nil || err != nil {
		return cmp.Or(err, errWaits)
	}
	defer who.meter.Close()
	cal, ok, err := r.calendar(ctx, who, lag.Calendar)
	if !ok || err != nil {
		return cmp.Or(err, errWaits)
	}
	since, err := calendar.ParseSyncToken(lag.Token)
	if err != nil || lag.Number != who.Number || cal.History().Check(since) != nil {
		since = calendar.SyncToken{}
	}
	p := planning{Ringer: r, who: who, cal: cal, lag: lag, next: lag, since: since}
	if who.Alarms != calendar.NoChannel || who.Mails {
		if err := p.page(ctx); err != nil {
			return fmt.Errorf("planning the calendar %s: %w", cal.ID, err)
		}
	} else {
		p.reach(cal.SyncToken())
	}
	out, err := p.others(ctx)
	if err != nil {
		return fmt.Errorf("reading the changes of the calendar %s: %w", cal.ID, err)
	}
	p.next.Reported, p.next.Number, p.next.Epoch = cal.Version, who.Number, cal.Epoch
	return r.withoutMail(out, func(out calendar.Alerts) error {
		return r.Store.SavePlan(ctx, lag, p.next, p.all, out, r.Now().Add(-2*late))
	})
}

// errWaits is the error of a plan whose user or calendar is gone since the poll.
var errWaits = errors.New("its user or calendar is gone")

// withoutMail repeats an attempt without mail if the user's outbox is full.
func (r *Ringer) withoutMail(out calendar.Alerts, do func(calendar.Alerts) error) error {
	err := do(out)
	if err != nil && len(out.Letters) > 0 && calendar.ReasonOf(err) == calendar.TooLarge {
		out.Letters = nil
		err = do(out)
	}
	return err
}

// planning is the planning of one page.
type planning struct {
	*Ringer
	who       *recipient
	cal       calendar.Calendar
	lag, next calendar.ReminderPlan
	since     calendar.SyncToken
	all       []calendar.Reminder
}

func (p *planning) reach(t calendar.SyncToken) {
	p.next.Version, p.next.Own, p.next.Token = t.Version, t.Own, t.String()
}

// page plans the next changed objects.
func (p *planning) page(ctx context.Context) error {
	changed := map[calendar.ObjectName]calendar.Object{}
	var names, live []calendar.ObjectName
	var last calendar.Object
	more := false
	for o, err := range p.Service.Changes(ctx, p.who.meter, p.who.caller, p.cal, p.since) {
		if err != nil {
			return err
		}
		if more = len(names) == pageMost; more {
			break
		}
		last, changed[o.Name] = o, o
		names = append(names, o.Name)
		if !o.Deleted {
			live = append(live, o.Name)
		}
	}
	if next := p.cal.SyncToken(); more {
		next = p.since.After(last.Version, true, next)
		if last.Own > 0 {
			next.Own = last.Own
		}
		p.reach(next)
	} else {
		p.reach(next)
	}
	held, err := p.Store.PlannedReminders(ctx, p.lag.User, p.cal.ID, names)
	if err != nil {
		return err
	}
	known := make(map[calendar.ObjectName]calendar.Reminder, len(held))
	for _, h := range held {
		known[h.Object] = h
	}
	planned := map[calendar.ObjectName]bool{}
	if len(live) > 0 {
		for o, err := range p.Service.Objects(ctx, p.who.meter, p.who.caller, p.cal,
			calendar.ObjectQuery{Names: live, WithData: true}) {
			if err != nil && o.Name == "" {
				return err
			}
			if err == nil {
				o.Own = changed[o.Name].Own
				p.object(ctx, o, known[o.Name])
				planned[o.Name] = true
			}
		}
	}
	for _, name := range names {
		if h, ok := known[name]; ok && !planned[name] {
			h.At = time.Time{}
			p.all = append(p.all, h)
		}
	}
	return nil
}

// object plans the next reminder of an object.
func (p *planning) object(ctx context.Context, o calendar.Object, known calendar.Reminder) {
	next := calendar.Reminder{User: p.lag.User, Calendar: p.cal.ID, Object: o.Name, Rung: known.Rung}
	q := p.query(p.who, p.cal)
	if read, ok := p.read(o, q); ok {
		next.At = alarm.Next(ctx, read, p.in(q, p.who, p.cal, read), p.from(o, known))
	}
	if !next.At.IsZero() || known.Object != "" {
		p.all = append(p.all, next)
	}
}

// read parses an object if it can ring.
func (p *planning) read(o calendar.Object, q alarm.Query) (*content.Object, bool) {
	if o.Kind != calendar.Event && o.Kind != calendar.Todo || alarm.Silent(o.Data, q) {
		return nil, false
	}
	if lookup.Weigh(p.who.meter, o) != nil {
		return nil, false
	}
	defer p.who.meter.Free(lookup.ReadFactor * int64(len(o.Data)))
	read, err := content.Read(o.Data, ical.Limits{})
	return read, err == nil
}

// from returns the start of the time when reminders of a changed object ring. A planned reminder that has not rung yet
// still rings, in its present state, and none rings twice. Reminders that were due before the object was written, or
// before the user switched them on, stay silent.
func (p *planning) from(o calendar.Object, known calendar.Reminder) time.Time {
	now := p.Now()
	from := o.Modified
	if o.Own > 0 && p.since.Version > 0 {
		from = later(from, now.Add(-time.Minute)) // the time of the change of a sharee's own part is not known
	}
	if !known.At.IsZero() && !known.At.After(from) {
		from = known.At.Add(-time.Second)
	}
	for _, bound := range []time.Time{known.Rung, p.who.Since, p.lag.Since, now.Add(-late)} {
		from = later(from, bound)
	}
	return from
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// othersMost limits the changes of one report.
const othersMost = 100

// others returns the report of changes that other users made since the last one.
func (p *planning) others(ctx context.Context) (calendar.Alerts, error) {
	if p.who.Changes == calendar.NoChannel || p.lag.Reported < 0 || p.cal.Version <= p.lag.Reported {
		return calendar.Alerts{}, nil
	}
	var all []calendar.Change
	for c, err := range p.Store.Journal(ctx, p.cal.ID, calendar.JournalQuery{
		From: p.lag.Reported + 1, Until: p.cal.Version,
	}) {
		if err != nil {
			return calendar.Alerts{}, err
		}
		if c.Subject() != calendar.AboutObject || c.User == p.who.User || c.Scheduled {
			continue
		}
		if all = append(all, c); len(all) == othersMost {
			break
		}
	}
	if len(all) == 0 {
		return calendar.Alerts{}, nil
	}
	return p.alerts(p.who, p.who.Changes, changesNote(p.who.language(), p.cal, all)), nil
}
