package mirror

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
)

// Accounts that have mail and no calendars are linked, kept, looked at and unlinked like others; nothing of them is mirrored. A look
// asks them who they are, so that their owner is told of a key that has ended, and that a key which nobody uses does not end for that.

// linkMail links an account of mail in the place of the one that its owner had before: there is one of a kind for each.
func (m *Mirror) linkMail(ctx context.Context, c calendar.Caller, a calendar.Account, p Provider) (Linked, calendar.Arrived, error) {
	var none calendar.Arrived
	source, _, err := m.open(a)
	if err == nil {
		_, err = source.Calendars(ctx)
	}
	if err != nil {
		return Linked{}, none, errors.Join(asked(err, a.Address), m.Store.DeleteAccount(context.WithoutCancel(ctx), a.ID))
	}
	began := a
	a.Listed = m.Now()
	m.plan(&a, p, 0, nil)
	if _, err := m.Store.SetAccountState(ctx, a, began); err != nil {
		return Linked{}, none, err
	}
	all, err := m.Store.Accounts(ctx, c.User.ID)
	for _, former := range all {
		if former.Provider == a.Provider && former.ID != a.ID {
			err = errors.Join(err, m.Store.DeleteAccount(ctx, former.ID))
		}
	}
	if err != nil {
		return Linked{}, none, err
	}
	linked, err := m.linked(ctx, c, a.ID)
	return linked, none, err
}

// AccountOf finds a user's account of a kind, the latest where there are several; NotFound where there is none.
func (m *Mirror) AccountOf(ctx context.Context, owner calendar.UserID, provider string) (calendar.Account, error) {
	all, err := m.Store.Accounts(ctx, owner)
	if err != nil {
		return calendar.Account{}, err
	}
	found := calendar.Account{}
	for _, a := range all {
		if a.Provider == provider {
			found = a
		}
	}
	if found.ID == "" {
		return found, calendar.Errorf(calendar.NotFound, "", "no account of that kind is linked")
	}
	return found, nil
}

// Reach speaks to an account, for those who want of it what is not mirrored.
func (m *Mirror) Reach(a calendar.Account) (Source, error) {
	source, _, err := m.open(a)
	return source, err
}

// Agreed is when an account's owner last linked it; zero where that is not known.
func (m *Mirror) Agreed(a calendar.Account) time.Time {
	if m.Sealer == nil {
		return time.Time{}
	}
	s, err := m.unseal(a)
	if err != nil {
		return time.Time{}
	}
	return s.Agreed
}

// Lapse notes that an account lets nobody in any more, and forgets its key, which opens nothing and might be opened itself. One that
// was linked anew in the meantime has another key, and stays.
func (m *Mirror) Lapse(ctx context.Context, a calendar.Account, err error) error {
	ctx = context.WithoutCancel(ctx)
	if failed := m.keep(ctx, &a, Secret{Username: a.Subject}); failed != nil {
		if calendar.ReasonOf(failed) == calendar.Stale || calendar.ReasonOf(failed) == calendar.NotFound {
			return nil
		}
		return failed
	}
	began := a
	a.Status, a.Error, a.Failures = calendar.AccountSignIn, Told(err), a.Failures+1
	if a.Failing.IsZero() {
		a.Failing = m.Now()
	}
	a.Due = m.Now().Add(24 * time.Hour)
	m.Logger.InfoContext(ctx, "a linked account failed", "account", a.ID, "provider", a.Provider, "status", a.Status, "failures", a.Failures, "error", forLog(err))
	_, err = m.Store.SetAccountState(ctx, a, began)
	return err
}
