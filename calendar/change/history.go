package change

import (
	"context"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// trimTime limits the removal of old history, which a request waits for.
const trimTime = time.Minute

// histories counts how much history this process has written for users with a quota, since it last trimmed theirs. So a
// change costs nothing, and a user who writes much waits for the removal of old history from time to time.
type histories struct {
	mu    sync.Mutex
	grown map[calendar.UserID]int64
}

// add counts history of a user. It reports whether the history must be trimmed now.
func (h *histories) add(user calendar.UserID, bytes, most int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.grown[user] += bytes; h.grown[user] < most {
		return false
	}
	delete(h.grown, user)
	return true
}

// trimHistory removes old history of the owners of changed calendars, if they have much. An error leaves it to the next
// change or to the daily pruning.
func (w *Tx) trimHistory(ctx context.Context) {
	for _, cal := range w.Locked {
		q := cal.OwnerQuota.Under(w.writer.reader.Policy().Quota)
		if cal.replaced == 0 || q.Bytes == 0 {
			continue
		}
		step, most := q.History()
		if !w.writer.histories.add(cal.Owner, cal.replaced, step) {
			continue
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), trimTime)
		if w.writer.store.TrimHistory(within, cal.Owner, most) != nil {
			w.writer.histories.add(cal.Owner, step-1, step)
		}
		cancel()
	}
}
