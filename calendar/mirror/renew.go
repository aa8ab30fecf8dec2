package mirror

import (
	"context"
	"errors"
	"strings"

	"caldav-mcp-server/calendar"
)

// same finds the account that is linked already: of one provider, at one address, of one user there. A feed that is followed
// already is refused, see notTwice: there is no secret of it to renew.
func (m *Mirror) same(ctx context.Context, a calendar.Account, p Provider, s Secret) (none calendar.Account, err error) {
	if p.Feed || s.Username == "" {
		return none, nil
	}
	all, err := m.Store.Accounts(ctx, a.Owner)
	if err != nil {
		return none, err
	}
	for _, other := range all {
		if other.Provider == a.Provider && other.Address == a.Address && m.mayBe(other, s) {
			return other, nil
		}
	}
	return none, nil
}

// mayBe tells whether an account, whose address is that of the secret, is the same one. Where its own secret cannot be opened any
// more it is: that is what a new one is for.
func (m *Mirror) mayBe(a calendar.Account, next Secret) bool {
	s, err := m.unseal(a)
	if err != nil {
		return true
	}
	return s.Username == next.Username && strings.TrimRight(s.URL, "/") == strings.TrimRight(next.URL, "/")
}

// renew gives an account the secret that its owner has for it now, if that lets us in, and looks at it.
func (m *Mirror) renew(ctx context.Context, c calendar.Caller, a calendar.Account, p Provider, n NewAccount) (Linked, calendar.Arrived, error) {
	var none calendar.Arrived
	secret := n.Secret
	source, err := p.Open(Opening{Secret: secret, Keep: func(_ context.Context, next Secret) error {
		secret = next
		return nil
	}})
	if err == nil {
		within, cancel := context.WithTimeout(ctx, firstLook)
		defer cancel()
		_, err = source.Calendars(within)
	}
	if err != nil {
		return Linked{}, none, asked(err, a.Address)
	}
	if err := m.keepGiven(ctx, &a, secret); err != nil {
		return Linked{}, none, err
	}
	if err := m.Store.SetAccount(ctx, a.ID, calendar.AccountEdit{Scopes: n.Scopes, Every: n.Every}, m.Now()); err != nil {
		return Linked{}, none, err
	}
	arrived, err := m.visit(ctx, a, true)
	if err != nil {
		return Linked{}, arrived, refused(err, a.Name)
	}
	all, err := m.linked(ctx, c, a.ID)
	return all, arrived, err
}

// keepGiven keeps what the owner gave, whoever renews what was there before.
func (m *Mirror) keepGiven(ctx context.Context, a *calendar.Account, secret Secret) error {
	err := m.keep(ctx, a, secret)
	for n := 0; n < 3 && errors.Is(err, ErrRenewed); n++ {
		now, failed := m.Store.Account(ctx, a.ID)
		if failed != nil {
			return failed
		}
		a.Secret, a.Key = now.Secret, now.Key
		err = m.keep(ctx, a, secret)
	}
	return err
}
