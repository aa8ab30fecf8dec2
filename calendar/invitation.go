package calendar

import (
	"context"
	"errors"
	"slices"
)

// ShareEdit is what is to become of one user's share of a calendar.
type ShareEdit struct {
	With User
	// Access is what they are offered; NoAccess takes the share away.
	Access Access
	// Title and CommonName stay what they were where they are empty.
	Title, CommonName string
	// Settled tells that the user need not be asked: whoever runs the server has decided it with them.
	Settled bool
}

func errShareLevel() error {
	return Errorf(Invalid, "", "a calendar is shared for free and busy times, for reading, or for reading and writing")
}

func errOwnCalendar() error {
	return Errorf(Invalid, "", "this calendar is yours already: share it with somebody else")
}

// Reshare changes the shares of a calendar of the caller's: all of them, or none. It returns what
// each came to be. What is as wanted already stays untouched.
func (s *Service) Reshare(ctx context.Context, c Caller, id CalendarID, edits []ShareEdit) ([]Share, error) {
	if err := s.allow(ctx, c, ShareCalendar, id); err != nil {
		return nil, err
	}
	for _, e := range edits {
		if e.Access >= OwnerAccess {
			return nil, errShareLevel()
		}
		if e.With.ID == c.User.ID {
			return nil, errOwnCalendar()
		}
		if max(len(e.Title), len(e.CommonName)) > maxNameLength {
			return nil, Errorf(Invalid, "", "a name in an invitation is longer than %d bytes", maxNameLength)
		}
	}
	shares, _, err := s.reshare(ctx, c, id, edits)
	return shares, err
}

// reshare is Reshare for who may, and tells whether anything changed.
func (s *Service) reshare(ctx context.Context, c Caller, id CalendarID, edits []ShareEdit) (shares []Share, changed bool, err error) {
	var cal Calendar
	err = s.change(ctx, c, func(w *work) error {
		shares = make([]Share, len(edits))
		t, err := w.sharing(ctx, id)
		if err != nil {
			return err
		}
		cal = t.cal.Calendar
		for i, e := range edits {
			if shares[i], err = t.edit(ctx, e); err != nil {
				return err
			}
		}
		if t.cal.fresh {
			return errSame
		}
		return nil
	})
	if errors.Is(err, errSame) {
		return shares, false, s.remind(ctx, c, cal, shares)
	}
	return shares, err == nil, err
}

// remind tells those anew of what they were offered who have neither answered nor kept what they
// were told: it is all by which their programs could answer.
func (s *Service) remind(ctx context.Context, c Caller, cal Calendar, shares []Share) error {
	for _, share := range shares {
		if share.Status != SharePending {
			continue
		}
		box, err := s.store.Notices(ctx, share.User.ID)
		if err != nil {
			return err
		}
		kept := func(n Notice) bool { return n.Name == share.Invitation().notice() && !n.Gone }
		if slices.ContainsFunc(box.Notices, kept) {
			continue
		}
		err = s.change(ctx, c, func(w *work) error {
			w.notify(cal, share)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// sharing is a change of a calendar's shares.
type sharing struct {
	*work
	cal    *opened
	shares []Share
	// undoing tells that nothing is offered anew: who has refused what they were offered, or given
	// it up, does not get it back.
	undoing bool
}

// sharing takes the calendar's lock and reads who was offered what.
func (w *work) sharing(ctx context.Context, id CalendarID) (*sharing, error) {
	cal, err := w.open(ctx, id)
	if err != nil {
		return nil, err
	}
	shares, err := w.Tx.Shares(ctx, id)
	return &sharing{work: w, cal: cal, shares: shares}, err
}

// of returns a user's share, nil for none.
func (t *sharing) of(user UserID) *Share {
	if i := slices.IndexFunc(t.shares, func(s Share) bool { return s.User.ID == user }); i >= 0 {
		return &t.shares[i]
	}
	return nil
}

// edit carries an edit out. The calendar moves on with it, so that its owner's other programs
// hear of it; the sharee's home finds out by itself, see Home.
func (t *sharing) edit(ctx context.Context, e ShareEdit) (Share, error) {
	before := t.of(e.With.ID)
	if e.Access == NoAccess {
		return Share{}, t.withdraw(ctx, before)
	}
	next := t.offered(before, e)
	if before != nil && *before == next {
		return next, nil
	}
	if err := t.bearable(ctx, before, next); err != nil {
		return next, err
	}
	change := Modified
	if before == nil {
		change = Created
	}
	if err := t.put(ctx, change, before, next, next); err != nil {
		return next, err
	}
	if next.Status != ShareDeclined {
		t.offer(before, next)
	}
	if before == nil {
		t.shares = append(t.shares, next)
	} else {
		*before = next
	}
	return next, nil
}

// offer tells a sharee of their share. What they said to an older offer is no word on a new one.
func (t *sharing) offer(before *Share, next Share) {
	if before == nil || before.Status != ShareAccepted || next.Status != ShareAccepted {
		t.recall(t.cal.Owner, next.Invitation().reply())
	}
	t.notify(t.cal.Calendar, next)
}

// offered is what an edit makes of a share.
func (t *sharing) offered(before *Share, e ShareEdit) Share {
	next := Share{Calendar: t.cal.ID, User: e.With, Access: e.Access, Title: e.Title, CommonName: e.CommonName, Created: t.now()}
	had, has := false, NoAccess
	if before != nil {
		next.Created = before.Created
		if next.Title == "" {
			next.Title = before.Title
		}
		if next.CommonName == "" {
			next.CommonName = before.CommonName
		}
		has = before.InForce()
		// Who has accepted need not be asked again. Of busy times nobody was asked, see below.
		had = before.Status == ShareAccepted && (before.Access > FreeBusyAccess || e.Access == FreeBusyAccess)
	}
	switch {
	case t.undoing && before != nil && before.Status == ShareDeclined:
		next.Status = ShareDeclined
	// Busy times alone put nothing before anybody's eyes that they would want to refuse.
	case t.needAcceptance && !had && !e.Settled && e.Access > FreeBusyAccess:
		next.Status, next.Meanwhile = SharePending, has
	default:
		next.Status = ShareAccepted
	}
	return next
}

// What one user may put before another: calendars in all, and of those offers that wait for an answer; and
// how many offers from all others may wait.
const (
	sharedMost     = 100
	offeredMost    = 20
	offeredMostAll = 200
)

// bearable refuses to share more with somebody than they can be expected to look through.
func (t *sharing) bearable(ctx context.Context, before *Share, next Share) error {
	waits := next.Status == SharePending && (before == nil || before.Status != SharePending)
	if before != nil && !waits {
		return nil
	}
	has, err := t.Offered(ctx, next.User.ID, t.cal.Owner)
	if err != nil {
		return err
	}
	var e *Error
	switch {
	case before == nil && has.Shared >= sharedMost:
		e = Errorf(TooLarge, "", "you share %d calendars with %q, and no more can be: nobody could find their way among them", has.Shared, next.User.Name)
		e.Hint = "take back one that they no longer need"
	case waits && (has.Waiting >= offeredMost || has.WaitingOfAll >= offeredMostAll):
		e = Errorf(TooLarge, "", "%q has not answered what they were offered already, and is not asked more until they do", next.User.Name)
		e.Hint = "ask them to answer, or take back an offer"
	default:
		return nil
	}
	return e
}

func (t *sharing) withdraw(ctx context.Context, before *Share) error {
	if before == nil {
		return nil
	}
	if err := t.log(ctx, Deleted, before, Share{User: before.User}); err != nil {
		return err
	}
	if err := t.DropShare(ctx, t.cal.ID, before.User.ID); err != nil {
		return err
	}
	gone := *before
	t.shares = slices.DeleteFunc(t.shares, func(s Share) bool { return s.User.ID == gone.User.ID })
	t.notifyGone(t.cal.Calendar, gone)
	return nil
}

// put writes a share, and a line of the journal that says what was done.
func (t *sharing) put(ctx context.Context, change ChangeKind, before *Share, said, next Share) error {
	if err := t.log(ctx, change, before, said); err != nil {
		return err
	}
	return t.PutShare(ctx, next)
}

// log writes a line of the journal, at a version of its own.
func (t *sharing) log(ctx context.Context, change ChangeKind, before *Share, next Share) error {
	cal, err := t.next(ctx, t.cal.ID)
	if err != nil {
		return err
	}
	e := Entry{Change: change, Whom: next.User.ID, Given: next.Access}
	if before != nil && !change.answers() {
		e.Before = offerOf(*before).encode()
	}
	return t.work.log(ctx, cal, e)
}

// Reply is what a user says to an invitation.
type Reply struct {
	Accept bool
	// Name is what they call the calendar; empty is what its owner does.
	Name string
	// leave gives up all that there is of a share. To decline more is to keep what one has.
	leave bool
}

// Offers returns what others have offered the caller of their calendars.
func (s *Service) Offers(ctx context.Context, c Caller) ([]Offer, error) {
	if err := c.hasScope(ReadObjects); err != nil {
		return nil, err
	}
	all, err := s.store.Offers(ctx, c.User.ID)
	return slices.DeleteFunc(all, func(o Offer) bool {
		return c.Calendars != nil && !slices.Contains(c.Calendars, o.Calendar)
	}), err
}

// Answer accepts an invitation of the caller's or declines it; to decline what was accepted is to
// leave the calendar. It returns the calendar if it was accepted.
func (s *Service) Answer(ctx context.Context, c Caller, id InvitationID, r Reply) (Calendar, error) {
	if err := c.MayOwn(AnswerInvitation); err != nil {
		return Calendar{}, err
	}
	if len(r.Name) > maxNameLength {
		return Calendar{}, Errorf(Invalid, "", "the calendar's name is longer than %d bytes", maxNameLength)
	}
	offers, err := s.store.Offers(ctx, c.User.ID)
	if err != nil {
		return Calendar{}, err
	}
	i := slices.IndexFunc(offers, func(o Offer) bool { return o.Invitation() == id })
	if i < 0 {
		return Calendar{}, s.outdated(ctx, c, id)
	}
	offer := offers[i]
	if !r.Accept && offer.Status == ShareAccepted {
		return Calendar{}, s.Leave(ctx, c, offer.Calendar)
	}
	if err := s.answer(ctx, c, offer.Calendar, r); err != nil || !r.Accept {
		return Calendar{}, err
	}
	return s.Calendar(ctx, c, offer.Calendar)
}

// outdated says that there is no such invitation, and removes what still speaks of it.
func (s *Service) outdated(ctx context.Context, c Caller, id InvitationID) error {
	if err := s.forget(ctx, c, id.notice()); err != nil {
		return err
	}
	return Errorf(NotFound, "", "there is no such invitation, or it was withdrawn")
}

// answer writes down what the caller says to the offer of a calendar.
func (s *Service) answer(ctx context.Context, c Caller, id CalendarID, r Reply) error {
	err := s.change(ctx, c, func(w *work) error {
		t, err := w.sharing(ctx, id)
		if err != nil {
			return err
		}
		before := t.of(c.User.ID)
		if before == nil {
			return errNoCalendar(string(id))
		}
		said, next := before.answered(r)
		if *before == next {
			return errSame
		}
		change := Declined
		if r.Accept {
			change = Accepted
		}
		if err := t.put(ctx, change, before, said, next); err != nil {
			return err
		}
		if err := t.naming(ctx, r); err != nil {
			return err
		}
		t.notifyOwner(t.cal.Calendar, said, r)
		return nil
	})
	if errors.Is(err, errSame) {
		return nil
	}
	return err
}

// answered is what a user says to an offer, and what their share is then: who declines more keeps
// what they had.
func (s Share) answered(r Reply) (said, next Share) {
	said, said.Meanwhile = s, NoAccess
	if said.Status = ShareDeclined; r.Accept {
		said.Status = ShareAccepted
	}
	next = said
	if has := s.Meanwhile; has > NoAccess && !r.Accept && !r.leave {
		next.Access, next.Status = has, ShareAccepted
	}
	return said, next
}

// naming gives the calendar the name that the sharee wants.
func (t *sharing) naming(ctx context.Context, r Reply) error {
	if !r.Accept || r.Name == "" || r.Name == t.cal.Name {
		return nil
	}
	own, err := t.Arrangement(ctx, t.cal.ID, t.caller.User.ID)
	if err != nil {
		return err
	}
	own.Name = &r.Name
	return t.Arrange(ctx, t.cal.ID, t.caller.User.ID, own)
}
