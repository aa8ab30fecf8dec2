package service_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"caldav-mcp-server/calendar"
)

// bulky is an event of 300 kB that no compression makes smaller.
func bulky(uid string, seed uint64) string {
	random, text := rand.New(rand.NewPCG(seed, 1)), make([]byte, 225_000)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return event(uid, 1, base64.StdEncoding.EncodeToString(text))
}

// kept is the size of the texts in a calendar's journal, and their number.
func (h *house) kept(cal calendar.Calendar) (bytes, texts int) {
	h.t.Helper()
	for e, err := range h.Store.Journal(h.ctx, cal.ID, calendar.JournalQuery{Until: 1 << 40, WithBefore: true}) {
		h.must(err)
		if e.Before != nil {
			bytes, texts = bytes+len(e.Before), texts+1
		}
	}
	return bytes, texts
}

// TestHistoryWithinQuota: a user with a quota cannot fill the disk with history (security F4): not by overwriting one
// object, nor by deleting objects, nor from several apps at once. The latest changes can be undone, and an older one
// says that its state is gone.
func TestHistoryWithinQuota(t *testing.T) {
	each(t, func(h *house) {
		h.within(calendar.Quota{Bytes: 1 << 20})
		cal := h.calendar(h.alice, "work")
		first := h.put(h.alice, cal, "a.ics", bulky("a", 0))
		h.put(h.alice, cal, "a.ics", bulky("a", 1))
		old := h.latest(h.alice, cal)
		var all sync.WaitGroup
		for app := range 3 {
			all.Go(func() {
				for i := range 12 {
					_, err := h.Put(h.ctx, h.alice, cal,
						calendar.Draft{Name: "a.ics", Data: []byte(bulky("a", uint64(100*app+i)))})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got, _ := h.kept(cal); got > 6<<20 || got < 2<<20 {
			t.Errorf("of 11 MB of history, %d bytes are kept", got)
		}
		if _, err := h.Undo(h.ctx, h.alice, old.ID()); calendar.ReasonOf(err) == calendar.Internal {
			t.Errorf("an old change is undone, or not understood: %v", err)
		}
		before := string(h.latestBefore(cal))
		h.undo(h.alice, h.latest(h.alice, cal).ID())
		if got := h.content(h.alice, cal)["a.ics"]; got != before || got == string(first.Object.Data) {
			t.Error("the latest change is not undone")
		}
		h.must(h.Delete(h.ctx, h.alice, cal, "a.ics", calendar.Precondition{}))
		for i := range 24 {
			name := fmt.Sprintf("b%d", i)
			h.put(h.alice, cal, calendar.ObjectName(name+".ics"), bulky(name, uint64(i)))
			h.must(h.Delete(h.ctx, h.alice, cal, calendar.ObjectName(name+".ics"), calendar.Precondition{}))
		}
		if got, texts := h.kept(cal); got > 3<<20 || texts == 0 {
			t.Errorf("of the deleted events, %d bytes are kept, twice", got)
		}
		listed := 0
		for e, err := range h.Store.Deletions(h.ctx, cal.ID) {
			h.must(err)
			if listed++; listed == 1 {
				_, err = h.RestoreDeleted(h.ctx, h.alice, cal, e.UID)
				h.must(err)
			}
		}
		if _, texts := h.kept(cal); listed > texts {
			t.Errorf("the trash lists %d events, and %d have a text", listed, texts)
		}
		_, err := h.RestoreDeleted(h.ctx, h.alice, cal, "b0")
		if calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("an event that is gone is restored: %v", err)
		}
		if got, size := h.used(h.alice), int64(len(bulky("b23", 23))); got.Bytes != size {
			t.Errorf("the usage is %d, want %d without the history", got.Bytes, size)
		}
	})
}

// latestBefore is the state before the latest change.
func (h *house) latestBefore(cal calendar.Calendar) []byte {
	h.t.Helper()
	for e, err := range h.Store.Journal(h.ctx, cal.ID, calendar.JournalQuery{Until: 1 << 40, WithBefore: true}) {
		h.must(err)
		return e.Before
	}
	return nil
}
