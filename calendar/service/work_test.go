package service_test

import (
	"context"
	"iter"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/store"
)

// countingReader is a store that counts how often the state of a calendar is read.
type countingReader struct {
	*store.Store
	reads int
}

func (s *countingReader) At(...calendar.Calendar) calendar.ObjectReader { return s }

func (s *countingReader) Changes(
	ctx context.Context, id calendar.CalendarID, in calendar.VersionRange,
) iter.Seq2[calendar.Object, error] {
	s.reads++
	return s.Store.Changes(ctx, id, in)
}

// TestEveryChangeIsShownToTheImage: whichever way something was changed, who asks next what has
// changed need not read what this process has written.
func TestEveryChangeIsShownToTheImage(t *testing.T) {
	each(t, func(h *house) {
		counting := &countingReader{Store: h.Store}
		h.config.Store = counting
		h.Service = service.New(h.config)
		work := h.calendar(h.alice, "work")
		h.put(h.alice, work, "1.ics", event("one", 2, "dinner"))
		for range 2 { // the first visit makes no image
			h.all(h.Objects(h.ctx, nil, h.alice, h.fresh(h.alice, work), calendar.ObjectQuery{}))
		}
		counting.reads = 0
		for _, step := range []struct {
			name string
			do   func() error
			want string
		}{
			{"put", func() error {
				h.put(h.alice, work, "1.ics", event("one", 3, "lunch"))
				return nil
			}, "1.ics@3"},
			{"move", func() error {
				_, err := h.Move(h.ctx, h.alice, ledger.Transfer{From: work, Name: "1.ics", To: work, As: "2.ics"})
				return err
			}, "-1.ics@4 2.ics@5"},
			{"undo of both", func() error {
				_, err := h.Undo(h.ctx, h.alice, h.latest(h.alice, work).ID())
				return err
			}, "-2.ics@6 1.ics@7"},
			{"property kept", func() error {
				in := calendar.Holder{Place: calendar.AtObject, Calendar: h.fresh(h.alice, work), Object: "1.ics"}
				return h.SetDeadProperties(h.ctx, h.alice, in,
					[]calendar.DeadProperty{{Name: calendar.PropertyName{Local: "x"}, Value: "<x/>"}},
					calendar.Precondition{})
			}, "1.ics@8"},
			{"settings", func() error { return h.MoveCalendar(h.ctx, h.alice, work.ID, "elsewhere") }, ""},
			{"share", func() error {
				_, err := h.Share(h.ctx, h.alice, work.ID, "bob", calendar.ReadAccess)
				return err
			}, ""},
		} {
			before := h.token(h.alice, work)
			h.must(step.do())
			if got := h.changes(h.alice, work, before); got != step.want {
				t.Errorf("%s: the changes are %q, want %q", step.name, got, step.want)
			}
			if counting.reads != 0 {
				t.Errorf("%s: the image was brought up to date from the store", step.name)
			}
			counting.reads = 0
		}
	})
}
