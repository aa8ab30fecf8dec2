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
	// leaseName is the lease of the process that looks at accounts, turn how long it has that.
	leaseName = "mirrors"
	turn      = 15 * time.Minute
	// pollEvery is how often there is a look at which accounts are due.
	pollEvery = 15 * time.Second
	// batch is how many accounts are taken at once, side how many are looked at side by side, accountTime is for one.
	batch, side = 16, 4
	accountTime = 3 * time.Minute
	// listEvery is how often there is a look at which calendars an account has.
	listEvery = 24 * time.Hour
	// The pauses after looks that failed grow from the first to the longest; after pausedAfter nobody looks any more.
	firstPause, longestPause = 2 * time.Minute, 24 * time.Hour
	pausedAfter              = 4 * 7 * 24 * time.Hour
)

// Run looks at accounts when they are due, until the context ends.
func (m *Mirror) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	defer func() { _ = m.Store.Release(context.WithoutCancel(ctx), leaseName, m.holder()) }()
	for {
		n, err := m.Round(ctx)
		if err != nil && ctx.Err() == nil {
			m.Logger.WarnContext(ctx, "linked accounts were not looked at", "error", forLog(err))
		}
		if n == batch && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Round looks at the accounts that are due, if no other process is at it, and tells how many it looked at.
func (m *Mirror) Round(ctx context.Context) (int, error) {
	now := m.Now()
	mine, err := m.Store.Lease(ctx, leaseName, m.holder(), now, now.Add(turn))
	if err != nil || !mine {
		return 0, err
	}
	due, err := m.Store.DueAccounts(ctx, now, batch)
	if err != nil {
		return 0, err
	}
	var all sync.WaitGroup
	room := make(chan struct{}, side)
	for _, a := range due {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			if ctx.Err() == nil {
				_, _ = m.visit(ctx, a, false) // the account has what came of it
			}
		})
	}
	all.Wait()
	return len(due), nil
}

// visit looks at all that an account has, and notes when to do so next. Anyone who asks for it has its calendars listed, too.
func (m *Mirror) visit(ctx context.Context, a calendar.Account, list bool) (calendar.Arrived, error) {
	ctx, end := m.Task(ctx, "linked account")
	all, err := m.visitOnce(ctx, a, list)
	end(err != nil, slog.String("provider", a.Provider),
		slog.Int("created", all.Created), slog.Int("modified", all.Modified), slog.Int("deleted", all.Deleted), slog.Int("refused", all.Refused))
	return all, err
}

func (m *Mirror) visitOnce(ctx context.Context, a calendar.Account, list bool) (calendar.Arrived, error) {
	var all looked
	leave, err := m.enter(a.Owner)
	if err != nil {
		return all.Arrived, err
	}
	defer leave()
	// As it is by now: others waited before it. Should the process not live to write down what comes of it, it is not the first again.
	a, err = m.Store.DueAccount(ctx, a.ID, m.Now().Add(firstPause))
	if err != nil {
		return all.Arrived, err
	}
	began := a
	if list && a.Status == calendar.AccountPaused {
		a.Failing = time.Time{} // its owner asks again, and it has as long again
	}
	within, cancel := context.WithTimeout(ctx, accountTime)
	defer cancel()
	a, err = m.followNoted(ctx, a)
	source, provider, opened := m.open(a)
	err = cmp.Or(err, opened)
	if err == nil && (list || m.Now().Sub(a.Listed) > listEvery) {
		if err = m.discover(within, source, a, provider); err == nil {
			a.Listed = m.Now()
		}
	}
	if err == nil {
		all, err = m.visitAll(within, source, a)
	}
	if ctx.Err() != nil {
		return all.Arrived, ctx.Err() // it was told to stop, which is nobody's fault
	}
	if errors.Is(err, ErrSignIn) && m.hasAnother(ctx, a) {
		err = &Later{Why: "its key was renewed while it was looked at; it is tried again"}
	}
	goesOn := (errors.Is(err, context.DeadlineExceeded) || within.Err() != nil) && all.Arrived != (calendar.Arrived{})
	if goesOn {
		err = nil // there is much, which is no fault
	}
	m.plan(&a, provider, all.wait, err)
	if goesOn {
		a.Due = m.Now().Add(time.Minute)
	}
	if err != nil {
		m.Logger.InfoContext(ctx, "a linked account failed", "account", a.ID, "provider", a.Provider, "status", a.Status, "failures", a.Failures, "error", forLog(err))
	}
	if _, failed := m.Store.SetAccountState(ctx, a, began); failed != nil {
		return all.Arrived, failed
	}
	return all.Arrived, err
}

// hasAnother tells whether an account has another secret than it was opened with, of which nothing bad is known yet: its owner, or
// another process, was quicker. One whose fresh key lets nobody in either is known by its failure the next time.
func (m *Mirror) hasAnother(ctx context.Context, a calendar.Account) bool {
	now, err := m.Store.Account(ctx, a.ID)
	return err == nil && now.Failures == 0 && !bytes.Equal(now.Secret, a.Secret)
}

// visitAll looks at each calendar of an account. One that fails does not keep the others back, unless that is the
// account's fault.
func (m *Mirror) visitAll(ctx context.Context, source Source, a calendar.Account) (all looked, err error) {
	mirrors, err := m.Store.Mirrors(ctx, a.ID)
	if err != nil {
		return all, err
	}
	// The one that has waited for longest comes first. A large one keeps no other back, and gets on by a page at least.
	slices.SortStableFunc(mirrors, func(a, b calendar.Mirror) int { return a.Checked.Compare(b.Checked) })
	each := max(accountTime/time.Duration(max(len(mirrors), 1)), accountTime/6)
	var failed error
	good, away := 0, 0
	for _, one := range mirrors {
		done, err := m.lookFor(ctx, each, source, a, one.Calendar)
		all.Add(done.Arrived)
		all.wait = max(all.wait, done.wait)
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
		failed = nil // it is the fault of one calendar, which has it
	}
	return all, failed
}

// lookFor looks at a calendar for so long.
func (m *Mirror) lookFor(ctx context.Context, d time.Duration, source Source, a calendar.Account, id calendar.CalendarID) (looked, error) {
	within, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	done, err := m.lookWith(within, source, a, id, false)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("looking for %s: %w", d, context.DeadlineExceeded) // its own time is over, not the account's
	}
	return done, err
}

// plan says when an account is looked at next, and how it stands with it.
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

// jittered is a time, a tenth more or less, by what it is for: what begins together does not stay together.
func jittered(d time.Duration, by string) time.Duration {
	sum := sha256.Sum256([]byte(by))
	return d*9/10 + d*time.Duration(sum[0])/(5*256)
}

// hurry has an account looked at as soon as may be.
func (m *Mirror) hurry(ctx context.Context, id calendar.AccountID) {
	if _, err := m.Store.DueAccount(ctx, id, m.Now()); err != nil {
		m.Logger.WarnContext(ctx, "an account is not looked at at once", "account", id, "error", forLog(err))
	}
}

// toldMost bounds what is remembered of an error.
const toldMost = 500

// Told is an error of a source as the account's owner reads it.
func Told(err error) string {
	text := "it does not answer, or not in a way that is understood"
	switch {
	case errors.Is(err, ErrSignIn):
		text = "the account does not let us in any more: link it again"
	case errors.Is(err, ErrGone):
		text = "the calendar is there no more; what it last held stays here"
	case errors.Is(err, context.DeadlineExceeded):
		text = "it takes too long to answer; the next look goes on where this one ended"
	}
	if later, ok := errors.AsType[*Later](err); ok {
		text = later.Error()
	}
	if no, ok := errors.AsType[*Refusal](err); ok {
		text = no.Why
	}
	if own, ok := errors.AsType[*calendar.Error](err); ok {
		text = own.Error()
	}
	return strings.ToValidUTF8(text[:min(len(text), toldMost)], "")
}

// forLog is an error as others than the owner read it: nothing that a source said stands in it.
func forLog(err error) string {
	for _, known := range []error{ErrSignIn, ErrGone, ErrConflict, ErrExpired} {
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
