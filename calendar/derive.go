package calendar

import (
	"context"
	"errors"

	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/ical"
)

// validate tells whether a draft may be stored in the calendar, and what to index of it.
func (s *Service) validate(ctx context.Context, cal Calendar, d Draft) (Derived, error) {
	if err := d.Name.validate(); err != nil {
		return Derived{}, err
	}
	if int64(len(d.Data)) > s.limits.ObjectBytes {
		return Derived{}, Errorf(TooLarge, RuleMaxSize, "the object has %d bytes; this server takes %d", len(d.Data), s.limits.ObjectBytes)
	}
	o, err := s.read(ctx, d.Data)
	if err != nil {
		return Derived{}, err
	}
	if !cal.Kinds.Has(Kind(o.Kind)) {
		return Derived{}, errKind(cal, Kind(o.Kind))
	}
	return s.derivedOf(o), nil
}

func errKind(cal Calendar, k Kind) error {
	if cal.Subscribed() {
		return Errorf(Forbidden, RuleSupportedKind, "%q is a subscription: what it shows lies elsewhere, and nothing can be stored in it", cal.Name)
	}
	return Errorf(Forbidden, RuleSupportedKind, "the calendar %q takes %s, not %s", cal.Name, cal.Kinds, k)
}

// read parses an object within the limits in force and renders its faults.
func (s *Service) read(ctx context.Context, data []byte) (*content.Object, error) {
	lim := ical.DefaultLimits()
	lim.Bytes = int(s.limits.ObjectBytes)
	o, err := content.Read(data, lim)
	if err == nil {
		err = o.Check(ctx, content.Limits{Attendees: s.limits.Attendees, Instances: s.limits.Instances}, s.zones)
	}
	if f, ok := errors.AsType[*content.RuleError](err); ok {
		return nil, Errorf(faultReason(f.Rule), Rule(f.Rule), "%s", f.Message)
	}
	return o, err
}

func faultReason(rule string) Reason {
	switch rule {
	case content.RuleMaxSize, content.RuleMaxInstances, content.RuleMaxAttendees:
		return TooLarge
	}
	return Invalid
}

// Derivation numbers the rules by which Derived is made. It grows when they change: a store
// whose number is lower is reindexed before it serves. 2: words for searches.
const Derivation = 2

// derive is what Reindex calls: the same as at save, but without the limits of today,
// since what is stored stays stored.
func (s *Service) derive(data []byte) (Derived, error) {
	o, err := content.Read(data, ical.Limits{})
	if err != nil {
		return Derived{}, err
	}
	return s.derivedOf(o), nil
}

func (s *Service) derivedOf(o *content.Object) Derived {
	main := o.Main()
	start, end := o.Span(s.zones)
	return Derived{
		UID: UID(o.UID), Kind: Kind(o.Kind), Summary: o.Summary(), Search: o.SearchText(),
		Span: Span{start, end}, Recurring: o.Recurring(),
		Status:      content.WordOf(main, "STATUS"),
		Transparent: content.WordOf(main, "TRANSP") == "TRANSPARENT",
	}
}

// maxObjectName keeps names within what every engine can index.
const maxObjectName = 512

func (n ObjectName) validate() error {
	if n == "" || len(n) > maxObjectName {
		return Errorf(Invalid, "", "an object's name has from 1 to %d bytes, this one %d", maxObjectName, len(n))
	}
	return nil
}
