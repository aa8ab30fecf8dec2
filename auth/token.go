package auth

import (
	"time"

	"caldav-mcp-server/calendar"
)

// Token is what may be known of an access token: all but its secret.
type Token struct {
	// ID is the public half, in lower-case hexadecimal. It names the token in lists, in the
	// journal and on the command line.
	ID       calendar.TokenID
	User     calendar.UserID
	UserName string
	// Name says what the token is for: "Claude on laptop".
	Name   string
	Scopes calendar.Scope
	// Calendars are the only ones that the token reaches. Nil means all of the user's; what is
	// not nil but empty reaches none.
	Calendars []calendar.CalendarID
	Created   time.Time
	// Expires, LastUsed and Revoked are zero for never.
	Expires, LastUsed, Revoked time.Time
}

// Valid tells whether the token is good at a time.
func (t Token) Valid(at time.Time) bool {
	return t.Revoked.IsZero() && (t.Expires.IsZero() || at.Before(t.Expires))
}
