package mirror

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// leaseName is the lease of the process that syncs accounts. It is taken when accounts are due, for one round.
	leaseName = "mirrors"
	// pollEvery is how often the process looks for due accounts.
	pollEvery = 15 * time.Second
	// batch is how many accounts one round takes, side how many are synced in parallel, accountTime is the limit for
	// each.
	batch, side = 16, 4
	accountTime = 3 * time.Minute
	// listEvery is how often an account's calendars are listed again.
	listEvery = 24 * time.Hour
	// Pauses after failed syncs grow from firstPause to longestPause. After pausedAfter, syncs stop.
	firstPause, longestPause = 2 * time.Minute, 24 * time.Hour
	pausedAfter              = 4 * 7 * 24 * time.Hour
	// secondLook is when an account whose listing lacks most of its objects is listed again. After ten minutes, the
	// ledger may delete them.
	secondLook = 11 * time.Minute
)

// Run syncs accounts when they are due, until the context ends.
func (m *Mirror) Run(ctx context.Context) {
	for {
		n, err := m.Round(ctx)
		if err != nil && ctx.Err() == nil {
			m.Logger.WarnContext(ctx, "linked accounts were not synced", "error", forLog(err))
		}
		if n == batch && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-time.After(calendar.UntilNext(m.Now(), pollEvery)):
		case <-ctx.Done():
			return
		}
	}
}

// Round syncs the accounts that are due, unless another process does so, and returns how many it synced.
func (m *Mirror) Round(ctx context.Context) (int, error) {
	due, err := m.Store.DueAccounts(ctx, m.Now(), 1)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	l, mine, err := m.tryHold(ctx, leaseName)
	if err != nil || !mine {
		return 0, err
	}
	defer l.Release(ctx)
	if due, err = m.Store.DueAccounts(ctx, m.Now(), batch); err != nil { // another process may have synced some
		return 0, err
	}
	var all sync.WaitGroup
	room := make(chan struct{}, side)
	for _, a := range due {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if ctx.Err() == nil {
				_, _ = m.visit(ctx, a, false) // the result is stored in the account
			}
		})
	}
	all.Wait()
	return len(due), nil
}

// visit syncs everything in an account and schedules the next sync. With list it also lists the account's calendars;
// callers set it when a user asks.
func (m *Mirror) visit(ctx context.Context, a calendar.Account, list bool) (calendar.Arrived, error) {
	ctx, end := m.Task(ctx, "linked account")
	all, err := m.visitOnce(ctx, a, list)
	end(err != nil, slog.String("provider", a.Provider),
		slog.Int("created", all.Created), slog.Int("modified", all.Modified), slog.Int("deleted", all.Deleted),
		slog.Int("refused", all.Refused))
	return all, err
}

func (m *Mirror) visitOnce(ctx context.Context, a calendar.Account, list bool) (calendar.Arrived, error) {
	var all looked
	leave, err := m.enter(a.Owner)
	if err != nil {
		return all.Arrived, err
	}
	defer leave()
	// Read the account again: earlier accounts took time. Its due time moves on first, so that an account which crashes
	// the process is not the first one again.
	a, err = m.Store.DueAccount(ctx, a.ID, m.Now().Add(firstPause))
	if err != nil {
		return all.Arrived, err
	}
	began := a
	if list && a.Status == calendar.AccountPaused {
		a.Failing = time.Time{} // its owner asks again, so the time until a pause restarts
	}
	within, cancel := context.WithTimeout(ctx, accountTime)
	defer cancel()
	a, err = m.followNoted(ctx, a)
	source, provider, opened := m.open(a)
	err = cmp.Or(err, opened)
	if err == nil && m.spent(a.Owner, m.Now(), provider.Budget) {
		m.postpone(&a)
		_, err := m.Store.SetAccountState(ctx, a, began)
		return all.Arrived, cmp.Or(err, error(errSpent))
	}
	if err == nil && (list || m.Now().Sub(a.Listed) > listEvery) {
		if err = m.discover(within, source, a, provider); err == nil {
			a.Listed = m.Now()
		}
	}
	if err == nil {
		all, err = m.visitAll(within, source, a)
	}
	m.spend(a.Owner, m.Now(), all, provider.Feed)
	if ctx.Err() != nil {
		return all.Arrived, ctx.Err() // shutdown is no failure of the account
	}
	if errors.Is(err, ErrSignIn) && m.hasAnother(ctx, a) {
		err = &Later{Why: "the account's key was renewed during the sync; it will be tried again"}
	}
	goesOn := (errors.Is(err, context.DeadlineExceeded) || within.Err() != nil) && all.Arrived != (calendar.Arrived{})
	if goesOn {
		err = nil // much data is no failure
	}
	m.plan(&a, provider, all.wait, err)
	churns := 0
	if provider.Feed && err == nil {
		churns = m.churn(a.ID, all)
		m.slowDown(&a, churns)
	}
	if all.Missing > 0 && churns < 2 {
		a.Due = earlier(a.Due, m.Now().Add(secondLook))
	}
	if goesOn {
		a.Due = m.Now().Add(time.Minute)
	}
	if err != nil {
		m.Logger.InfoContext(ctx, "a linked account failed", "account", a.ID, "provider", a.Provider, "status",
			a.Status, "failures", a.Failures, "error", forLog(err))
	}
	if _, failed := m.Store.SetAccountState(ctx, a, began); failed != nil {
		return all.Arrived, failed
	}
	return all.Arrived, err
}

// hasAnother reports whether an account now has a secret other than the one it was opened with, without a known
// failure: its owner or another process was faster. If the new key fails too, the next sync records it.
func (m *Mirror) hasAnother(ctx context.Context, a calendar.Account) bool {
	now, err := m.Store.Account(ctx, a.ID)
	return err == nil && now.Failures == 0 && !bytes.Equal(now.Secret, a.Secret)
}

// visitAll syncs each calendar of an account. If one fails, the others continue, unless the failure concerns the whole
// account.
func (m *Mirror) visitAll(ctx context.Context, source Source, a calendar.Account) (all looked, err error) {
	mirrors, err := m.Store.Mirrors(ctx, a.ID)
	if err != nil {
		return all, err
	}
	// The calendar that has waited longest comes first. A large one advances by at least a page and cannot starve the
	// others.
	slices.SortStableFunc(mirrors, func(a, b calendar.Mirror) int { return a.Checked.Compare(b.Checked) })
	each := max(accountTime/time.Duration(max(len(mirrors), 1)), accountTime/6)
	var failed error
	good, away := 0, 0
	for _, one := range mirrors {
		done, err := m.lookFor(ctx, each, source, a, one.Calendar)
		all.add(done)
		if err == nil {
			good++
			continue
		}
		failed = err
		if noted := m.Store.SetMirrorError(ctx, one.Calendar, Told(err)); noted != nil {
			return all, noted
		}
		if _, later := errors.AsType[*Later](err); later {
			away++
		}
		if away > good+1 || errors.Is(err, ErrSignIn) || ctx.Err() != nil {
			return all, failed
		}
	}
	if good > 0 && !errors.Is(failed, context.DeadlineExceeded) {
		failed = nil // only this calendar failed, and it has the error
	}
	return all, failed
}

// lookFor syncs a calendar with a time limit.
func (m *Mirror) lookFor(
	ctx context.Context, d time.Duration, source Source, a calendar.Account, id calendar.CalendarID,
) (looked, error) {
	within, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	done, err := m.lookWith(within, source, a, id, false)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("looking for %s: %w", d, context.DeadlineExceeded) // its own time is over, not the account's
	}
	return done, err
}

// plan sets an account's state and the time of its next sync.
func (m *Mirror) plan(a *calendar.Account, p Provider, wait time.Duration, err error) {
	now := m.Now()
	every := a.Every
	if every == 0 {
		every = wait
	}
	if every == 0 {
		every = p.Every
	}
	every = max(every, p.Least, time.Minute)
	if err == nil {
		a.Status, a.Error, a.Failures, a.Failing, a.Checked = calendar.AccountGood, "", 0, time.Time{}, now
		a.Due = now.Add(jittered(every, string(a.ID)+now.String()))
		return
	}
	a.Failures++
	if a.Failing.IsZero() {
		a.Failing = now
	}
	a.Status, a.Error = calendar.AccountFailed, Told(err)
	pause := min(firstPause<<min(a.Failures-1, 12), longestPause)
	if later, ok := errors.AsType[*Later](err); ok {
		pause = max(pause, min(later.After, longestPause))
	}
	a.Due = now.Add(jittered(pause, string(a.ID)+now.String()))
	switch {
	case errors.Is(err, ErrSignIn):
		a.Status = calendar.AccountSignIn
	case now.Sub(a.Failing) > pausedAfter:
		a.Status = calendar.AccountPaused
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// jittered varies a duration by up to a tenth, as a function of by, so that accounts do not stay in step.
func jittered(d time.Duration, by string) time.Duration {
	sum := sha256.Sum256([]byte(by))
	return d*9/10 + d*time.Duration(sum[0])/(5*256)
}

// hurry schedules a sync of an account as soon as possible.
func (m *Mirror) hurry(ctx context.Context, id calendar.AccountID) {
	if _, err := m.Store.DueAccount(ctx, id, m.Now()); err != nil {
		m.Logger.WarnContext(ctx, "cannot schedule the sync of an account", "account", id, "error", forLog(err))
	}
}

// toldMost bounds the stored text of an error, in bytes.
const toldMost = 500

// Told formats a source's error for the account's owner.
func Told(err error) string {
	return short(why(err).Error())
}

// short cuts a source's text, which may be of any length and in any encoding.
func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), toldMost)], "") }

// why describes a source's error for the account's owner. Pages translate the description.
func why(err error) *calendar.Error {
	text := "it does not respond, or its response is not understood"
	switch {
	case errors.Is(err, ErrSignIn):
		text = "the account no longer lets us sign in and must be linked again"
	case errors.Is(err, ErrGone):
		text = "the calendar no longer exists there; the events from the last sync stay here"
	case errors.Is(err, ErrFull):
		text = "there is no room left there"
	case errors.Is(err, context.DeadlineExceeded):
		text = "it takes too long to respond; the next sync continues where this one ended"
	}
	if later, ok := errors.AsType[*Later](err); ok {
		text = later.Error()
	}
	if own, ok := errors.AsType[*calendar.Error](err); ok {
		return own
	}
	e := calendar.Errorf(calendar.Invalid, "", "%s", short(text))
	e.Format, e.Args = text, nil
	if no, ok := errors.AsType[*Refusal](err); ok {
		e.Message, e.Format, e.Args = short(no.Why), no.Format, no.Args
	}
	return e
}

// forLog formats an error for the log, without any text from a source.
func forLog(err error) string {
	for _, known := range []error{ErrSignIn, ErrGone, ErrFull, ErrConflict, ErrExpired} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if own, ok := errors.AsType[*calendar.Error](err); ok {
		return own.Reason.String()
	}
	if _, ok := errors.AsType[*Refusal](err); ok {
		return "it was refused"
	}
	if later, ok := errors.AsType[*Later](err); ok && later.Cause != nil {
		return fmt.Sprintf("it does not answer: %v", later.Cause)
	}
	if _, ok := errors.AsType[*Later](err); ok {
		return "it does not answer"
	}
	return fmt.Sprintf("%T", err)
}
