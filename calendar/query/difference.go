package query

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

const (
	// describedText and describedTexts bound the bytes before a change that are read to describe it, and those
	// before all the changes of a list. What has more is told without what it did.
	describedText  = calendar.LargeObject
	describedTexts = 1 << 20
)

// describe gives the changes of a list what [calendar.Change.Describe] needs.
func (s *Queries) describe(ctx context.Context, changes []calendar.Change) error {
	room := int64(describedTexts)
	wanted := map[calendar.CalendarID][]calendar.Version{}
	for _, c := range changes {
		if c.Did == calendar.Modified && c.Size > 0 && c.Size <= min(describedText, room) {
			room -= c.Size
			wanted[c.Calendar] = append(wanted[c.Calendar], c.Version)
		}
	}
	for cal, versions := range wanted {
		if err := s.addTexts(ctx, cal, versions, describedText, changes); err != nil {
			return err
		}
	}
	return nil
}

// addTexts gives those of the changes the bytes before and after that are of these versions of a calendar.
func (s *Queries) addTexts(ctx context.Context, cal calendar.CalendarID, versions []calendar.Version, most int64, changes []calendar.Change) error {
	texts, err := s.store.Texts(ctx, cal, versions, most)
	if err != nil {
		return err
	}
	for _, t := range texts {
		i := slices.IndexFunc(changes, func(c calendar.Change) bool { return c.ID() == calendar.ChangeID{Calendar: cal, Version: t.Version} })
		c := &changes[i]
		c.Before, c.After = t.Before, t.After
		if t.Latest && c.Subject() != calendar.AboutObject {
			if c.After, err = s.present(ctx, *c); err != nil {
				return err
			}
		}
	}
	return nil
}

// present are the bytes of a calendar or a share as it is now, nil when it is not there.
func (s *Queries) present(ctx context.Context, c calendar.Change) ([]byte, error) {
	if c.Subject() == calendar.AboutCalendar {
		kept, err := s.store.DeadProperties(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: c.In})
		return calendar.SettingsOf(c.In, kept).Encode(), err
	}
	shares, err := s.store.Shares(ctx, c.Calendar)
	i := slices.IndexFunc(shares, func(share calendar.Share) bool { return share.User.ID == c.Whom })
	if err != nil || i < 0 {
		return nil, err
	}
	return calendar.TermsOf(shares[i]).Encode(), nil
}
