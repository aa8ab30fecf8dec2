package delivery

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// Discard removes a message from the caller's inbox, as clients do after they have shown it. It does not answer the
// message: a readable proposal still waits for a decision.
func (s *Scheduler) Discard(
	ctx context.Context, c calendar.Caller, name calendar.ObjectName, when calendar.Precondition,
) error {
	if err := c.MayOwn(calendar.CleanInbox); err != nil {
		return err
	}
	i, err := s.reader.Message(ctx, c, name)
	lost := errors.Is(err, calendar.ErrNoText)
	if err != nil && !lost {
		return err
	}
	if err := when.Check(calendar.ETagOf(i.Data)); err != nil {
		return err
	}
	if len(when.Match) == 0 {
		i.Version = 0 // any version
	}
	return s.change(ctx, c, func(w *Work) error {
		if lost {
			return w.DropInboxItem(ctx, c.User.ID, name, i.Version)
		}
		return w.HideInboxItem(ctx, c.User.ID, name, i.Version)
	})
}

// PatchScheduling calls edit to change the caller's scheduling settings.
func (s *Scheduler) PatchScheduling(
	ctx context.Context, c calendar.Caller, edit func(*calendar.Scheduling) error,
) error {
	if err := c.MayOwn(calendar.ChangeCalendar); err != nil {
		return err
	}
	next, err := s.store.Scheduling(ctx, c.User.ID)
	if err != nil {
		return err
	}
	if err := edit(&next); err != nil {
		return err
	}
	if err := s.checkScheduling(ctx, c, next); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *Work) error { return w.SetScheduling(ctx, c.User.ID, next) })
}

func (s *Scheduler) checkScheduling(ctx context.Context, c calendar.Caller, next calendar.Scheduling) error {
	if next.Default != "" {
		cal, err := s.reader.Calendar(ctx, c, next.Default)
		if err != nil || !cal.Receives() {
			return calendar.Errorf(calendar.Invalid, calendar.RuleDefaultCalendar,
				"the calendar for invitations must be your own, accept events, and not be a linked one")
		}
	}
	if next.Availability == nil {
		return nil
	}
	if err := s.validator.CheckSize([]byte(*next.Availability)); err != nil {
		return err
	}
	lim := ical.DefaultLimits()
	lim.Bytes = int(s.limits.ObjectBytes)
	doc, err := ical.Parse([]byte(*next.Availability), lim)
	if err == nil {
		err = onlyAvailability(doc)
	}
	if err != nil {
		return calendar.Errorf(calendar.Invalid, calendar.RuleValidData, "the availability cannot be read: %v", err)
	}
	return nil
}

// onlyAvailability checks that a text contains only availability.
func onlyAvailability(doc *ical.Document) error {
	root, err := doc.Calendar()
	if err != nil {
		return err
	}
	for c := range root.Components() {
		if c.Name() != content.Availability && c.Name() != "VTIMEZONE" {
			return calendar.Errorf(calendar.Invalid, calendar.RuleValidData,
				"it contains a %s, but may only contain %s", c.Name(), content.Availability)
		}
	}
	return nil
}
