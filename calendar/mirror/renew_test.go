package mirror_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/service"
)

// What a calendar is called there, and whether it takes changes, is seen here; a name that its owner gave it here
// stays.
func TestNamesAndRightsAreFollowed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		now := func() calendar.Calendar {
			h.t.Helper()
			got, err := h.Calendar(h.ctx, h.alice, cal.ID)
			h.must(err)
			return got
		}
		h.model.name = "Renamed there"
		h.must(h.refresh())
		if got := now(); got.Name != "Renamed there" {
			h.t.Errorf("it is called %q", got.Name)
		}
		h.must(h.PatchCalendar(h.ctx, h.alice, cal.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) {
			p.Name = "Mine"
			return nil, nil
		}))
		h.model.name, h.model.readOnly = "Again", true
		h.must(h.refresh())
		if got := now(); got.Name != "Mine" || got.Origin.Writable {
			h.t.Errorf("it is %q, %+v", got.Name, got.Origin)
		}
		draft := calendar.Draft{Name: "a.ics", Data: []byte(event("a", "mine"))}
		_, err := h.Put(h.ctx, h.alice, now(), draft)
		if calendar.ReasonOf(err) != calendar.Forbidden || h.model.writes != 0 {
			h.t.Errorf("what may no more be written to: %v", err)
		}
		h.model.readOnly = false
		h.must(h.refresh())
		_, err = h.Put(h.ctx, h.alice, now(), draft)
		h.must(err)
		h.same(cal)
	})
}

// An account that lets nobody in is linked again with another password, and keeps its calendars; so is one whose secret
// nobody can open any more. A wrong password changes nothing.
func TestAnAccountIsLinkedAgain(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.set("", "a", event("a", "x"))
		link := func(user, password string) (mirror.Linked, error) {
			l, _, err := h.Mirrors.Link(h.ctx, h.alice,
				mirror.NewAccount{Provider: "model", Secret: mirror.Secret{Username: user, Password: password}})
			return l, err
		}
		first, err := link("ann@", "secret")
		h.must(err)
		h.linked = first
		h.model.password = "other"
		if h.refresh() == nil {
			h.t.Error("the old password is good")
		}
		if _, err := link("ann@", "wrong"); err == nil {
			h.t.Error("a wrong password is taken")
		}
		h.model.set("", "b", event("b", "y"))
		again, err := link("ann@", "other")
		h.must(err)
		if again.ID != first.ID || again.Status != calendar.AccountGood || len(again.Calendars) != 1 ||
			again.Calendars[0].ID != first.Calendars[0].ID {
			h.t.Errorf("it is another account: %+v", again)
		}
		h.same(first.Calendars[0].Calendar)
		h.keys = sealer{vault.New(vault.Given([]vault.Key{vault.NewKey()}))}
		h.open()
		if again, err = link("ann@", "other"); err != nil || again.ID != first.ID {
			h.t.Errorf("with another master key: %v", err)
		}
		h.must(h.refresh())
		another, err := link("eve@", "other")
		h.must(err)
		if another.ID == first.ID {
			h.t.Error("somebody else's account is taken for hers")
		}
	})
}

// late is a source whose old key is refused after its owner has given another one.
type late struct {
	*model
	meanwhile func()
}

func (l late) Calendars(context.Context) ([]mirror.Remote, error) {
	l.meanwhile()
	return nil, mirror.ErrSignIn
}

// A look with the key of before does not end an account that was given another one meanwhile; one whose new key is
// refused, too, ends.
func TestAnOldKeyEndsNoAccount(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		link := func(password string) {
			l, _, err := h.Mirrors.Link(h.ctx, h.alice,
				mirror.NewAccount{Provider: "model", Secret: mirror.Secret{Username: "ann@", Password: password}})
			h.must(err)
			h.linked = l
		}
		link("secret")
		given := false
		h.provided = func(o mirror.Opening) (mirror.Source, error) {
			if o.Secret.Password != "secret" {
				return h.model, nil
			}
			return late{h.model, func() {
				given = true
				link("other")
			}}, nil
		}
		h.open()
		status := func() calendar.AccountStatus {
			h.t.Helper()
			a, err := h.Store.Account(h.ctx, h.linked.ID)
			h.must(err)
			return a.Status
		}
		if err := h.refresh(); err == nil || !given || status() == calendar.AccountSignIn {
			h.t.Errorf("given %t, %v, and it is %s", given, err, status())
		}
		h.must(h.refresh())
		h.provided = func(mirror.Opening) (mirror.Source, error) { return nil, mirror.ErrSignIn }
		h.open()
		if err := h.refresh(); err == nil || status() != calendar.AccountSignIn {
			h.t.Errorf("%v, and it is %s", err, status())
		}
	})
}

// meddling has something done while it is asked for changes, and answers with err.
type meddling struct {
	*model
	meanwhile func()
	err       error
}

func (m meddling) Changes(ctx context.Context, remote, cursor string) (mirror.Changes, error) {
	m.meanwhile()
	if m.err != nil {
		return mirror.Changes{}, m.err
	}
	return m.model.Changes(ctx, remote, cursor)
}

// What an owner does about an account while it is looked at is not written over by what the look has found.
func TestALookWritesWhatItHasFound(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.link()
		for _, failed := range []error{nil, mirror.ErrSignIn} {
			h.Pass(time.Hour)
			want, err := h.Store.Account(h.ctx, h.linked.ID)
			h.must(err)
			want.Name, want.Every, want.Scopes, want.Due, want.Listed = want.Name+
				" anew", 6*time.Hour, "all", h.Now().Add(time.Second), time.Time{}
			meanwhile := func() {
				h.must(h.Store.SetAccount(h.ctx, want.ID,
					calendar.AccountEdit{Name: want.Name, Every: want.Every, Scopes: want.Scopes}, want.Due))
			}
			h.provided = func(mirror.Opening) (mirror.Source, error) {
				return meddling{h.model, meanwhile, failed}, nil
			}
			h.open()
			_ = h.refresh()
			got, err := h.Store.Account(h.ctx, h.linked.ID)
			h.must(err)
			if failed == nil {
				want.Checked = h.Now()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				h.t.Errorf("after a look that ended with %v (-want +got):\n%s", failed, diff)
			}
		}
	})
}

// A look that fails counts, also where a change that nobody could write there has it looked at soon.
func TestALookThatFailsCountsInAHurry(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		put := func() {
			_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "a.ics", Data: []byte(event("a", "x"))})
			if calendar.ReasonOf(err) != calendar.Unavailable {
				h.t.Errorf("a change that may have been made there: %v", err)
			}
		}
		h.Pass(time.Hour)
		h.provided = func(mirror.Opening) (mirror.Source, error) { return &torn{model: h.model, meanwhile: put}, nil }
		h.open()
		_ = h.refresh()
		got, err := h.Store.Account(h.ctx, h.linked.ID)
		h.must(err)
		if got.Failures != 1 || got.Status != calendar.AccountFailed || got.Due.After(h.Now()) {
			h.t.Errorf("it failed %d times, is %q, and due at %s", got.Failures, got.Status, got.Due)
		}
	})
}

// torn is a source that lists its calendars no more, and answers no change.
type torn struct {
	*model
	meanwhile func()
}

func (s *torn) Calendars(context.Context) ([]mirror.Remote, error) {
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
	}
	return nil, &mirror.Later{Why: "away"}
}

func (s *torn) Put(context.Context, string, mirror.Object) (mirror.Object, error) {
	return mirror.Object{}, &mirror.Later{Why: "away", Unknown: true}
}

// Of one feed that a user follows twice at the same moment, one is refused, whichever process is asked; also while the
// first look at it lasts.
func TestAFeedIsFollowedOnceAtATime(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		meanwhile := func() {}
		feeds := h.model.provider()
		feeds.Feed, feeds.Open = true, func(mirror.Opening) (mirror.Source, error) {
			return meddling{h.model, func() { meanwhile() }, nil}, nil
		}
		process := func() *service.Service {
			c := h.Middle()
			c.Providers, c.Sealer = map[string]mirror.Provider{"model": feeds}, h.keys
			return service.New(c)
		}
		follow := func(s *service.Service, url string) error {
			_, _, err := s.Mirrors.Link(h.ctx, h.alice,
				mirror.NewAccount{Provider: "model", Name: url, Secret: mirror.Secret{URL: url}})
			return err
		}
		one, other := process(), process()
		var all sync.WaitGroup
		var followed, refused atomic.Int32
		for i := range 6 {
			all.Go(func() {
				switch err := follow([]*service.Service{one, other}[i%2], "https://school.example/a"); {
				case err == nil:
					followed.Add(1)
				case calendar.ReasonOf(err) == calendar.Exists:
					refused.Add(1)
				default:
					h.t.Error(err)
				}
			})
		}
		all.Wait()
		if followed.Load() != 1 || refused.Load() != 5 {
			h.t.Errorf("%d follow it, and %d were refused", followed.Load(), refused.Load())
		}
		asked := false
		meanwhile = func() {
			if asked {
				return
			}
			asked = true
			if err := follow(other, "https://SCHOOL.example/b"); calendar.ReasonOf(err) != calendar.Exists {
				h.t.Errorf("during the first look: %v", err)
			}
		}
		h.must(follow(one, "https://school.example/b"))
	})
}
