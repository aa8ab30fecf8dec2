package ledger

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// validate checks that a draft may be stored in the calendar, and returns its index data.
func (s *Ledger) validate(ctx context.Context, cal calendar.Calendar, d calendar.Draft) (calendar.Derived, error) {
	if err := d.Name.Validate(); err != nil {
		return calendar.Derived{}, err
	}
	if err := s.mayHold(d.Data); err != nil {
		return calendar.Derived{}, err
	}
	o, err := s.read(ctx, d.Data)
	if err != nil {
		return calendar.Derived{}, err
	}
	if !cal.Kinds.Has(calendar.Kind(o.Kind)) {
		return calendar.Derived{}, errKind(cal, calendar.Kind(o.Kind))
	}
	return s.derivedOf(o), nil
}

// mayHold refuses objects that are too large.
func (s *Ledger) mayHold(data []byte) error {
	if int64(len(data)) > s.limits.ObjectBytes {
		return calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize, "the object has %d bytes; this server takes %d", len(data), s.limits.ObjectBytes)
	}
	return nil
}

func errKind(cal calendar.Calendar, k calendar.Kind) error {
	if cal.Subscribed() {
		return calendar.Errorf(calendar.Forbidden, calendar.RuleSupportedKind, "%q is a subscription to a calendar elsewhere: nothing can be stored in it", cal.Name)
	}
	return calendar.Errorf(calendar.Forbidden, calendar.RuleSupportedKind, "the calendar %q takes %s, not %s", cal.Name, cal.Kinds, k)
}

// read parses an object within the current limits, and turns its faults into errors.
func (s *Ledger) read(ctx context.Context, data []byte) (*content.Object, error) {
	lim := ical.DefaultLimits()
	lim.Bytes = int(s.limits.ObjectBytes)
	o, err := content.Read(data, lim)
	if err == nil {
		err = o.Check(ctx, content.Limits{Attendees: s.limits.Attendees, Instances: s.limits.Instances}, s.zones)
	}
	if f, ok := errors.AsType[*content.RuleError](err); ok {
		return nil, calendar.Errorf(faultReason(f.Rule), calendar.Rule(f.Rule), "%s", f.Message)
	}
	return o, err
}

func faultReason(rule string) calendar.Reason {
	switch rule {
	case content.RuleMaxSize, content.RuleMaxInstances, content.RuleMaxAttendees:
		return calendar.TooLarge
	}
	return calendar.Invalid
}

// derive computes the index data of a stored object for Reindex. Unlike a save, it ignores the current limits, because
// stored objects stay stored.
func (s *Ledger) derive(data []byte) (calendar.Derived, error) {
	o, err := content.Read(data, ical.Limits{})
	if err != nil {
		return calendar.Derived{}, err
	}
	return s.derivedOf(o), nil
}

func (s *Ledger) derivedOf(o *content.Object) calendar.Derived {
	main := o.Main()
	start, end := o.Span(s.zones)
	return calendar.Derived{
		UID: calendar.UID(o.UID), Kind: calendar.Kind(o.Kind), Summary: o.Summary(), Search: o.SearchText(),
		Span: calendar.Span{Start: start, End: end}, Rhythm: s.rhythmOf(o), Recurring: o.Recurring(),
		Status:      content.WordOf(main, "STATUS"),
		Transparent: content.WordOf(main, "TRANSP") == "TRANSPARENT",
	}
}

// rhythmOf returns the recurrence index of a series, or nil if it lasts a day at most or cannot be computed.
func (s *Ledger) rhythmOf(o *content.Object) *calendar.Rhythm {
	r := new(calendar.Rhythm)
	known, ok := o.Follow(s.zones, r.Add)
	if !ok {
		return nil
	}
	r.Known = known
	r.Settle()
	return r
}
