package calendar

import (
	"context"
)

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
