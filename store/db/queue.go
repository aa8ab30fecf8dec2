package db

import (
	"context"
	"sync"
	"time"
)

// LockWait bounds how long a change waits for others with its key: in this process's queue, and again for the row's
// lock that another process holds.
const LockWait = 5 * time.Second

// queues has a queue for each key that changes of this process wait for. They wait there without a connection. In
// front of the row's lock each would hold one, and a few busy rows would take all connections from everybody else.
type queues struct {
	mu  sync.Mutex
	all map[string]*queue
}

// queue lets the changes with one key through one at a time, first come first served.
type queue struct {
	key string
	// turn is full while a change has its turn.
	turn chan struct{}
	// users counts the change that has its turn and those that wait.
	users int
}

func newQueues() *queues { return &queues{all: map[string]*queue{}} }

// enter waits for the turn at a key. Each enter that succeeds is followed by a leave.
func (q *queues) enter(ctx context.Context, key string) (*queue, error) {
	at := q.join(key)
	patience := time.NewTimer(LockWait)
	defer patience.Stop()
	select {
	case at.turn <- struct{}{}:
		return at, nil
	case <-ctx.Done():
		q.drop(at)
		return nil, ctx.Err()
	case <-patience.C:
		q.drop(at)
		return nil, errLocked
	}
}

func (q *queues) leave(at *queue) {
	<-at.turn
	q.drop(at)
}

func (q *queues) join(key string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.all[key]
	if at == nil {
		at = &queue{key: key, turn: make(chan struct{}, 1)}
		q.all[key] = at
	}
	at.users++
	return at
}

func (q *queues) drop(at *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at.users--; at.users == 0 {
		delete(q.all, at.key)
	}
}
