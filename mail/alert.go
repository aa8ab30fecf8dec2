package mail

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// alertLate is the longest delay of a notification that names no other.
const alertLate = 24 * time.Hour

// alert writes a notification to a user: a reminder, for example. It fails with errNothing if it is too late, or if the
// address is no longer the user's.
func (s *Sender) alert(ctx context.Context, l calendar.Letter, id string) ([]byte, error) {
	m, err := calendar.AlertMailOf(l.Data)
	if err != nil {
		return nil, err
	}
	u, err := s.Store.UserByID(ctx, l.User)
	if err != nil {
		return nil, err
	}
	to, bad := letter.Address(u.Email)
	if bad != nil || to != l.To || u.Disabled || !m.Until.IsZero() && s.Now().After(m.Until) {
		return nil, errNothing
	}
	return s.Post.Plain(letter.Plain{
		To: l.To, Name: u.Title(), Subject: letter.OneLine(m.Subject), Text: m.Text, ID: id, At: l.Posted,
		Language: languageOf(u),
	})
}
