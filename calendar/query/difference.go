package query

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
)

// differences tells what a change did. It is nil when the journal does not know any more.
func (s *Queries) differences(ctx context.Context, j lookup.Journal, e calendar.Entry) ([]calendar.Difference, error) {
	var before, after []byte
	last := true
	// The latest first: what comes last is the change itself, before it stands what came next.
	for each, err := range s.store.Entries(ctx, e.Calendar, e.Siblings(e.Version)) {
		if err != nil {
			return nil, err
		}
		if each.Version == e.Version {
			before = each.Before
			break
		}
		after, last = each.Before, false
	}
	if last {
		now, err := s.present(ctx, j, e)
		if err != nil {
			return nil, err
		}
		after = now
	}
	if before == nil || after == nil || e.Change != calendar.Modified {
		return nil, nil
	}
	return calendar.Compare(before, after), nil
}

// present are the bytes of what a change is about as it is now, nil when it is not there.
func (s *Queries) present(ctx context.Context, j lookup.Journal, e calendar.Entry) ([]byte, error) {
	switch e.Subject() {
	case calendar.AboutShare:
		shares, err := s.store.Shares(ctx, j.ID)
		for _, share := range shares {
			if share.User.ID == e.Whom {
				return calendar.TermsOf(share).Encode(), err
			}
		}
		return nil, err
	case calendar.AboutCalendar:
		kept, err := s.store.Kept(ctx, calendar.Holder{Place: calendar.AtCalendar, Calendar: j.Calendar})
		return calendar.SettingsOf(j.Calendar, kept).Encode(), err
	case calendar.AboutObject:
	}
	o, err := s.store.ObjectByUID(ctx, j.ID, e.UID)
	if err == nil {
		o, err = s.Load(ctx, nil, o)
	}
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return nil, nil
	}
	return o.Data, err
}
