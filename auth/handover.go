package auth

import (
	"context"
	"net/netip"

	"caldav-mcp-server/calendar"
)

// HandOver seals an app password for a device of its user's on which nobody is signed in: it goes there in an address
// that the device scans, and nowhere else.
func (s *Service) HandOver(ctx context.Context, u calendar.User, app Secret) (Parcel, error) {
	return s.pack(ctx, aDevice, packed{User: u.ID, State: []byte(app)})
}

// TakeOver returns the caller as whom a parcel lets the device in, and the secret. An app password that was revoked
// meanwhile is ErrUnauthorized.
func (s *Service) TakeOver(ctx context.Context, p Parcel, from netip.Addr) (calendar.Caller, Secret, error) {
	t, err := s.unpack(ctx, aDevice, p)
	if err != nil {
		return calendar.Caller{}, "", err
	}
	c, err := s.VerifyBearer(ctx, string(t.State), from)
	return c, Secret(t.State), err
}
