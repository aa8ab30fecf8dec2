package query

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

const (
	// describedText bounds the previous text that is read to describe one change, describedTexts the texts for all
	// changes of a list. A change beyond them is listed without a description.
	describedText  = calendar.LargeObject
	describedTexts = 1 << 20
)

// describe reads the texts that [calendar.Change.Describe] needs.
func (r *journalReader) describe(ctx context.Context, changes []calendar.Change) error {
	room := int64(describedTexts)
	wanted := map[calendar.CalendarID][]calendar.Version{}
	for _, c := range changes {
		if c.Did == calendar.Modified && c.Size > 0 && c.Size <= min(describedText, room) {
			room -= c.Size
			wanted[c.Calendar] = append(wanted[c.Calendar], c.Version)
		}
	}
	for cal, versions := range wanted {
		if err := r.addTexts(ctx, cal, versions, describedText, changes); err != nil {
			return err
		}
	}
	return nil
}

// addTexts sets the texts before and after the changes with these versions of a calendar.
func (r *journalReader) addTexts(
	ctx context.Context, cal calendar.CalendarID, versions []calendar.Version, most int64, changes []calendar.Change,
) error {
	texts, err := r.store.Texts(ctx, cal, versions, most)
	if err != nil {
		return err
	}
	for _, t := range texts {
		i := slices.IndexFunc(changes, func(c calendar.Change) bool {
			return c.ID() == calendar.ChangeID{Calendar: cal, Version: t.Version}
		})
		c := &changes[i]
		c.Before, c.After = t.Before, t.After
		if t.Latest && c.Subject() != calendar.AboutObject {
			if c.After, err = r.present(ctx, *c); err != nil {
				return err
			}
		}
	}
	return nil
}

// present returns the current state of a calendar or a share, or nil if it no longer exists.
func (r *journalReader) present(ctx context.Context, c calendar.Change) ([]byte, error) {
	if c.Subject() == calendar.AboutCalendar {
		kept, err := r.store.DeadProperties(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: c.In})
		return calendar.SettingsOf(c.In, kept).Encode(), err
	}
	shares, err := r.store.Shares(ctx, c.Calendar)
	i := slices.IndexFunc(shares, func(share calendar.Share) bool { return share.User.ID == c.Whom })
	if err != nil || i < 0 {
		return nil, err
	}
	return calendar.TermsOf(shares[i]).Encode(), nil
}
