package mirror

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// sendTime is the limit for one write at a source, sendMore for each further write of the same change, and sendMost
	// for all of them.
	sendTime, sendMore, sendMost = 10 * time.Second, time.Second, time.Minute
	// caughtUp is the limit for fetching the changes that conflicted with a write.
	caughtUp = 10 * time.Second
)

// post holds the sources that one change writes to.
type post struct {
	*Mirror
	mirrors map[calendar.CalendarID]calendar.Mirror
	sources map[calendar.AccountID]Source
	origins map[calendar.CalendarID]calendar.Calendar
	// accounts are the opened accounts, as they were stored.
	accounts map[calendar.AccountID]calendar.Account
}

// Send writes to the sources of linked calendars. The calendars stay locked until done is called. If the source has a
// newer version, the write is refused and the newer version is fetched.
func (m *Mirror) Send(
	ctx context.Context, c calendar.Caller, all []calendar.Outgoing,
) (sent []calendar.Sent, done func(lost bool), err error) {
	limit := min(sendTime+time.Duration(len(all)-1)*sendMore, sendMost)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var ids []calendar.CalendarID
	for _, o := range all {
		ids = append(ids, o.Calendar)
	}
	held, g, err := m.holdAll(within, ids...)
	if err != nil {
		return nil, nil, err
	}
	release := func() { g.release(ctx) }
	p := post{
		m,
		map[calendar.CalendarID]calendar.Mirror{},
		map[calendar.AccountID]Source{},
		map[calendar.CalendarID]calendar.Calendar{},
		map[calendar.AccountID]calendar.Account{},
	}
	if err := p.unmoved(held, all); err != nil {
		release()
		return nil, nil, err
	}
	if all, err = p.newFirst(held, all); err != nil {
		release()
		return nil, nil, err
	}
	for _, o := range all {
		one, err := p.send(held, g, c, o)
		if err != nil {
			err = g.why(held, err)
			release()
			err = p.failed(ctx, c, o, err)
			if len(sent) > 0 {
				err = p.partly(ctx, sent, len(all), err)
			}
			return nil, nil, err
		}
		one.Fence = g.fence(o.Calendar)
		sent = append(sent, one)
	}
	if err := g.sure(held); err != nil {
		release()
		return nil, nil, p.partly(ctx, sent, len(all), err)
	}
	return sent, func(lost bool) {
		if release(); lost {
			p.hurryAll(ctx)
		}
	}, nil
}

// unmoved checks that no object has changed here while the change waited for the calendars: a sync may have brought a
// newer version of the source, which the change would overwrite there.
func (p *post) unmoved(ctx context.Context, all []calendar.Outgoing) error {
	for _, o := range all {
		now, err := p.Store.ObjectByUID(ctx, o.Calendar, o.UID)
		if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
			return err
		}
		if now.ETag != o.Base {
			return calendar.ErrMovedOn
		}
	}
	return nil
}

// newFirst sorts the objects that their sources do not have yet to the front. If a later write is refused, a series
// that was split then appears twice from that day on, and is not cut off.
func (p *post) newFirst(ctx context.Context, all []calendar.Outgoing) ([]calendar.Outgoing, error) {
	if len(all) < 2 {
		return all, nil
	}
	var fresh, known []calendar.Outgoing
	for _, o := range all {
		_, err := p.Store.MirroredByUID(ctx, o.Calendar, o.UID)
		switch {
		case err == nil:
			known = append(known, o)
		case calendar.ReasonOf(err) == calendar.NotFound:
			fresh = append(fresh, o)
		default:
			return nil, err
		}
	}
	return append(fresh, known...), nil
}

// partly returns the error for a change that the source stored in part, and has the accounts synced at once.
func (p *post) partly(ctx context.Context, sent []calendar.Sent, all int, err error) error {
	p.hurryAll(ctx)
	made := new(calendar.PartlyError)
	for _, one := range sent {
		made.Stored = append(made.Stored, one.Outgoing)
	}
	e := calendar.Errorf(calendar.Unavailable, "", "%d of %d writes were stored at the calendar's source, then: %v",
		len(sent), all, err)
	e.Hint, e.Cause = "read it again in a moment, before you repeat "+
		"anything", errors.Join(made, calendar.ErrElsewhere, err)
	e.Again = calendar.AgainIn(err)
	return e
}

// hurryAll schedules a sync of all accounts that were written to.
func (p *post) hurryAll(ctx context.Context) {
	for _, mirror := range p.mirrors {
		p.hurry(context.WithoutCancel(ctx), mirror.Account)
	}
}

// ready finds the mirror of a calendar and opens its account.
func (p *post) ready(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Mirror, Source, error) {
	mirror, ok := p.mirrors[id]
	if !ok {
		cal, err := p.Store.Calendar(ctx, c.User.ID, id)
		if err != nil {
			return mirror, nil, err
		}
		if mirror, err = p.Store.Mirror(ctx, id); err != nil {
			return mirror, nil, err
		}
		p.mirrors[id], p.origins[id] = mirror, cal
	}
	if source := p.sources[mirror.Account]; source != nil {
		return mirror, source, nil
	}
	account, err := p.Store.Account(ctx, mirror.Account)
	if err != nil {
		return mirror, nil, err
	}
	if account.Status == calendar.AccountSignIn {
		return mirror, nil, ErrSignIn
	}
	p.accounts[mirror.Account] = account
	source, _, err := p.open(account)
	if err == nil {
		p.sources[mirror.Account] = source
	}
	return mirror, source, err
}

// send writes one object.
func (p *post) send(ctx context.Context, g grip, c calendar.Caller, o calendar.Outgoing) (calendar.Sent, error) {
	mirror, source, err := p.ready(ctx, c, o.Calendar)
	if err != nil {
		return calendar.Sent{}, err
	}
	was, err := p.Store.MirroredByUID(ctx, o.Calendar, o.UID)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return calendar.Sent{}, err
	}
	if was.Fault != "" {
		return calendar.Sent{}, Refusef("the source has a version that cannot be shown here (%s): change it there",
			was.Fault)
	}
	if err := g.sure(ctx); err != nil {
		return calendar.Sent{}, err
	}
	if o.Data == nil {
		if was.Ref == "" {
			return calendar.Sent{Outgoing: o}, nil // the source never had it
		}
		err := source.Delete(ctx, mirror.Remote,
			Object{Ref: was.Ref, Version: was.Version, UID: string(o.UID), Quiet: o.Quiet})
		if errors.Is(err, ErrGone) {
			err = nil
		}
		return calendar.Sent{Outgoing: o, Mirrored: was}, err
	}
	made, err := source.Put(ctx, mirror.Remote,
		Object{Ref: was.Ref, Version: was.Version, UID: string(o.UID), Data: o.Data, Quiet: o.Quiet})
	if err != nil {
		return calendar.Sent{}, err
	}
	return calendar.Sent{
		Outgoing: o, Data: made.Data,
		Mirrored: calendar.Mirrored{
			Ref: made.Ref, Version: made.Version, UID: o.UID, Round: mirror.Round, Unseen: was.Ref == "" || was.Unseen,
		},
	}, nil
}

// failed returns the error for a write that failed. After a conflict it fetches the newer version; the text that lost
// stays in the history.
func (p *post) failed(ctx context.Context, c calendar.Caller, o calendar.Outgoing, err error) error {
	cal := p.origins[o.Calendar]
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrGone) {
		within, cancel := context.WithTimeout(ctx, caughtUp)
		defer cancel()
		if _, err := p.look(within, o.Calendar, true); err != nil {
			p.Logger.WarnContext(ctx, "the newer version after a conflict was not fetched", "calendar", o.Calendar,
				"error", forLog(err))
		} else if err := p.ledger.Overtaken(within, c, cal, o); err != nil {
			p.Logger.WarnContext(ctx, "a write that lost a conflict was not stored in the history", "calendar",
				o.Calendar, "error", forLog(err))
		}
		return calendar.Errorf(calendar.Stale, "", "it was changed at %s in the meantime; the new version is shown now",
			cal.Origin.From).
			Advising("read it again, then repeat your change; your version is in the history")
	}
	if errors.Is(err, ErrSignIn) {
		p.noteSignIn(ctx, p.accounts[p.mirrors[o.Calendar].Account])
	}
	if later, ok := errors.AsType[*Later](err); ok && later.Unknown || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, errLost) {
		p.hurry(ctx, p.mirrors[o.Calendar].Account) // the source may have stored it
	}
	return refused(err, cal.Origin.From)
}

// noteSignIn stores that an account must be linked again, as a sync would. Its key may have been renewed meanwhile.
func (p *post) noteSignIn(ctx context.Context, account calendar.Account) {
	ctx = context.WithoutCancel(ctx)
	if account.ID == "" {
		return // it is known
	}
	if p.hasAnother(ctx, account) {
		p.hurry(ctx, account.ID)
		return
	}
	now := account
	p.plan(&now, p.Providers[account.Provider], 0, ErrSignIn)
	if _, err := p.Store.SetAccountState(ctx, now, account); err != nil {
		p.Logger.WarnContext(ctx, "cannot store that an account must be linked again", "account", account.ID,
			"error", forLog(err))
	}
}

// refused turns a source's error into an error for the caller.
func refused(err error, from string) error {
	if _, own := errors.AsType[*calendar.Error](err); own {
		return err
	}
	if no, ok := errors.AsType[*Refusal](err); ok {
		return calendar.Errorf(calendar.Forbidden, "", "%s does not accept this: %s", from, why(no))
	}
	if errors.Is(err, ErrFull) {
		e := calendar.Errorf(calendar.Unavailable, calendar.RuleDiskSpace,
			"%s has no room left; nothing was changed here", from)
		e.Hint, e.Cause = "delete something there, then try again", errors.Join(calendar.ErrElsewhere, err)
		return e
	}
	if errors.Is(err, ErrSignIn) {
		e := calendar.Errorf(calendar.Unavailable, "",
			"%s cannot be used now: the account must be linked again", from)
		e.Cause = errors.Join(calendar.ErrElsewhere, err)
		return e
	}
	e := calendar.Errorf(calendar.Unavailable, "", "%s does not answer now; nothing was changed here", from)
	e.Hint, e.Cause = "try again later", errors.Join(calendar.ErrElsewhere, err)
	if later, ok := errors.AsType[*Later](err); ok && later.After > 0 {
		e.Again = later.After
		busy := calendar.Errorf(calendar.Unavailable, "", "%s is busy; nothing was changed here", from)
		e.Message, e.Format = busy.Message, busy.Format
		e.Hint = fmt.Sprintf("try again in %d seconds", int64(math.Ceil(later.After.Seconds())))
	}
	return e
}
