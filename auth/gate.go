package auth

import (
	"context"
	"time"

	"caldav-mcp-server/calendar"
)

// gate bounds how many hashes are computed at once, and how many callers wait in line for their turn:
// each hash takes a core and DefaultCost's memory for tens of milliseconds. A caller who was right before has a gate
// of their own: strangers can neither fill its line nor take its places.
type gate struct {
	line, places chan struct{}
	wait         time.Duration
}

func newGate(line, places int, wait time.Duration) *gate {
	return &gate{line: make(chan struct{}, line), places: make(chan struct{}, places), wait: wait}
}

// do runs work in one of the places. It is Unavailable when the line is full, or does not move.
func (g *gate) do(ctx context.Context, work func() error) error {
	select {
	case g.line <- struct{}{}:
		defer func() { <-g.line }()
	default:
		return errBusy()
	}
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer func() { <-g.places }()
	return work()
}

func (g *gate) enter(ctx context.Context) error {
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.places <- struct{}{}:
		return nil
	case <-timer.C:
		return errBusy()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func errBusy() error {
	return calendar.Errorf(calendar.Unavailable, "", "too many logins at once; try again in a moment")
}
