package mirror

import (
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
)

// Accounts with mail and no calendars are linked, stored, synced and unlinked like others, but nothing of them is
// mirrored. A sync only checks that the account still admits us. So its owner learns of a key that has expired, and an
// unused key stays alive.

// linkMail links a mail account and replaces the one that its owner had before: a user has one of each kind.
func (m *Mirror) linkMail(
	ctx context.Context, c calendar.Caller, a calendar.Account, p Provider,
) (Linked, calendar.Arrived, error) {
	var none calendar.Arrived
	source, _, err := m.open(a)
	if err == nil {
		_, err = source.Calendars(ctx)
	}
	if err != nil {
		return Linked{}, none, errors.Join(asked(err, a.Address),
			m.Store.DeleteAccount(context.WithoutCancel(ctx), a.ID))
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

// AccountOf returns a user's account of a kind, the latest if there are several. If there is none, the error is
// NotFound.
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

// Reach opens an account for callers that need data which is not mirrored.
func (m *Mirror) Reach(a calendar.Account) (Source, error) {
	source, _, err := m.open(a)
	return source, err
}

// Agreed returns when an account's owner last linked it, or zero if that is unknown.
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

// Lapse records that an account refuses its key, and deletes the key: it is useless, but still worth stealing. An
// account that was linked again in the meantime has another key and stays as it is.
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
	m.Logger.InfoContext(ctx, "a linked account failed", "account", a.ID, "provider", a.Provider, "status", a.Status,
		"failures", a.Failures, "error", forLog(err))
	_, err = m.Store.SetAccountState(ctx, a, began)
	return err
}
