package service_test

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/store"
)

// slowReader is a store that is read so slowly that others write meanwhile: once, after the first
// row of the first page of changes.
type slowReader struct {
	*store.Store
	once      sync.Once
	meanwhile func()
}

func (s *slowReader) Changes(
	ctx context.Context, id calendar.CalendarID, in calendar.VersionRange,
) iter.Seq2[calendar.Object, error] {
	return func(yield func(calendar.Object, error) bool) {
		for o, err := range s.Store.Changes(ctx, id, in) {
			s.once.Do(s.meanwhile)
			if !yield(o, err) {
				return
			}
		}
	}
}

// TestImageOfACalendarThatChangesMeanwhile: what is deleted or changed on the first page while the
// later ones are read is in the image once, as it is then, or not at all.
func TestImageOfACalendarThatChangesMeanwhile(t *testing.T) {
	eachWithProcesses(t, 0, func(p *processes) {
		var drafts []calendar.Draft
		for n := range 600 { // more than a page
			uid := fmt.Sprintf("event-%03d", n)
			drafts = append(drafts,
				calendar.Draft{Name: calendar.ObjectName(uid + ".ics"), Data: []byte(event(uid, 5, "first"))})
		}
		for _, d := range drafts {
			_, err := p.plain.Put(p.t.Context(), p.alice, p.at(p.plain), d)
			p.must(err)
		}
		s := service.New(service.Config{
			Limits: calendar.DefaultLimits(), Now: time.Now, ImageBytes: 1 << 22, NewID: func() string {
				return "unused"
			},
			Store: &slowReader{Store: p.store, meanwhile: func() {
				p.must(p.plain.Delete(p.t.Context(), p.alice, p.at(p.plain), "event-001.ics", calendar.Precondition{}))
				_, err := p.plain.Put(p.t.Context(), p.alice, p.at(p.plain), calendar.Draft{
					Name: "event-002.ics", Data: []byte(event("event-002", 6, "second")),
				})
				p.must(err)
			}},
		})
		for range 2 { // the first visit makes no image
			told(s.Objects(p.t.Context(), nil, p.alice, p.at(s), calendar.ObjectQuery{}))
		}
		p.compare(s)
	})
}
