package mailbox

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// TestGuardLeavesTroubleAlone: five failures in a minute have nobody ask for a while, of that user alone; one more has
// it rest again, and an answer ends it. Failures that lie far apart are none of that.
func TestGuardLeavesTroubleAlone(t *testing.T) {
	t.Parallel()
	now := noon
	g := &guard{now: func() time.Time { return now }}
	ask := func(user calendar.UserID, failed bool) *Error {
		if err := g.begin(user); err != nil {
			return err
		}
		g.end(user, failed)
		return nil
	}
	for range failuresMost {
		if err := ask("ann", true); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask("ann", false); err == nil || err.Fault != APIError || err.After != restTime {
		t.Errorf("after five: %+v", err)
	}
	if err := ask("bob", false); err != nil {
		t.Errorf("another user: %v", err)
	}
	now = now.Add(restTime)
	if err := ask("ann", true); err != nil {
		t.Errorf("rested: %v", err)
	}
	if err := ask("ann", true); err == nil {
		t.Error("one more failure, and it is asked on")
	}
	now = now.Add(restTime)
	for range 3 {
		if err := ask("ann", false); err != nil {
			t.Errorf("it answers again: %v", err)
		}
	}
	for range 3 * failuresMost {
		now = now.Add(failuresTime / 2)
		if err := ask("carol", true); err != nil {
			t.Fatalf("failures far apart: %v", err)
		}
	}
}

// TestGuardBounds: a user has so many questions under way, and the guard remembers so many users.
func TestGuardBounds(t *testing.T) {
	t.Parallel()
	now := noon
	g := &guard{now: func() time.Time { return now }}
	for range sideMost {
		if err := g.begin("ann"); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.begin("ann"); err == nil || err.Fault != RateLimited {
		t.Errorf("one more at once: %v", err)
	}
	for i := range 3 * keptUsers {
		id := calendar.UserID(fmt.Sprint(i))
		if err := g.begin(id); err != nil {
			t.Fatal(err)
		}
		g.end(id, false)
		now = now.Add(time.Minute / keptUsers * 2)
	}
	if len(g.of) > keptUsers+1 || g.of["ann"] == nil || g.of["ann"].side != sideMost {
		t.Errorf("%d users are remembered", len(g.of))
	}
}

// stated is an answer with a status.
type stated int

func (s stated) Error() string     { return fmt.Sprint(int(s)) }
func (s stated) AnswerStatus() int { return int(s) }

// TestMeaning: what a source answers, in the words of the contract. Who has gone away is told nothing.
func TestMeaning(t *testing.T) {
	t.Parallel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for name, c := range map[string]struct {
		err    error
		within context.Context
		want   Error
	}{
		"too slow": {
			err: &mirror.Later{}, within: late,
			want: Error{Fault: RateLimited, After: pauseAfterTimeout, trouble: true},
		},
		"too often": {
			err:  &mirror.Later{Cause: stated(429), After: time.Minute},
			want: Error{Fault: RateLimited, Status: 429, After: time.Minute, trouble: true},
		},
		"too often, 403": {
			err: &mirror.Later{Cause: stated(403)}, want: Error{Fault: RateLimited, Status: 403, trouble: true},
		},
		"away": {
			err: &mirror.Later{Cause: stated(502)}, want: Error{Fault: APIError, Status: 502, trouble: true},
		},
		"silent": {err: &mirror.Later{}, want: Error{Fault: APIError, trouble: true}},
		"a key that ended": {
			err: fmt.Errorf("%w. It dies", mirror.ErrSignIn), want: Error{Fault: NotAuthorized, Unlinked: true},
		},
		"refused": {
			err: &mirror.Refusal{Why: "no", Cause: stated(400)}, want: Error{Fault: APIError, Status: 400},
		},
		"too large":      {err: mirror.Refusef("larger than 4 MB"), want: Error{Fault: APIError}},
		"not there":      {err: mirror.ErrGone, want: Error{Fault: APIError, Status: 404}},
		"another status": {err: stated(412), want: Error{Fault: APIError, Status: 412}},
		"nonsense":       {err: errors.New("x"), want: Error{Fault: APIError, trouble: true}},
	} {
		if c.within == nil {
			c.within = t.Context()
		}
		got, is := errors.AsType[*Error](meaning(t.Context(), c.within, c.err))
		if !is || got.Why == "" {
			t.Errorf("%s: %v", name, got)
			continue
		}
		if got.Why = ""; *got != c.want {
			t.Errorf("%s: %+v, want %+v", name, *got, c.want)
		}
	}
	if err := meaning(late, late, &mirror.Later{}); errors.As(err, new(*Error)) {
		t.Errorf("who has gone: %v", err)
	}
	house := calendar.Errorf(calendar.Unavailable, "", "the store is away")
	if err := meaning(t.Context(), t.Context(), house); err != error(house) { // it is the very same
		t.Errorf("the house: %v", err)
	}
}
