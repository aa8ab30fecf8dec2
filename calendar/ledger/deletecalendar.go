package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/delivery"
	"caldav-mcp-server/calendar/schedule"
)

// To delete a calendar is to delete each meeting in it as DELETE of that meeting does, so that its attendees or its
// organizer are notified (RFC 6638 §3.2.3.2). The calendar then goes to the trash with everything else in it. The
// meetings are deleted in parts. Each part is one transaction, and leaves a state that DELETE of those meetings would
// leave. The last part also moves the calendar to the trash. All parts are one unit of the journal, where a restore
// finds the meetings. See docs/decisions/0091-delete-calendar.md.

// A part has at most partMeetings meetings, and writes about partBytes for the people in them.
const (
	partMeetings = 50
	partBytes    = 8 << 20
)

// previewParts bounds how much of a calendar a preview checks.
const previewParts = 10

// parts divides meetings into parts.
type parts[T any] struct {
	all    [][]T
	weight int64
}

// add puts a meeting with this text into the last part, or into a new one.
func (p *parts[T]) add(one T, text []byte) {
	weight := int64(len(text)) * int64(1+bytes.Count(text, []byte("\nATTENDEE")))
	last := len(p.all) - 1
	if last < 0 || len(p.all[last]) == partMeetings || p.weight+weight > partBytes {
		p.all, p.weight = append(p.all, nil), 0
		last++
	}
	p.all[last] = append(p.all[last], one)
	p.weight += weight
}

// calendarDeletion is the running deletion of a calendar.
type calendarDeletion struct {
	*Ledger
	caller calendar.Caller
	// cal is the calendar's state before its meetings were listed.
	cal   calendar.Calendar
	tell  calendar.Telling
	parts [][]calendar.ObjectName
	unit  calendar.ChangeID
	told  []calendar.Told
}

// DeleteCalendar deletes the meetings in a calendar, and moves it to the trash.
func (s *Ledger) DeleteCalendar(ctx context.Context, c calendar.Caller, id calendar.CalendarID) error {
	_, err := s.DeleteCalendarTelling(ctx, c, id, calendar.TellAll)
	return err
}

// DeleteCalendarTelling is DeleteCalendar with a choice whether to notify others. It returns the people who were
// notified.
func (s *Ledger) DeleteCalendarTelling(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, tell calendar.Telling,
) ([]calendar.Told, error) {
	d, err := s.planDeletion(ctx, c, id, tell)
	if err != nil {
		return nil, err
	}
	if len(d.parts) > 1 && (tell == calendar.TellNobody || c.HasScope(calendar.TellOthers) != nil) {
		if _, err := d.audience(ctx, d.parts); err != nil { // a refusal must not come after the first part
			return nil, err
		}
	}
	for i, names := range d.parts {
		if err := d.part(ctx, names, i == len(d.parts)-1); err != nil {
			return d.told, partly(i, len(d.parts), "deleted", err)
		}
	}
	return d.told, nil
}

// DeletionAudience returns the number of people whom the deletion of a calendar would notify, or an error if the caller
// may not delete it. If the calendar has very many meetings, it checks only some and sets More.
func (s *Ledger) DeletionAudience(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, tell calendar.Telling,
) (calendar.Audience, error) {
	d, err := s.planDeletion(ctx, c, id, tell)
	if err != nil {
		return calendar.Audience{}, err
	}
	n, err := d.audience(ctx, d.parts[:min(len(d.parts), previewParts)])
	return calendar.Audience{People: n, More: len(d.parts) > previewParts}, err
}

// partly adds to an error how many parts were done.
func partly(done, parts int, did string, err error) error {
	if done == 0 {
		return err
	}
	return fmt.Errorf("%d of %d parts of the calendar's meetings are %s, and the rest is as it was: %w", done, parts,
		did, err)
}

// planDeletion checks that the caller may delete a calendar, and lists its meetings.
func (s *Ledger) planDeletion(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, tell calendar.Telling,
) (*calendarDeletion, error) {
	cal, err := s.Calendar(ctx, c, id)
	if err == nil {
		err = c.May(calendar.DeleteCalendar, cal)
	}
	d := &calendarDeletion{Ledger: s, caller: c, cal: cal, tell: tell}
	if err == nil {
		err = d.notDefault(ctx, cal)
	}
	if err != nil {
		return nil, err
	}
	return d, d.list(ctx)
}

// notDefault refuses to delete the calendar that receives invitations, whether its owner chose it or it is the oldest
// (RFC 6638 §4.3).
func (d *calendarDeletion) notDefault(ctx context.Context, cal calendar.Calendar) error {
	if !cal.Receives() {
		return nil
	}
	said, err := d.store.Scheduling(ctx, cal.Owner)
	if err != nil {
		return err
	}
	all, err := d.store.Calendars(ctx, cal.Owner)
	if err != nil || said.Reception(all) != cal.ID {
		return err
	}
	return calendar.Errorf(calendar.Unsupported, calendar.RuleDefaultNeeded,
		"%q is the default calendar for new events and invitations: open the page of another calendar, and make that "+
			"the default first", cal.Name)
}

// list divides the meetings in the calendar into parts; there is always at least one part. In a linked calendar the
// source notifies the attendees.
func (d *calendarDeletion) list(ctx context.Context) error {
	var found parts[calendar.ObjectName]
	if !d.cal.Origin.Mirrors() && !d.cal.Subscribed() {
		for o, err := range d.store.Objects(ctx, d.cal.ID, calendar.ObjectQuery{WithData: true}) {
			switch {
			case errors.Is(err, calendar.ErrNoText):
			case err != nil:
				return err
			case delivery.Organized(o.Data):
				found.add(o.Name, o.Data)
			}
		}
	}
	if d.parts = found.all; len(d.parts) == 0 {
		d.parts = [][]calendar.ObjectName{nil}
	}
	return nil
}

// part deletes some meetings; the last part also moves the calendar to the trash.
func (d *calendarDeletion) part(ctx context.Context, names []calendar.ObjectName, last bool) error {
	var told []calendar.Told
	err := d.changePart(ctx, d.caller, &d.unit, func(w *work) error {
		in, err := w.LockFor(ctx, calendar.DeleteCalendar, d.cal.ID)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := d.end(ctx, w, in.Calendar, name); err != nil {
				return err
			}
		}
		if last {
			if err := d.endNew(ctx, w, in.Calendar); err != nil {
				return err
			}
			err = w.trash(ctx, d.cal.ID)
		}
		told = w.Told
		return err
	})
	if err == nil {
		d.told = append(d.told, told...)
	}
	return err
}

// end deletes a meeting. It skips objects whose organizer or attendees do not include the calendar's owner.
func (d *calendarDeletion) end(ctx context.Context, w *work, in calendar.Calendar, name calendar.ObjectName) error {
	old, _, err := w.LiveObject(ctx, in.ID, name, "")
	if err != nil || old == nil {
		return err
	}
	involved, err := w.scheduling.Involves(ctx, in, old)
	if err != nil || !involved {
		return err
	}
	return w.remove(ctx, in, *old, calendar.Draft{Telling: d.tell})
}

// endNew deletes the meetings that others wrote into the calendar after its meetings were listed.
func (d *calendarDeletion) endNew(ctx context.Context, w *work, in calendar.Calendar) error {
	if in.Origin.Mirrors() || in.Subscribed() {
		return nil
	}
	var names []calendar.ObjectName
	for e, err := range w.Journal(ctx, in.ID, calendar.JournalQuery{From: d.cal.Version + 1}) {
		if err != nil {
			return err
		}
		if e.Subject() == calendar.AboutObject && e.Did != calendar.Deleted {
			names = append(names, e.Object)
		}
	}
	for _, name := range names {
		if err := d.end(ctx, w, in, name); err != nil {
			return err
		}
	}
	return nil
}

// audience counts the people whom the deletion of some parts would notify. It changes nothing.
func (d *calendarDeletion) audience(ctx context.Context, parts [][]calendar.ObjectName) (int, error) {
	people := map[schedule.Person]bool{}
	for _, names := range parts {
		err := d.change(ctx, d.caller, func(w *work) error {
			for _, name := range names {
				if err := d.hear(ctx, w, name, people); err != nil {
					return err
				}
			}
			return errPreview
		})
		if !errors.Is(err, errPreview) {
			return 0, err
		}
	}
	return len(people), nil
}

// hear adds the people whom the deletion of a meeting would notify.
func (d *calendarDeletion) hear(
	ctx context.Context, w *work, name calendar.ObjectName, people map[schedule.Person]bool,
) error {
	old, _, err := w.LiveObject(ctx, d.cal.ID, name, "")
	if err != nil || old == nil {
		return err
	}
	notified, err := w.scheduling.DeletionNotifies(ctx, d.cal, old, d.tell)
	for _, p := range notified {
		people[p] = true
	}
	return err
}
