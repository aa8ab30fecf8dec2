package ledger

import (
	"context"
	"maps"
	"slices"

	"caldav-mcp-server/calendar"
)

// presentOffer returns the state of one user's share.
func presentOffer(shares []calendar.Share, user calendar.UserID) state {
	for _, s := range shares {
		if s.User.ID == user {
			return state{data: calendar.TermsOf(s).Encode()}
		}
	}
	return state{}
}

// sortedUsers returns the users with chosen changes of their shares: see NoticeKeeper for the order.
func (p *undoPlace) sortedUsers() []calendar.UserID { return slices.Sorted(maps.Keys(p.whom)) }

// shares undoes changes of the calendar's shares. A user who gets the calendar back may have to accept it again.
func (t *undoIn) shares(ctx context.Context) error {
	users := t.place.sortedUsers()
	if len(users) == 0 {
		return nil
	}
	change, err := t.Sharer.sharing(ctx, t.Tx, t.cal.ID)
	if err != nil {
		return err
	}
	change.undoing = true
	for _, user := range users {
		past, err := t.past(ctx, t.place.ofShare(user))
		if err != nil {
			return err
		}
		g := t.undoing.back(t.place, past, presentOffer(change.shares, user))
		if g.idle() {
			continue
		}
		if err := t.reshare(ctx, change, user, g); err != nil {
			return err
		}
	}
	return nil
}

func (t *undoIn) reshare(ctx context.Context, change *sharing, user calendar.UserID, g goal) error {
	if err := t.caller().May(calendar.ShareCalendar, t.cal); err != nil {
		return err
	}
	edit := calendar.ShareEdit{With: calendar.User{ID: user}}
	if g.then.data != nil {
		wanted, err := calendar.DecodeTerms(g.then.data)
		if err != nil {
			return err
		}
		edit.Access, edit.Title, edit.CommonName = wanted.Access, wanted.Title, wanted.CommonName
	}
	var err error
	change.refused = false
	if before := change.of(user); before != nil {
		edit.With = before.User
	} else if edit.With, err = t.user(ctx, user); err != nil {
		return err
	} else if change.refused, err = t.refused(ctx, user, edit.Access); err != nil {
		return err
	}
	t.Undoes = g.undoes
	if _, err := change.edit(ctx, edit); err != nil {
		return err
	}
	t.done("share of " + edit.With.Name)
	return nil
}

// refused reports whether the user's last answer to a removed share was to decline it. A share made since is a new
// offer; one that an undo brought back is not.
func (t *undoIn) refused(ctx context.Context, user calendar.UserID, access calendar.Access) (bool, error) {
	for e, err := range t.Journal(ctx, t.cal.ID, calendar.JournalQuery{Whom: user}) {
		switch {
		case err != nil:
			return false, err
		case e.Did == calendar.Declined:
			return e.Given == access, nil // a user who declines more access keeps the former
		case e.Did != calendar.Deleted && len(e.Undoes) == 0:
			return false, nil
		}
	}
	return false, nil
}

// user returns a user who had a share of a calendar.
func (t *undoIn) user(ctx context.Context, id calendar.UserID) (calendar.User, error) {
	u, err := t.UserByID(ctx, id)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		err = calendar.Errorf(calendar.Stale, "", "the user that the calendar was shared with no longer exists")
	}
	return u, err
}
