package meter_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"caldav-mcp-server/calendar/meter"
)

const mib = 1 << 20

func newPool(c meter.Config) *meter.Pool {
	c.Wait, c.Line, c.Turns = time.Minute, max(c.Line, 10), 1
	return meter.NewPool(c)
}

func overrun(t *testing.T, err error, of meter.Resource) {
	t.Helper()
	var o *meter.OverrunError
	if !errors.As(err, &o) || o.Of != of {
		t.Fatalf("%v, want an overrun of %s", err, of)
	}
}

func held(t *testing.T, m *meter.Meter, bytes int64) {
	t.Helper()
	if err := m.Hold(bytes); err != nil {
		t.Fatal(err)
	}
}

func TestEachResourceHasAnEnd(t *testing.T) {
	t.Parallel()
	p := newPool(meter.Config{
		Bytes: 8 * mib, Limits: meter.Limits{Held: 4 * mib, Written: 10, Instances: 3, Steps: 5000},
	})
	m := p.Meter(t.Context(), "a")
	for of, take := range map[meter.Resource]func() error{
		meter.Held:      func() error { return m.Hold(3 * mib) },
		meter.Written:   func() error { return m.Write(7) },
		meter.Instances: func() error { return m.Instance(2) },
		meter.Steps:     func() error { return m.Work(3000) },
	} {
		if err := take(); err != nil {
			t.Fatalf("%s: %v", of, err)
		}
		overrun(t, take(), of)
	}
	if m.Held() != 3*mib {
		t.Errorf("%d bytes held: what was refused is counted", m.Held())
	}
	m.Close()
	if p.Used() != 0 {
		t.Errorf("%d bytes are still drawn", p.Used())
	}
}

// TestUsualRequestsNeverAskThePool: they are answered while it is empty.
func TestUsualRequestsNeverAskThePool(t *testing.T) {
	t.Parallel()
	p := newPool(meter.Config{Bytes: mib})
	large := p.Meter(t.Context(), "a")
	held(t, large, mib)
	defer large.Close()
	for range 100 {
		held(t, p.Meter(t.Context(), "b"), 256<<10)
	}
}

// TestWhoWaitsForRoom gets it when another one is done, and is told when that takes too long, or the line is too long.
func TestWhoWaitsForRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(meter.Config{Bytes: 4 * mib, Line: 10})
		first := p.Meter(t.Context(), "a")
		held(t, first, 4*mib)
		answered := make(chan error)
		for range 10 {
			go func() {
				m := p.Meter(t.Context(), "b")
				defer m.Close()
				answered <- m.Hold(3 * mib)
			}()
		}
		synctest.Wait()
		overrun(t, p.Meter(t.Context(), "c").Hold(3*mib), meter.Room)
		first.Close()
		for range 10 {
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		held(t, first, 4*mib)
		start := time.Now()
		overrun(t, p.Meter(t.Context(), "b").Hold(3*mib), meter.Room)
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("waited for %s", waited)
		}
	})
}

// TestWhoHoldsAndWaitsBlocksNobody: all have a part of what there is, and all want more.
func TestWhoHoldsAndWaitsBlocksNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(meter.Config{Bytes: 8 * mib, Limits: meter.Limits{Held: 6 * mib}})
		meters := make([]*meter.Meter, 8)
		for i := range meters {
			meters[i] = p.Meter(t.Context(), strconv.Itoa(i))
			held(t, meters[i], mib+256<<10)
		}
		var all sync.WaitGroup
		for _, m := range meters {
			all.Go(func() {
				defer m.Close()
				for range 4 {
					if err := m.Hold(mib); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if p.Used() != 0 {
			t.Errorf("%d bytes are still drawn", p.Used())
		}
	})
}

// TestOneUserLeavesRoomForOthers: half of the pool is the most that those who have just come get for one user.
func TestOneUserLeavesRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(meter.Config{Bytes: 8 * mib})
		ctx, cancel := context.WithCancel(t.Context())
		held(t, p.Meter(ctx, "greedy"), 4*mib)
		waiting := make(chan error)
		go func() { waiting <- p.Meter(ctx, "greedy").Hold(mib) }()
		synctest.Wait()
		go func() { waiting <- p.Meter(ctx, "greedy").Hold(2 * mib) }()
		synctest.Wait()
		other := p.Meter(t.Context(), "modest")
		go func() { waiting <- other.Hold(3 * mib) }()
		if err := <-waiting; err != nil || other.Held() == 0 {
			t.Fatalf("the other one waits behind the greedy: %v", err)
		}
		other.Close()
		cancel()
		for range 2 {
			if err := <-waiting; !errors.Is(err, context.Canceled) {
				t.Errorf("%v, want the end of who has gone", err)
			}
		}
	})
}

// TestLongWorkTakesTurns: one long request does not keep another from its end, and who has gone does no more.
func TestLongWorkTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(meter.Config{Bytes: mib})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		for range 3 {
			go func() {
				m := p.Meter(ctx, "endless")
				defer m.Close()
				for {
					if err := m.Work(100); err != nil {
						ended <- err
						return
					}
				}
			}()
		}
		m := p.Meter(t.Context(), "long")
		for range 10_000 {
			if err := m.Work(100); err != nil {
				t.Fatal(err)
			}
		}
		m.Rest()
		cancel()
		for range 3 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		m.Close()
	})
}

// TestPoolKeepsItsSize: whatever many requests do at once, they never hold more than the pool and one request's limit.
func TestPoolKeepsItsSize(t *testing.T) {
	t.Parallel()
	p := meter.NewPool(meter.Config{
		Bytes: 8 * mib, Turns: 2, Wait: time.Minute, Line: 100, Limits: meter.Limits{Held: 4 * mib},
	})
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			for range 50 {
				m := p.Meter(t.Context(), strconv.Itoa(i%3))
				for range 4 {
					if err := m.Hold(rand.Int64N(mib)); err != nil {
						t.Error(err)
					}
					if used := p.Used(); used > 12*mib {
						t.Errorf("%d bytes drawn", used)
					}
					_ = m.Work(rand.Int64N(200_000))
					m.Free(m.Held() / 2)
				}
				m.Close()
			}
		})
	}
	all.Wait()
	if p.Used() != 0 {
		t.Errorf("%d bytes are still drawn", p.Used())
	}
}

// TestNoMeter: the operator's commands have none.
func TestNoMeter(t *testing.T) {
	t.Parallel()
	var m *meter.Meter
	if err := errors.Join(m.Hold(1<<40), m.Write(1<<40), m.Instance(1<<40), m.Work(1<<40), m.Text(1<<30)); err != nil {
		t.Error(err)
	}
	m.Free(1)
	m.Rest()
	m.Close()
}
