package db

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestQueueIsInOrder: changes have their turns in the order in which they came, one at a time. One that gives up leaves
// its place, and a queue that is empty takes no memory.
func TestQueueIsInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		first, err := q.enter(t.Context(), "busy")
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		gone, leave := context.WithCancel(t.Context())
		for i := range 10 {
			ctx := t.Context()
			if i == 5 {
				ctx = gone
			}
			go func() {
				at, err := q.enter(ctx, "busy")
				if err != nil {
					return
				}
				got = append(got, i)
				q.leave(at)
			}()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		if other, err := q.enter(t.Context(), "other"); err != nil {
			t.Error(err)
		} else {
			q.leave(other)
		}
		q.leave(first)
		synctest.Wait()
		if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 6, 7, 8, 9}, got); diff != "" {
			t.Error(diff)
		}
		if len(q.all) > 0 {
			t.Errorf("%d queues are left", len(q.all))
		}
	})
}

// TestQueueIsFinite: a change whose turn does not come in time is told so.
func TestQueueIsFinite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueues()
		first, err := q.enter(t.Context(), "busy")
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := q.enter(t.Context(), "busy"); !errors.Is(err, errLocked) || time.Since(began) != LockWait {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		q.leave(first)
		if len(q.all) > 0 {
			t.Errorf("%d queues are left", len(q.all))
		}
	})
}
