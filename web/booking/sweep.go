package booking

import (
	"cmp"
	"context"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

// end ends a hold, then deletes its event; if that fails, Sweep tries it again. In this order, the event of a hold that
// is confirmed meanwhile stays, and the error is NotFound.
func (s *Service) end(ctx context.Context, owner calendar.UserID, h calendar.Hold) error {
	if err := s.Store.EndHold(ctx, h.ID); err != nil {
		return err
	}
	c := callerOf(calendar.User{ID: cmp.Or(h.Host, owner)})
	in, err := s.Calendars.Calendar(ctx, c, h.Calendar)
	if err == nil {
		m := s.Calendars.Meter(ctx, c)
		defer m.Close()
		tell := calendar.TellNobody
		if h.State == calendar.Reserved || in.Origin.Mirrors() { // others know of it
			tell = calendar.TellAll
		}
		_, err = s.Calendars.CancelObject(ctx, c, in, h.UID, ledger.Cancellation{Meter: m, Telling: tell})
	}
	if calendar.ReasonOf(err) == calendar.NotFound {
		return nil
	}
	return err
}

const (
	// sweepEvery is how often expired holds are looked for, sweepMost how many end at once.
	sweepEvery = 30 * time.Second
	sweepMost  = 100
)

const (
	// endedAge is how long a hold that ended is kept, for the limits of a day.
	endedAge = 48 * time.Hour
	// pastAge is how long the visitor of a booking is known after the event.
	pastAge = 90 * 24 * time.Hour
	// forgetEvery is how many sweeps there are for each time that old holds are deleted.
	forgetEvery = int(time.Hour / sweepEvery)
)

// Run ends expired holds and deletes old ones until the context ends. Several processes can run it at once.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for n := 0; ; n++ {
		err := s.Sweep(ctx)
		if n%forgetEvery == 0 {
			err = errors.Join(err, s.Forget(ctx))
		}
		if err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "expired holds were not ended", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sweep ends the holds that expired more than holdGrace ago.
func (s *Service) Sweep(ctx context.Context) error {
	all, err := s.Store.ExpiredHolds(ctx, s.Now().Add(-holdGrace), sweepMost)
	if err != nil {
		return err
	}
	var failed error
	for _, h := range all {
		p, err := s.Store.BookingPage(ctx, h.Page)
		if err == nil {
			err = s.end(ctx, p.Owner, h)
		}
		if calendar.ReasonOf(err) != calendar.NotFound {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// Forget deletes holds that ended two days ago, and bookings whose event ended 90 days ago, with their visitors.
func (s *Service) Forget(ctx context.Context) error {
	return s.Store.ForgetHolds(ctx, s.Now().Add(-endedAge), s.Now().Add(-pastAge))
}
