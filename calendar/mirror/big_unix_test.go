//go:build unix

package mirror_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/internal/slowtest"
)

// many is a source with a page of many objects.
type many struct {
	*model
	objects []mirror.Object
}

func (m many) Changes(_ context.Context, _, cursor string) (mirror.Changes, error) {
	if cursor != "" {
		return mirror.Changes{Cursor: cursor}, nil
	}
	return mirror.Changes{Objects: m.objects, Whole: true, Cursor: "1"}, nil
}

// TestMany mirrors ten thousand events in less than a minute of the processor's time; a look at nothing new takes less
// than 5 ms of it. What a Postgres takes beside us is not counted.
func TestMany(t *testing.T) {
	slowtest.Skip(t, slowtest.Big, "mirrors ten thousand events")
	each(t, func(h *house) {
		source := many{model: h.model}
		for i := range 10_000 {
			uid := fmt.Sprintf("uid-%d", i)
			source.objects = append(source.objects,
				mirror.Object{Ref: uid, Version: "1", UID: uid, Data: []byte(event(uid, "x"))})
		}
		h.provided = func(mirror.Opening) (mirror.Source, error) { return source, nil }
		h.open()
		before := processor()
		h.link()
		for range 10 {
			h.must(h.refresh())
		}
		first := processor() - before
		before = processor()
		const looks = 100
		for range looks {
			h.Pass(2 * time.Hour)
			if n, err := h.Mirrors.Round(h.ctx); err != nil || n != 1 {
				h.t.Fatalf("%d accounts were looked at, %v", n, err)
			}
		}
		look := (processor() - before) / looks
		h.t.Logf("first %v, a look %v", first, look)
		if first > time.Minute || look > 5*time.Millisecond {
			h.t.Errorf("the first look took %v, one at nothing new %v", first, look)
		}
	})
}

// processor is the time that this process has taken.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
