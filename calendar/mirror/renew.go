package mirror

import (
	"context"

	"caldav-mcp-server/calendar"
)

// same returns the account that is already linked: same provider, same address, same remote user. For feeds it returns
// none: they have no secret to renew, and notTwice refuses duplicates.
func (m *Mirror) same(
	ctx context.Context, a calendar.Account, p Provider, s Secret,
) (none calendar.Account, err error) {
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

// renew gives an account its owner's new secret, if the account accepts it, and syncs it.
func (m *Mirror) renew(
	ctx context.Context, c calendar.Caller, a calendar.Account, p Provider, n NewAccount,
) (Linked, calendar.Arrived, error) {
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
	if err := m.Store.SetAccount(ctx, a.ID, calendar.AccountEdit{Scopes: n.Scopes, Every: n.Every}, m.Now()); err !=
		nil {
		return Linked{}, none, err
	}
	arrived, err := m.visit(ctx, a, true)
	if err != nil {
		return Linked{}, arrived, notRefreshed(err, a.Name)
	}
	all, err := m.linked(ctx, c, a.ID)
	return all, arrived, err
}
