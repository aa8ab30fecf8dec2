package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/change"
)

func errShareLevel() error {
	return calendar.Errorf(calendar.Invalid, "",
		"a calendar is shared for free and busy times, for reading, or for reading and writing")
}

func errOwnCalendar() error {
	return calendar.Errorf(calendar.Invalid, "", "this calendar is already yours: share it with another user")
}

// Reshare changes the shares of a calendar of the caller: all of them, or none. It returns the resulting shares. A
// share that is already as requested stays untouched.
func (s *Sharer) Reshare(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, edits []calendar.ShareEdit,
) ([]calendar.Share, error) {
	if err := s.reader.Allow(ctx, c, calendar.ShareCalendar, id); err != nil {
		return nil, err
	}
	for _, e := range edits {
		if e.Access >= calendar.OwnerAccess {
			return nil, errShareLevel()
		}
		if e.With.ID == c.User.ID {
			return nil, errOwnCalendar()
		}
		if max(len(e.Title), len(e.CommonName)) > calendar.MaxNameLength {
			return nil, calendar.Errorf(calendar.Invalid, "", "a name in an invitation is longer than %d bytes",
				calendar.MaxNameLength)
		}
	}
	shares, _, err := s.reshare(ctx, c, id, edits)
	return shares, err
}

// reshare is Reshare after the check of access. It reports whether anything changed.
func (s *Sharer) reshare(
	ctx context.Context, c calendar.Caller, id calendar.CalendarID, edits []calendar.ShareEdit,
) (shares []calendar.Share, changed bool, err error) {
	var cal calendar.Calendar
	err = s.change(ctx, c, func(tx *change.Tx) error {
		shares = make([]calendar.Share, len(edits))
		t, err := s.sharing(ctx, tx, id)
		if err != nil {
			return err
		}
		cal = t.cal.Calendar
		for i, e := range edits {
			if shares[i], err = t.edit(ctx, e); err != nil {
				return err
			}
		}
		if t.cal.Unchanged() {
			return change.ErrSame
		}
		return nil
	})
	if errors.Is(err, change.ErrSame) {
		return shares, false, s.remind(ctx, c, cal, shares)
	}
	return shares, err == nil, err
}

// remind repeats the offer to sharees who have not answered but deleted their notification: their clients could not
// answer without it.
func (s *Sharer) remind(ctx context.Context, c calendar.Caller, cal calendar.Calendar, shares []calendar.Share) error {
	for _, share := range shares {
		if share.Status != calendar.SharePending {
			continue
		}
		box, err := s.store.Notices(ctx, share.User.ID)
		if err != nil {
			return err
		}
		kept := func(n calendar.Notice) bool { return n.Name == share.Invitation().Notice() && !n.Gone }
		if slices.ContainsFunc(box.Items, kept) {
			continue
		}
		err = s.change(ctx, c, func(tx *change.Tx) error {
			notify(tx, cal, share)
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
	*change.Tx
	sharer *Sharer
	cal    *change.LockedCalendar
	shares []calendar.Share
	// undoing is set for an undo. It repeats no offer: a share that its user has declined or left stays declined.
	undoing bool
	// refused tells the same of a user whose share is gone by now.
	refused bool
}

// sharing takes the calendar's lock and reads its shares.
func (s *Sharer) sharing(ctx context.Context, tx *change.Tx, id calendar.CalendarID) (*sharing, error) {
	cal, err := tx.Lock(ctx, id)
	if err != nil {
		return nil, err
	}
	shares, err := tx.Shares(ctx, id)
	return &sharing{Tx: tx, sharer: s, cal: cal, shares: shares}, err
}

// of returns a user's share, or nil.
func (t *sharing) of(user calendar.UserID) *calendar.Share {
	if i := slices.IndexFunc(t.shares, func(s calendar.Share) bool { return s.User.ID == user }); i >= 0 {
		return &t.shares[i]
	}
	return nil
}

// edit applies an edit. The calendar gets a new version, so that its owner's other clients notice. The sharee's home
// detects the change by itself, see Home.
func (t *sharing) edit(ctx context.Context, e calendar.ShareEdit) (calendar.Share, error) {
	before := t.of(e.With.ID)
	if e.Access == calendar.NoAccess {
		return calendar.Share{}, t.withdraw(ctx, before)
	}
	willing, err := t.willing(ctx, before, e)
	if err != nil {
		return calendar.Share{}, err
	}
	next := t.offered(before, e, willing)
	if before != nil && *before == next {
		return next, nil
	}
	next.Maker = t.Caller.Maker()
	if err := t.acquainted(ctx, before, e); err != nil {
		return next, err
	}
	if err := t.bearable(ctx, before, next); err != nil {
		return next, err
	}
	if err := t.daily(ctx, before, next, e.Settled); err != nil {
		return next, err
	}
	change := calendar.Modified
	if before == nil {
		change = calendar.Created
	}
	if err := t.put(ctx, change, before, next, next); err != nil {
		return next, err
	}
	if next.Status != calendar.ShareDeclined {
		t.offer(before, next)
	}
	if before == nil {
		t.shares = append(t.shares, next)
	} else {
		*before = next
	}
	return next, nil
}

// offer notifies a sharee of their share. Their answer to an older offer does not count for a new one.
func (t *sharing) offer(before *calendar.Share, next calendar.Share) {
	if before == nil || before.Status != calendar.ShareAccepted || next.Status != calendar.ShareAccepted {
		t.WithdrawNotice(t.cal.Owner, next.Invitation().Reply())
	}
	notify(t.Tx, t.cal.Calendar, next)
}

// offered returns a share after an edit. The share of an unwilling user is declined.
func (t *sharing) offered(before *calendar.Share, e calendar.ShareEdit, willing bool) calendar.Share {
	next := calendar.Share{
		Calendar: t.cal.ID, User: e.With, Access: e.Access, Title: e.Title, CommonName: e.CommonName, Created: t.Now(),
	}
	had, has := false, calendar.NoAccess
	if before != nil {
		next.Created, next.Maker = before.Created, before.Maker
		if next.Title == "" {
			next.Title = before.Title
		}
		if next.CommonName == "" {
			next.CommonName = before.CommonName
		}
		has = before.InForce()
		// A sharee is not asked for access that they have, nor for any after they have accepted more than busy times.
		had = has >= e.Access || before.Status == calendar.ShareAccepted && before.Access > calendar.FreeBusyAccess
	}
	switch {
	case !willing, t.refused, t.undoing && before != nil && before.Status == calendar.ShareDeclined:
		next.Status = calendar.ShareDeclined
	// A group cannot accept. Instead, only some users may share with it, see acquainted.
	case t.sharer.reader.Policy().NeedAcceptance && !had && !e.Settled && !e.With.Group:
		next.Status, next.Meanwhile = calendar.SharePending, has
	default:
		next.Status = calendar.ShareAccepted
	}
	return next
}

// willing reports whether a user takes calendars from this owner. A share with a user who has blocked the owner fails
// with the error that a new share with a disabled user gets, so that the error does not reveal the block. An undo
// succeeds, and its share is declined.
func (t *sharing) willing(ctx context.Context, before *calendar.Share, e calendar.ShareEdit) (bool, error) {
	if err := t.HoldSharer(ctx, t.cal.Owner); err != nil {
		return false, err
	}
	blocks, err := t.Blocks(ctx, e.With.ID, t.cal.Owner)
	if err != nil {
		return false, err
	}
	if t.undoing {
		return !blocks, nil
	}
	if !blocks && (!e.With.Disabled || e.Settled || !isNew(before)) {
		return true, nil
	}
	return false, calendar.Errorf(calendar.Invalid, "", "%q takes no calendars at present", e.With.Name)
}

// isNew reports whether the next share of the calendar would be a new one to its user. A change of a share is not.
func isNew(before *calendar.Share) bool {
	return before == nil || before.Status == calendar.ShareDeclined
}

// daily limits the new shares of one user with another in a day. An undo only restores shares that were already
// counted.
func (t *sharing) daily(ctx context.Context, before *calendar.Share, next calendar.Share, settled bool) error {
	if settled || t.undoing || !isNew(before) {
		return nil
	}
	n, err := t.NoteShare(ctx, next, t.cal.Owner, t.Now().Add(-24*time.Hour))
	if err != nil || n <= dailyMost {
		return err
	}
	e := calendar.Errorf(calendar.TooLarge, "",
		"you made %d new shares with %q in the last 24 hours, which is the limit", dailyMost, next.User.Name)
	e.Hint = "share this calendar tomorrow"
	return e
}

// acquainted allows sharing with a group only to its members and the administrator, because its members are not asked.
func (t *sharing) acquainted(ctx context.Context, before *calendar.Share, e calendar.ShareEdit) error {
	if !e.With.Group || e.Settled || before != nil && e.Access <= before.Access {
		return nil
	}
	if in, err := t.InGroup(ctx, e.With.ID, t.cal.Owner); in || err != nil {
		return err
	}
	return calendar.Errorf(calendar.Forbidden, "", "you are not in the group %q, and share nothing with it",
		e.With.Name).Advising("only members share with a group; an administrator adds them on the group's page")
}

// The limits of one user's offers to another: all shared calendars, new shares per day, and pending offers.
// offeredMostAll limits the pending offers from all users together.
const (
	sharedMost     = 100
	dailyMost      = 20
	offeredMost    = 20
	offeredMostAll = 200
)

// bearable refuses to share more with a user than the limits allow.
func (t *sharing) bearable(ctx context.Context, before *calendar.Share, next calendar.Share) error {
	waits := next.Status == calendar.SharePending && (before == nil || before.Status != calendar.SharePending)
	if before != nil && !waits {
		return nil
	}
	has, err := t.Offered(ctx, next.User.ID, t.cal.Owner)
	if err != nil {
		return err
	}
	var e *calendar.Error
	switch {
	case before == nil && has.Shared >= sharedMost:
		e = calendar.Errorf(calendar.TooLarge, "", "you share %d calendars with %q, which is the limit", has.Shared,
			next.User.Name)
		e.Hint = "take back one that they no longer need"
	case waits && (has.Waiting >= offeredMost || has.WaitingOfAll >= offeredMostAll):
		e = calendar.Errorf(calendar.TooLarge, "", "%q has too many offers to answer, and gets no more until they do",
			next.User.Name)
		e.Hint = "ask them to answer, or take back an offer"
	default:
		return nil
	}
	return e
}

func (t *sharing) withdraw(ctx context.Context, before *calendar.Share) error {
	if before == nil {
		return nil
	}
	if err := t.log(ctx, calendar.Deleted, before, calendar.Share{User: before.User}); err != nil {
		return err
	}
	if err := t.DropShare(ctx, t.cal.ID, before.User.ID); err != nil {
		return err
	}
	gone := *before
	t.shares = slices.DeleteFunc(t.shares, func(s calendar.Share) bool { return s.User.ID == gone.User.ID })
	notifyGone(t.Tx, t.cal.Calendar, gone)
	return nil
}

// put writes a share and a journal entry.
func (t *sharing) put(
	ctx context.Context, change calendar.ChangeKind, before *calendar.Share, said, next calendar.Share,
) error {
	if err := t.log(ctx, change, before, said); err != nil {
		return err
	}
	return t.PutShare(ctx, next)
}

// log writes a journal entry with a version of its own.
func (t *sharing) log(
	ctx context.Context, change calendar.ChangeKind, before *calendar.Share, next calendar.Share,
) error {
	cal, err := t.NextVersion(ctx, t.cal.ID)
	if err != nil {
		return err
	}
	e := calendar.Change{Did: change, Whom: next.User.ID, Given: next.Access}
	if before != nil && !change.Answers() {
		e.Before = calendar.TermsOf(*before).Encode()
	}
	return t.WriteEntry(ctx, cal, e)
}

// Answer accepts or declines an invitation of the caller. To decline after accepting is to leave the calendar. It
// returns the calendar if it was accepted.
func (s *Sharer) Answer(
	ctx context.Context, c calendar.Caller, id calendar.InvitationID, r calendar.Reply,
) (calendar.Calendar, error) {
	if err := c.MayOwn(calendar.AnswerInvitation); err != nil {
		return calendar.Calendar{}, err
	}
	if len(r.Name) > calendar.MaxNameLength {
		return calendar.Calendar{}, calendar.Errorf(calendar.Invalid, "", "the calendar's name is longer than %d bytes",
			calendar.MaxNameLength)
	}
	offers, err := s.store.Offers(ctx, c.User.ID)
	if err != nil {
		return calendar.Calendar{}, err
	}
	i := slices.IndexFunc(offers, func(o calendar.Offer) bool { return o.Invitation() == id })
	if i < 0 {
		return calendar.Calendar{}, s.outdated(ctx, c, id)
	}
	offer := offers[i]
	if !r.Accept && offer.Status == calendar.ShareAccepted {
		return calendar.Calendar{}, s.Leave(ctx, c, offer.Calendar)
	}
	if err := s.answer(ctx, c, offer.Calendar, r); err != nil || !r.Accept {
		return calendar.Calendar{}, err
	}
	return s.reader.Calendar(ctx, c, offer.Calendar)
}

// outdated returns the error for a missing invitation, and removes its notification.
func (s *Sharer) outdated(ctx context.Context, c calendar.Caller, id calendar.InvitationID) error {
	if err := s.forget(ctx, c, id.Notice()); err != nil {
		return err
	}
	return calendar.Errorf(calendar.NotFound, "", "there is no such invitation, or it was withdrawn")
}

// answer records the caller's answer to a share.
func (s *Sharer) answer(ctx context.Context, c calendar.Caller, id calendar.CalendarID, r calendar.Reply) error {
	return change.UnlessSame(s.change(ctx, c, func(tx *change.Tx) error { return s.answerIn(ctx, tx, id, r) }))
}

func (s *Sharer) answerIn(ctx context.Context, tx *change.Tx, id calendar.CalendarID, r calendar.Reply) error {
	t, err := s.sharing(ctx, tx, id)
	if err != nil {
		return err
	}
	before := t.of(tx.Caller.User.ID)
	if r.Leave {
		if before != nil && before.Status == calendar.ShareDeclined {
			before = nil // the calendar comes from a group
		}
		if err := t.leaveGroups(ctx, before); err != nil {
			return err
		}
	}
	return t.reply(ctx, before, r)
}

// reply answers a share by name. Without one it does nothing.
func (t *sharing) reply(ctx context.Context, before *calendar.Share, r calendar.Reply) error {
	if before == nil {
		return nil
	}
	said, next := before.Answered(r)
	if *before == next {
		return change.ErrSame
	}
	change := calendar.Declined
	if r.Accept {
		change = calendar.Accepted
		if err := t.unblocked(ctx); err != nil {
			return err
		}
	}
	if err := t.put(ctx, change, before, said, next); err != nil {
		return err
	}
	if err := t.naming(ctx, calendar.Offer{Share: said, From: t.cal.Calendar}.Name(), r); err != nil {
		return err
	}
	notifyOwner(t.Tx, t.cal.Calendar, said, r)
	return nil
}

// leaveGroups excludes the caller from the calendar as a member of any group. If the caller also has a share by name,
// reply writes the journal entry for both.
func (t *sharing) leaveGroups(ctx context.Context, before *calendar.Share) error {
	if before == nil {
		has, err := t.SharedAccess(ctx, t.cal.ID, t.Caller.User.ID)
		if err != nil {
			return err
		}
		if has == calendar.NoAccess {
			return calendar.ErrNoCalendar(string(t.cal.ID))
		}
		if err := t.log(ctx, calendar.Declined, nil, calendar.Share{User: t.Caller.User, Access: has}); err != nil {
			return err
		}
	}
	return t.LeaveGroups(ctx, t.cal.ID, t.Caller.User.ID)
}

// naming sets the calendar's name for the sharee.
func (t *sharing) naming(ctx context.Context, offered string, r calendar.Reply) error {
	if !r.Accept || r.Name == "" || r.Name == t.cal.Name || r.Name == t.cal.ForSharees().Name || r.Name == offered {
		return nil
	}
	own, err := t.Arrangement(ctx, t.cal.ID, t.Caller.User.ID)
	if err != nil {
		return err
	}
	own.Name = &r.Name
	return t.Arrange(ctx, t.cal.ID, t.Caller.User.ID, own)
}
