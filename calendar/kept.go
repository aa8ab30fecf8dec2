package calendar

import "context"

// KeptName is the name of a property that is kept without being understood: a dead one, as
// RFC 4918 §4 has it.
type KeptName struct {
	// Space is the namespace, which may be empty.
	Space, Local string
}

// Kept is such a property. In a change, an empty Value takes it away.
type Kept struct {
	Name KeptName
	// Value is all of it, name and attributes included, in the words of the door that took it.
	Value string
}

// Place says what sort of thing properties are kept of.
type Place uint8

// The places there are.
const (
	AtPrincipal Place = iota
	AtHome
	AtCalendar
	AtObject
	// AtShare is a calendar as somebody else than its owner has it.
	AtShare
)

// Holder is what properties are kept of. They go when it goes.
type Holder struct {
	Place Place
	// User is set at a principal, at a home and at a share, Calendar at a calendar, at an object
	// and at a share.
	User     UserID
	Calendar Calendar
	Object   ObjectName
}

const (
	// MaxKept is how many properties are kept of one thing.
	MaxKept = 100
	// MaxKeptBytes is the size of the largest that is kept.
	MaxKeptBytes = 32 << 10
)

func checkKept(edits []Kept) error {
	for _, e := range edits {
		if len(e.Value) > MaxKeptBytes || len(e.Name.Space)+len(e.Name.Local) > maxNameLength {
			return Errorf(TooLarge, RuleDiskSpace, "the property %s has more than %d bytes", e.Name.Local, MaxKeptBytes)
		}
	}
	return nil
}

// holder tells whose properties of a calendar are meant: what the owner's clients keep of it is
// the owner's alone, and each sharee's theirs.
func (c Caller) holder(h Holder) Holder {
	if h.Place == AtCalendar && h.Calendar.Access != OwnerAccess {
		h.Place, h.User = AtShare, c.User.ID
	}
	return h
}

// mayRead tells whether the caller may read what is kept there, mayWrite whether they may
// change it.
func (c Caller) mayRead(h Holder) error {
	if h.Place == AtPrincipal || h.Place == AtHome {
		return c.MayOwn(ReadObjects)
	}
	return c.May(ReadObjects, h.Calendar)
}

func (c Caller) mayWrite(h Holder) error {
	switch h.Place {
	case AtPrincipal, AtHome:
		return c.MayOwn(ChangeCalendar)
	case AtCalendar:
		return c.May(ChangeCalendar, h.Calendar)
	case AtShare:
		return c.May(ArrangeCalendar, h.Calendar)
	case AtObject:
	}
	return c.May(WriteObjects, h.Calendar)
}

// Kept returns the properties that are kept of something. What the caller may not read is
// not there for them.
func (s *Service) Kept(ctx context.Context, c Caller, h Holder) ([]Kept, error) {
	if err := c.mayRead(h); err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	return s.store.Kept(ctx, c.holder(h))
}

// KeptInHome returns the properties that the caller keeps of each calendar in their home.
func (s *Service) KeptInHome(ctx context.Context, c Caller) (map[CalendarID][]Kept, error) {
	if err := c.hasScope(ReadObjects); err != nil {
		return nil, nil //nolint:nilerr // as for Kept
	}
	return s.store.KeptInHome(ctx, c.User.ID)
}

// Keepers returns the objects of a calendar of which properties are kept: most often none.
func (s *Service) Keepers(ctx context.Context, c Caller, cal Calendar) (map[ObjectName]bool, error) {
	if err := c.May(ReadObjects, cal); err != nil {
		return nil, nil //nolint:nilerr // as for Kept
	}
	names, err := s.store.Keepers(ctx, cal.ID)
	keepers := make(map[ObjectName]bool, len(names))
	for _, n := range names {
		keepers[n] = true
	}
	return keepers, err
}

// Keep changes the properties that are kept of something; all changes are made or none.
// Those of a calendar may come along with the ones that are understood: see PatchCalendar.
func (s *Service) Keep(ctx context.Context, c Caller, h Holder, edits []Kept, when Precondition) error {
	h = c.holder(h)
	if err := c.mayWrite(h); err != nil {
		return err
	}
	return s.change(ctx, c, func(w *work) error {
		if h.Place == AtObject {
			if err := w.touch(ctx, h, when); err != nil {
				return err
			}
		}
		return w.keep(ctx, h, edits)
	})
}

// touch gives an object a new version though its bytes stay: others shall hear of it.
func (w *work) touch(ctx context.Context, h Holder, when Precondition) error {
	if _, err := w.openTo(ctx, WriteObjects, h.Calendar.ID); err != nil {
		return err
	}
	o, err := w.find(ctx, h.Calendar.ID, h.Object, when)
	if err != nil {
		return err
	}
	_, err = w.put(ctx, o, &o)
	return err
}

// keep is the part of a change that runs in its transaction.
func (w *work) keep(ctx context.Context, h Holder, edits []Kept) error {
	if len(edits) == 0 {
		return nil
	}
	if err := checkKept(edits); err != nil {
		return err
	}
	count, err := w.Tx.Keep(ctx, h, edits)
	if err == nil && count > MaxKept {
		err = Errorf(TooLarge, RuleDiskSpace, "no more than %d properties are kept of one resource", MaxKept)
	}
	return err
}
