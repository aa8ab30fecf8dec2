package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/web/booking"
)

// diary is a source with one calendar that can be written.
type diary struct {
	mu      sync.Mutex
	objects map[string]mirror.Object
	writes  int
	// refuses is the error of each write, before the diary stores it; forgets is the error after it.
	refuses, forgets error
	// away is the error of each reading; writing is called before each write.
	away    error
	writing func()
}

// Calendars implements [mirror.Source].
func (*diary) Calendars(context.Context) ([]mirror.Remote, error) {
	return []mirror.Remote{{ID: "d", Name: "Diary", Writable: true, Address: "ann@diary.example", Own: true}}, nil
}

// Changes implements [mirror.Source].
func (d *diary) Changes(context.Context, string, string) (mirror.Changes, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c := mirror.Changes{Cursor: "end", Whole: true}
	for _, o := range d.objects {
		c.Objects = append(c.Objects, o)
	}
	return c, d.away
}

// Put implements [mirror.Source].
func (d *diary) Put(_ context.Context, _ string, o mirror.Object) (mirror.Object, error) {
	if do := d.writing; do != nil {
		d.writing = nil
		do()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if d.refuses != nil {
		return o, d.refuses
	}
	if o.Ref == "" {
		o.Ref = o.UID
	}
	o.Version = fmt.Sprint(d.writes)
	d.objects[o.Ref] = o
	o.Data = nil
	return o, d.forgets
}

// Delete implements [mirror.Source].
func (d *diary) Delete(_ context.Context, _ string, o mirror.Object) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuses != nil {
		return d.refuses
	}
	delete(d.objects, o.Ref)
	return nil
}

// starts lists the events of the diary, with their guests.
func (d *diary) starts() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []string
	for _, o := range d.objects {
		_, text, _ := strings.Cut(strings.ReplaceAll(string(o.Data), "\r\n ", ""), "BEGIN:VEVENT")
		for _, name := range []string{"DTSTART", "ATTENDEE"} {
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, name) {
					list = append(list, strings.TrimSpace(line[strings.LastIndex(line, ":")+1:]))
				}
			}
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// linkDiary links a diary for ann, whose page books into it.
func (h *house) linkDiary(s *booking.Service, change func(*rules.Settings)) (*diary, booking.View, calendar.Calendar) {
	h.Helper()
	d := &diary{objects: map[string]mirror.Object{}}
	m := s.Calendars.Mirrors
	m.Sealer = sealer{vault.New(vault.Given([]vault.Key{vault.NewKey()}))}
	m.Providers = map[string]mirror.Provider{"diary": {
		Title: "Diary", Every: time.Hour, Notifies: true, Address: func(mirror.Secret) string { return "diary" },
		Open: func(mirror.Opening) (mirror.Source, error) { return d, nil },
	}}
	v, work := h.host(s, nil)
	account, _, err := m.Link(h.Context(), callerOf(v.Owner), mirror.NewAccount{
		Provider: "diary", Name: "Secret diary", Secret: mirror.Secret{Password: "x"},
	})
	h.must(err)
	v.Calendar = string(account.Calendars[0].ID)
	if change != nil {
		change(&v.Settings)
	}
	_, err = s.Save(h.Context(), v.Owner, v)
	h.must(err)
	return d, v, work
}

// A booking is written to a linked calendar. Its hold, and the time while it is written, are only here.
func TestBookingIntoALinkedCalendar(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		d, v, work := h.linkDiary(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		link := l.link(t)
		if d.writes != 0 || h.events(v.Owner) != "4 07:00 Talk: eve (not confirmed yet) TENTATIVE" {
			t.Errorf("held: %d writes, %s", d.writes, h.events(v.Owner))
		}
		h.must(s.Hold(t.Context(), v, wish("mia")))
		rival := strings.TrimPrefix(l.link(t), "/book/r/")
		d.writing = func() { // neither another visitor nor a second press gets the time meanwhile
			if got := h.starts(s, v, 60); strings.Contains(got, "07:00") || !strings.Contains(got, "08:00") {
				t.Errorf("offered during the write: %s", got)
			}
			_, err := s.Confirm(t.Context(), strings.TrimPrefix(link, "/book/r/"))
			if !errors.Is(err, booking.ErrUnread) {
				t.Errorf("a second press during the write: %v", err)
			}
		}
		b := h.browser()
		b.post(link, "do", "confirm").shows(http.StatusOK, "This time is booked")
		if _, err := s.Confirm(t.Context(), rival); !errors.Is(err, booking.ErrTaken) {
			t.Errorf("a rival after it: %v", err)
		}
		if got := d.starts(); got != "20260504T090000 eve@example.com" {
			t.Errorf("the diary has %s", got)
		}
		if got := h.events(v.Owner); got != "4 07:00 Talk: eve CONFIRMED" {
			t.Errorf("booked: %s", got)
		}
		for _, o := range d.objects {
			if text := string(o.Data); o.Quiet || !strings.Contains(text, "Boats") ||
				!strings.Contains(text, "LOCATION:Lido") ||
				!strings.Contains(strings.ReplaceAll(text, "\r\n ", ""), "mailto:ann@diary.example") {
				t.Errorf("the source got %v, %s", o.Quiet, o.Data)
			}
		}
		b.get(link).shows(http.StatusOK, "This time is booked", "09:00")
		// It moves there, unless the time is taken, and ends there.
		h.busy(v.Owner, work, "a", "1000", "1100")
		b.post(link, "do", "move", "start", "2026-05-04T10:00:00Z").shows(http.StatusUnprocessableEntity, "not free")
		b.post(link, "do", "move", "start", "2026-05-04T07:30:00Z").shows(http.StatusOK, "09:30")
		if got := d.starts(); got != "20260504T093000 eve@example.com" {
			t.Errorf("moved: the diary has %s", got)
		}
		if got := h.events(v.Owner); got != "4 07:30 Talk: eve CONFIRMED, 4 10:00 Dentist CONFIRMED" {
			t.Errorf("moved: %s", got)
		}
		d.refuses = errors.New("secret words of a source")
		page := b.post(link, "do", "cancel").shows(http.StatusUnprocessableEntity, "nothing has changed")
		page.hides("secret")
		d.refuses = nil
		b.post(link, "do", "cancel").shows(http.StatusOK, "This booking is cancelled")
		if got := d.starts(); got != "" {
			t.Errorf("cancelled: the diary has %s", got)
		}
	})
}

// A source that refuses, is away or does not answer: nothing is booked, and the visitor may try again.
func TestLinkedCalendarRefusesABooking(t *testing.T) {
	eachBooking(t, func(h *house, s *booking.Service, l *letters) {
		d, v, _ := h.linkDiary(s, nil)
		h.must(s.Hold(t.Context(), v, wish("eve")))
		link := l.link(t)
		b := h.browser()
		held := "4 07:00 Talk: eve (not confirmed yet) TENTATIVE"
		for _, spoil := range []func(error){
			func(err error) { d.refuses = err }, func(err error) { d.away = err },
		} {
			spoil(errors.New("secret words of a source"))
			b.post(link, "do", "confirm").shows(http.StatusUnprocessableEntity, "Try again").hides("secret")
			if got := h.events(v.Owner); got != held || d.starts() != "" {
				t.Errorf("after a failure: %s; the diary has %s", got, d.starts())
			}
			spoil(nil)
		}
		if !strings.Contains(h.log.String(), "not written to a linked calendar") {
			t.Error("the log does not have the reason")
		}
		b.post(link, "do", "confirm").shows(http.StatusOK, "This time is booked")
		d.refuses = errors.New("no moves")
		b.post(link, "do", "move", "start", "2026-05-05T08:00:00Z").
			shows(http.StatusUnprocessableEntity, "nothing has changed")
		if got := h.events(v.Owner); got != "4 07:00 Talk: eve CONFIRMED" {
			t.Errorf("after a refused move: %s", got)
		}
		d.refuses = nil
		// The source stores an event, but its answer is lost. Nothing is booked, and the event is deleted later.
		later := wish("mia")
		later.Start = later.Start.Add(3 * time.Hour)
		h.must(s.Hold(t.Context(), v, later))
		d.forgets = errors.New("the answer is lost")
		b.post(l.link(t), "do", "confirm").shows(http.StatusUnprocessableEntity, "nothing has changed")
		d.forgets = nil
		if got := d.starts(); !strings.Contains(got, "mia") {
			t.Fatalf("the diary has %s", got)
		}
		h.pass(20 * time.Minute)
		accounts, err := s.Calendars.Mirrors.LinkedAccounts(t.Context(), callerOf(v.Owner))
		h.must(err)
		_, err = s.Calendars.Mirrors.Refresh(t.Context(), callerOf(v.Owner), accounts[0].ID)
		h.must(err)
		h.must(s.Sweep(t.Context()))
		left := "20260504T090000 eve@example.com 4 07:00 Talk: eve CONFIRMED"
		if got := d.starts() + " " + h.events(v.Owner); got != left {
			t.Errorf("at last there is %s", got)
		}
		// With several people, the owner's bookings go there, and others' stay here.
		bob, _ := h.mailed("bob")
		v.Room, v.Together, v.People = "", rules.AllOfUs, []booking.Person{{User: bob}}
		var wrong *rules.Error
		if _, err := s.Save(t.Context(), v.Owner, v); !errors.As(err, &wrong) || wrong.Field != "calendar" {
			t.Errorf("all of us in a linked calendar: %v", err)
		}
		v = h.names(s, v, rules.AnyOfUs, bob)
		other, err := h.book(s, l, v, "zoe")
		h.must(err)
		if got := h.events(bob); other.Keeper.ID != bob.ID || got != "4 07:00 Talk: zoe CONFIRMED" {
			t.Errorf("bob has %s", got)
		}
	})
}
