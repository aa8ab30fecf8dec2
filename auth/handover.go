package auth

import (
	"context"
	"net/netip"

	"caldav-mcp-server/calendar"
)

// HandOver seals an app password for a device where its user is not signed in. It travels only in an address that
// the device scans.
func (s *SignInFlow) HandOver(ctx context.Context, u calendar.User, app Secret) (SealedState, error) {
	return s.seal(ctx, aDevice, formState{User: u.ID, State: []byte(app)})
}

// TakeOver opens this state and returns the caller that it authenticates and the secret. ErrUnauthorized when the
// app password was revoked meanwhile.
func (s *SignInFlow) TakeOver(ctx context.Context, p SealedState, from netip.Addr) (calendar.Caller, Secret, error) {
	t, err := s.open(ctx, aDevice, p)
	if err != nil {
		return calendar.Caller{}, "", err
	}
	c, err := s.verifier.VerifyBearer(ctx, string(t.State), from)
	return c, Secret(t.State), err
}
