package db

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestQueueIsInOrder: changes get their turns in order of arrival, one at a time. One that gives up leaves the
// queue, and an empty queue takes no memory.
func TestQueueIsInOrder(t *testing.T) {
	t.Parallel()
	q := newQueues()
	first, err := q.enter(t.Context(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	var all sync.WaitGroup
	gone, leaveIt := context.WithCancel(t.Context())
	for i := range 10 {
		ctx := t.Context()
		if i == 5 {
			ctx = gone
		}
		all.Go(func() {
			at, err := q.enter(ctx, "busy")
			if err != nil {
				return
			}
			got = append(got, i)
			q.leave(at)
		})
		for q.users("busy") != i+2 {
			runtime.Gosched()
		}
		// A goroutine that has joined may still be on its way to wait.
		time.Sleep(time.Millisecond)
	}
	leaveIt()
	for q.users("busy") != 10 {
		runtime.Gosched()
	}
	if other, err := q.enter(t.Context(), "other"); err != nil {
		t.Error(err)
	} else {
		q.leave(other)
	}
	q.leave(first)
	all.Wait()
	if diff := cmp.Diff([]int{0, 1, 2, 3, 4, 6, 7, 8, 9}, got); diff != "" {
		t.Error(diff)
	}
	if len(q.all) > 0 {
		t.Errorf("%d queues are left", len(q.all))
	}
}

// users counts the changes at a key.
func (q *queues) users(key string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at := q.all[key]; at != nil {
		return at.users
	}
	return 0
}

// TestQueueIsFinite: a change whose turn does not come in time gets an error.
func TestQueueIsFinite(t *testing.T) {
	t.Parallel()
	q := newQueues()
	q.patience = time.Millisecond
	first, err := q.enter(t.Context(), "busy")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.enter(t.Context(), "busy"); !errors.Is(err, errLocked) {
		t.Errorf("got error %v", err)
	}
	q.leave(first)
	if len(q.all) > 0 {
		t.Errorf("%d queues are left", len(q.all))
	}
}
