package ledger

import (
	"context"

	"caldav-mcp-server/calendar"
)

// Follow applies a remote calendar's name and origin to its linked calendar. A name that its owner gave it here stays.
func (s *Ledger) Follow(
	ctx context.Context, cal calendar.Calendar, m calendar.Mirror, name string, from calendar.Origin,
) error {
	if name != "" && m.RemoteName != "" && cal.Name == m.RemoteName && name != cal.Name {
		err := s.PatchCalendar(ctx, foreignCaller(cal), cal.ID,
			func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
				p.Name = name
				return nil, nil
			})
		if err != nil {
			return err
		}
	}
	return s.writer.UpdateMirror(ctx, func(tx calendar.MirrorKeeper) error {
		if cal.Origin != from {
			if err := tx.SetOrigin(ctx, cal.ID, from); err != nil {
				return err
			}
		}
		return tx.SetRemoteName(ctx, cal.ID, name)
	})
}
