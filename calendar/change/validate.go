package change

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/ical"
)

// Validator checks objects against the server's limits, and computes their index data.
type Validator struct {
	limits calendar.Limits
	zones  *zone.DB
}

// NewValidator returns a Validator.
func NewValidator(l calendar.Limits, zones *zone.DB) *Validator {
	return &Validator{limits: l, zones: zones}
}

// Validate checks that a draft may be stored in the calendar, and returns its index data.
func (v *Validator) Validate(ctx context.Context, cal calendar.Calendar, d calendar.Draft) (calendar.Derived, error) {
	if err := d.Name.Validate(); err != nil {
		return calendar.Derived{}, err
	}
	if err := v.CheckSize(d.Data); err != nil {
		return calendar.Derived{}, err
	}
	o, err := v.Read(ctx, d.Data)
	if err != nil {
		return calendar.Derived{}, err
	}
	if !cal.Kinds.Has(calendar.Kind(o.Kind)) {
		return calendar.Derived{}, ErrKind(cal, calendar.Kind(o.Kind))
	}
	return v.DerivedOf(o), nil
}

// CheckSize refuses objects that are too large.
func (v *Validator) CheckSize(data []byte) error {
	if int64(len(data)) > v.limits.ObjectBytes {
		return calendar.Errorf(calendar.TooLarge, calendar.RuleMaxSize, "the object has %d bytes; this server takes %d",
			len(data), v.limits.ObjectBytes)
	}
	return nil
}

// ErrKind returns the error for an object of a kind that the calendar does not take.
func ErrKind(cal calendar.Calendar, k calendar.Kind) error {
	if cal.Subscribed() {
		return calendar.Errorf(calendar.Forbidden, calendar.RuleSupportedKind,
			"%q is a subscription to a calendar elsewhere: nothing can be stored in it", cal.Name)
	}
	return calendar.Errorf(calendar.Forbidden, calendar.RuleSupportedKind, "the calendar %q takes %s, not %s", cal.Name,
		cal.Kinds, k)
}

// Read parses an object within the current limits, and turns its faults into errors.
func (v *Validator) Read(ctx context.Context, data []byte) (*content.Object, error) {
	lim := ical.DefaultLimits()
	lim.Bytes = int(v.limits.ObjectBytes)
	o, err := content.Read(data, lim)
	if err == nil {
		err = o.Check(ctx, content.Limits{Attendees: v.limits.Attendees, Instances: v.limits.Instances}, v.zones)
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

// Derive computes the index data of a stored object for Reindex. Unlike a save, it ignores the current limits, because
// stored objects stay stored.
func (v *Validator) Derive(data []byte) (calendar.Derived, error) {
	o, err := content.Read(data, ical.Limits{})
	if err != nil {
		return calendar.Derived{}, err
	}
	return v.DerivedOf(o), nil
}

// DerivedOf returns the index data of an object.
func (v *Validator) DerivedOf(o *content.Object) calendar.Derived {
	main := o.Main()
	start, end := o.Span(v.zones)
	return calendar.Derived{
		UID: calendar.UID(o.UID), Kind: calendar.Kind(o.Kind), Summary: o.Summary(), Search: o.SearchText(),
		Span: calendar.Span{Start: start, End: end}, Recurrence: v.recurrenceOf(o), Recurring: o.Recurring(),
		Status:      content.WordOf(main, "STATUS"),
		Transparent: content.WordOf(main, "TRANSP") == "TRANSPARENT",
	}
}

// recurrenceOf returns the recurrence index of a series, or nil if it lasts a day at most or cannot be computed.
func (v *Validator) recurrenceOf(o *content.Object) *calendar.RecurrenceIndex {
	r := new(calendar.RecurrenceIndex)
	known, ok := o.Follow(v.zones, r.Add)
	if !ok {
		return nil
	}
	r.Known = known
	r.SetFirstHour()
	return r
}
