package store

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// lockWait bounds how long a change waits for others of its calendar: in this process's queue, and again for the row's lock that another
// process holds.
const lockWait = 5 * time.Second

// queues has a queue for each calendar that changes of this process wait for. They wait there without a connection. In front of the row's
// lock each would hold one, and a few busy calendars would take all connections from everybody else.
type queues struct {
	mu  sync.Mutex
	all map[calendar.CalendarID]*queue
}

// queue lets the changes of one calendar through one at a time, first come first served.
type queue struct {
	id calendar.CalendarID
	// turn is full while a change has its turn.
	turn chan struct{}
	// users counts the change that has its turn and those that wait.
	users int
}

func newQueues() *queues { return &queues{all: map[calendar.CalendarID]*queue{}} }

// enter waits for the turn at a calendar. Each enter that succeeds is followed by a leave.
func (q *queues) enter(ctx context.Context, id calendar.CalendarID) (*queue, error) {
	at := q.join(id)
	patience := time.NewTimer(lockWait)
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

func (q *queues) join(id calendar.CalendarID) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.all[id]
	if at == nil {
		at = &queue{id: id, turn: make(chan struct{}, 1)}
		q.all[id] = at
	}
	at.users++
	return at
}

func (q *queues) drop(at *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if at.users--; at.users == 0 {
		delete(q.all, at.id)
	}
}
