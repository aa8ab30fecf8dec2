package remind

import (
	"context"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/alarm"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/ical"
)

// due is a reminder that rings.
type due struct {
	alarm.Ring
	cal    calendar.Calendar
	object calendar.ObjectName
	place  string
	title  string
}

// firing are the due reminders of one user.
type firing struct {
	*Ringer
	who       *recipient
	calendars map[calendar.CalendarID]calendar.Calendar
	rings     []due
	fired     []calendar.FiredReminder
}

// fire rings due reminders of one user, as their objects are now, and plans the next ones.
func (r *Ringer) fire(ctx context.Context, all []calendar.Reminder) error {
	who, err := r.recipient(ctx, all[0].User)
	if err != nil {
		return err
	}
	f := firing{Ringer: r, who: who, calendars: map[calendar.CalendarID]calendar.Calendar{}}
	if who != nil {
		defer who.meter.Close()
	}
	for _, one := range all {
		after := r.later(one)
		if who != nil {
			if after, err = f.one(ctx, one); err != nil {
				return fmt.Errorf("a reminder of the calendar %s: %w", one.Calendar, err)
			}
		}
		f.fired = append(f.fired, calendar.FiredReminder{Before: one, After: after})
	}
	return r.withoutMail(f.out(), func(out calendar.Alerts) error {
		_, err := r.Store.FireReminders(ctx, all[0].User, f.fired, out, r.Now().Add(-2*late))
		return err
	})
}

// again is when to look again at a reminder that the user cannot read now: a share may return, and a user.
const again = time.Hour

func (r *Ringer) later(one calendar.Reminder) calendar.Reminder {
	one.At = r.Now().Add(again)
	return one
}

// one rings a reminder and returns the state after it. A reminder of an object that is gone ends.
func (f *firing) one(ctx context.Context, one calendar.Reminder) (calendar.Reminder, error) {
	after := one
	after.At, after.Rung = time.Time{}, time.Time{}
	cal, ok := f.calendars[one.Calendar]
	if !ok {
		var err error
		if cal, ok, err = f.calendar(ctx, f.who, one.Calendar); !ok || err != nil {
			return f.later(one), err
		}
		f.calendars[one.Calendar] = cal
	}
	held := f.who.meter.Held()
	defer func() { f.who.meter.Free(f.who.meter.Held() - held) }()
	o, err := f.Service.Object(ctx, f.who.meter, f.who.caller, cal, one.Object)
	if err != nil {
		if calendar.ReasonOf(err) == calendar.NotFound {
			return after, nil
		}
		f.Logger.WarnContext(ctx, "a reminder waits", "calendar", cal.ID, "error", err)
		return f.later(one), nil
	}
	if lookup.Weigh(f.who.meter, o) != nil {
		return f.later(one), nil
	}
	read, err := content.Read(o.Data, ical.Limits{})
	if err != nil {
		return after, nil // an object that cannot be read does not ring
	}
	now, q := f.Now(), f.in(f.query(f.who, cal), f.who, cal, read)
	if one.Snoozed != "" {
		f.snoozed(ctx, one, cal, read, q)
		return after, nil
	}
	after.At, after.Rung = alarm.Next(ctx, read, q, now), now
	for _, ring := range alarm.Within(ctx, read, q, later(one.At.Add(-time.Second), now.Add(-late)), now) {
		f.ring(due{Ring: ring, cal: cal, object: one.Object})
	}
	return after, nil
}

// snoozed rings a reminder that the user put off, unless it was dismissed since.
func (f *firing) snoozed(
	ctx context.Context, one calendar.Reminder, cal calendar.Calendar, read *content.Object, q alarm.Query,
) {
	start, err := time.Parse(time.RFC3339, one.Snoozed)
	if err != nil || f.Now().Sub(one.At) > late {
		return
	}
	if i, ok := alarm.Unseen(ctx, read, q, start, one.Rung); ok {
		f.ring(due{Ring: alarm.Ring{At: one.At, Instance: i}, cal: cal, object: one.Object})
	}
}

// ring adds a ring, unless the instance rings already.
func (f *firing) ring(d due) {
	for _, other := range f.rings {
		if other.object == d.object && other.cal.ID == d.cal.ID && other.Mail == d.Mail &&
			other.Start.Time.Equal(d.Start.Time) {
			return
		}
	}
	d.title, d.place = content.TextOf(d.Component, "SUMMARY"), content.TextOf(d.Component, "LOCATION")
	f.rings = append(f.rings, d)
}

// atOnce is the most reminders of a user that ring one by one. More of them become one notification.
const atOnce = 5

// out returns the notifications of the rings.
func (f *firing) out() calendar.Alerts {
	var out calendar.Alerts
	if f.who == nil {
		return out
	}
	var ways [2][]due
	for _, d := range f.rings {
		if !d.Mail {
			ways[0] = append(ways[0], d)
		} else if f.who.Mails {
			ways[1] = append(ways[1], d)
		}
	}
	for i, channel := range []calendar.Channel{f.who.Alarms, calendar.MailChannel} {
		var notes []note
		for _, d := range ways[i] {
			notes = append(notes, f.note(d))
		}
		if len(notes) > atOnce {
			notes = []note{summary(f.who.language(), notes)}
		}
		one := f.alerts(f.who, channel, notes...)
		out.Messages = append(out.Messages, one.Messages...)
		out.Letters = append(out.Letters, one.Letters...)
		out.Most = f.Most
	}
	return out
}
