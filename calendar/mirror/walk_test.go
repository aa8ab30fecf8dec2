package mirror_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/internal/testdb"
)

// model is an account with one calendar, in memory. It is an oracle: it knows nothing of how a mirror is kept.
type model struct {
	mu      sync.Mutex
	objects map[string]mirror.Object // by ref
	log     []string                 // refs in the order in which they changed
	number  int
	// fault is asked before each call: an error is answered, lost says that the call is done all the same.
	fault func() (err error, lost bool)
	// oldest is how far back cursors go, calls counts what was asked, writes what was written.
	oldest, calls, writes int
	// feed has everything listed each time. silent lists no deletion of what was created after the cursor.
	feed     bool
	silent   bool
	readOnly bool
	size     int
	// quiet tells that of the last write no guest is to hear.
	quiet bool
	// name is what people call the calendar there; "" for Elsewhere. password is what lets us in.
	name, password string
	// others are further calendars, without entries.
	others []string
	// asFeed makes the account a feed, budget limits the work of a user's feeds in a day.
	asFeed bool
	budget int64
}

func newModel() *model {
	return &model{objects: map[string]mirror.Object{}, fault: func() (error, bool) { return nil, false }}
}

func (m *model) provider() mirror.Provider {
	return mirror.Provider{
		Title: "Model", Every: time.Hour, Feed: m.asFeed, Budget: m.budget,
		Open: func(o mirror.Opening) (mirror.Source, error) {
			if o.Secret.Password != cmp.Or(m.password, "secret") {
				return nil, mirror.ErrSignIn
			}
			return m, nil
		}, Address: func(s mirror.Secret) string { return s.Username + "model.example" },
	}
}

func (m *model) Calendars(context.Context) ([]mirror.Remote, error) {
	all := []mirror.Remote{{ID: "one", Name: cmp.Or(m.name, "Elsewhere"), Writable: !m.readOnly}}
	for _, name := range m.others {
		all = append(all, mirror.Remote{ID: "id of " + name, Name: name})
	}
	return all, nil
}

// Changes gives pages of two, or of the size.
func (m *model) Changes(_ context.Context, remote, cursor string) (mirror.Changes, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if remote != "one" {
		return mirror.Changes{Cursor: "end", Whole: true}, nil
	}
	m.calls++
	if err, _ := m.fault(); err != nil {
		return mirror.Changes{}, err
	}
	full := cursor == "" || m.feed || strings.HasPrefix(cursor, "full")
	from, end := 0, len(m.log)
	if full && cursor != "" {
		_, _ = fmt.Sscanf(cursor, "full %d %d", &from, &end)
	} else if !full {
		from, _ = strconv.Atoi(cursor)
	}
	if from < m.oldest && !full {
		return mirror.Changes{}, mirror.ErrExpired
	}
	size := cmp.Or(m.size, 2)
	to := min(from+size, len(m.log))
	page := mirror.Changes{Cursor: strconv.Itoa(to), More: to < len(m.log)}
	if full {
		to = min(from+size, end)
		page.Cursor, page.More = fmt.Sprintf("full %d %d", to, end), to < end
		if page.Whole = !page.More; page.Whole {
			page.Cursor = strconv.Itoa(end)
		}
	}
	for _, ref := range m.log[from:to] {
		if o, ok := m.objects[ref]; ok {
			page.Objects = append(page.Objects, o)
		} else if !full && (!m.silent || slices.Contains(m.log[:from], ref)) {
			page.Gone = append(page.Gone, ref)
		}
	}
	return page, nil
}

func (m *model) Put(_ context.Context, _ string, o mirror.Object) (mirror.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	err, lost := m.fault()
	if err != nil && !lost {
		return o, err
	}
	if strings.Contains(string(o.Data), "SUMMARY:unwanted") {
		return o, mirror.Refusef("nothing unwanted is kept")
	}
	if o.Ref == "" {
		for _, other := range m.objects {
			if other.UID == o.UID {
				return o, mirror.ErrConflict
			}
		}
	} else if now, ok := m.objects[o.Ref]; !ok {
		return o, mirror.ErrGone
	} else if now.Version != o.Version {
		return o, mirror.ErrConflict
	}
	m.writes++
	m.quiet = o.Quiet
	made := m.set(o.Ref, o.UID, string(o.Data))
	if err != nil {
		return o, err
	}
	return made, nil
}

// set stores an object in the model's own way: it marks what it has seen.
func (m *model) set(ref, uid, data string) mirror.Object {
	m.number++
	if ref == "" {
		ref = fmt.Sprintf("ref-%d", m.number)
	}
	if !strings.Contains(data, "X-MODEL") {
		data = strings.Replace(data, "END:VEVENT", "X-MODEL:seen\r\nEND:VEVENT", 1)
	}
	o := mirror.Object{Ref: ref, Version: fmt.Sprintf("v%d", m.number), UID: uid, Data: []byte(data)}
	m.objects[ref] = o
	m.log = append(m.log, ref)
	return o
}

func (m *model) Delete(_ context.Context, _ string, o mirror.Object) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	err, lost := m.fault()
	if err != nil && !lost {
		return err
	}
	now, ok := m.objects[o.Ref]
	switch {
	case !ok:
		return mirror.ErrGone
	case now.Version != o.Version:
		return mirror.ErrConflict
	}
	m.writes++
	m.quiet = o.Quiet
	delete(m.objects, o.Ref)
	m.log = append(m.log, o.Ref)
	return err
}

// change is somebody who uses the account itself.
func (m *model) change(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	do()
}

func (m *model) refs() []string { return slices.Sorted(maps.Keys(m.objects)) }

func (m *model) texts() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]string{}
	for _, o := range m.objects {
		all[o.UID] = string(o.Data)
	}
	return all
}

// sealer is the real one, as the program has it.
type sealer struct{ *vault.Vault }

func (s sealer) Seal(secret []byte, user, account string) ([]byte, string, error) {
	return s.Vault.Seal(secret, vault.Owner{User: user, Account: account})
}

func (s sealer) Open(sealed []byte, user, account string) ([]byte, error) {
	return s.Vault.Open(sealed, vault.Owner{User: user, Account: account})
}

// house is a user with an account.
type house struct {
	*housetest.House
	t     testing.TB
	ctx   context.Context
	model *model
	keys  sealer
	*service.Service
	alice  calendar.Caller
	linked mirror.Linked
	// provided opens another source than the model, unless it is nil.
	provided func(mirror.Opening) (mirror.Source, error)
	// storing stands before the store, unless it is nil.
	storing func(calendar.Store) calendar.Store
}

// open begins a process.
func (h *house) open() { h.openOn(h.Store) }

func (h *house) openOn(store calendar.Store) {
	c := h.Middle()
	c.Store = store
	provider := h.model.provider()
	if h.provided != nil {
		provider.Open = h.provided
	}
	if h.storing != nil {
		c.Store = h.storing(c.Store)
	}
	c.Providers, c.Sealer = map[string]mirror.Provider{"model": provider}, h.keys
	h.Service = service.New(c)
}

func newHouse(t testing.TB, url string) *house {
	t.Helper()
	h := &house{
		House: housetest.Open(t, url, housetest.At(time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC))), t: t,
		ctx: t.Context(), model: newModel(),
		keys: sealer{vault.New(vault.Given([]vault.Key{vault.NewKey()}))},
	}
	alice := calendar.User{ID: "u1", Name: "alice"}
	h.Admit(t, alice, calendar.User{ID: "u2", Name: "bob"})
	h.alice = calendar.Caller{User: alice, Scopes: calendar.ScopeAll, Agent: "test"}
	h.open()
	return h
}

func (h *house) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) link() calendar.Calendar {
	h.t.Helper()
	var err error
	h.linked, _, err = h.Mirrors.Link(h.ctx, h.alice,
		mirror.NewAccount{Provider: "model", Name: "Work", Secret: mirror.Secret{Password: "secret"}})
	h.must(err)
	return h.linked.Calendars[0].Calendar
}

func (h *house) refresh() error {
	_, err := h.Mirrors.Refresh(h.ctx, h.alice, h.linked.ID)
	return err
}

func event(uid, summary string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:" + uid +
		"\r\nDTSTAMP:20260301T000000Z\r\nDTSTART:20260302T090000Z\r\nSUMMARY:" +
		summary + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
}

// texts is what there is here.
func (h *house) texts(cal calendar.Calendar) map[string]string {
	h.t.Helper()
	all := map[string]string{}
	for o, err := range h.Store.Objects(h.ctx, cal.ID, calendar.ObjectQuery{WithData: true}) {
		h.must(err)
		all[string(o.UID)] = string(o.Data)
	}
	return all
}

func (h *house) same(cal calendar.Calendar) {
	h.t.Helper()
	if diff := gocmp.Diff(h.model.texts(), h.texts(cal)); diff != "" {
		h.t.Fatalf("the sides differ, -there +here\n%s", diff)
	}
}

func each(t *testing.T, test func(*house)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) { test(newHouse(t, url)) })
}

// walker walks at random.
type walker struct {
	*house
	*rand.Rand
	cal   calendar.Calendar
	steps int
}

func (w *walker) uid() string { return fmt.Sprintf("uid-%d", w.IntN(6)) }

// trouble answers some calls wrongly, and does some of those all the same.
func (w *walker) trouble() (error, bool) {
	switch w.IntN(12) {
	case 0:
		return &mirror.Later{Why: "away", Unknown: true}, true
	case 1:
		return &mirror.Later{After: time.Minute}, false
	}
	return nil, false
}

// here changes something here, through the middle as the doors do.
func (w *walker) here() {
	uid := calendar.UID(w.uid())
	o, err := w.Store.ObjectByUID(w.ctx, w.cal.ID, uid)
	missing := err != nil && calendar.ReasonOf(err) == calendar.NotFound
	if !missing {
		w.must(err)
	}
	before, deletes := w.model.writes, false
	text := event(string(uid), fmt.Sprintf("here %d", w.steps))
	switch {
	case missing:
		_, err = w.Put(w.ctx, w.alice, w.cal, calendar.Draft{
			Name: calendar.ObjectName(uid + ".ics"), Data: []byte(text),
			When: calendar.Precondition{NoneMatchAny: true},
		})
	case w.IntN(3) == 0:
		deletes = true // what is gone there as well need not be deleted
		err = w.Delete(w.ctx, w.alice, w.cal, o.Name, calendar.Precondition{Match: []calendar.ETag{o.ETag}})
	default:
		_, err = w.Put(w.ctx, w.alice, w.cal, calendar.Draft{
			Name: o.Name, Data: []byte(text), When: calendar.Precondition{Match: []calendar.ETag{o.ETag}},
		})
	}
	if n := w.model.writes - before; n > 1 || err == nil && n == 0 && !deletes {
		w.t.Fatalf("step %d: it was written %d times, %v", w.steps, n, err)
	}
	if err == nil {
		return
	}
	if r := calendar.ReasonOf(err); r != calendar.Stale && r != calendar.Unavailable && r != calendar.Exists &&
		r != calendar.NotFound {
		w.t.Fatalf("step %d: %v (%v)", w.steps, err, r)
	}
}

// there changes something at the source.
func (w *walker) there() {
	w.model.change(func() {
		refs := w.model.refs()
		if len(refs) > 0 && w.IntN(3) > 0 {
			ref := refs[w.IntN(len(refs))]
			if w.IntN(3) == 0 {
				delete(w.model.objects, ref)
				w.model.log = append(w.model.log, ref)
				return
			}
			uid := w.model.objects[ref].UID
			w.model.set(ref, uid, event(uid, fmt.Sprintf("there %d", w.steps)))
			return
		}
		uid := w.uid()
		for _, o := range w.model.objects {
			if o.UID == uid {
				return
			}
		}
		w.model.set("", uid, event(uid, fmt.Sprintf("there %d", w.steps)))
	})
}

func (w *walker) step() {
	w.steps++
	switch w.IntN(10) {
	case 0, 1, 2, 3:
		w.here()
	case 4, 5, 6:
		w.there()
	case 7:
		_ = w.refresh()
	case 8:
		w.open() // the process was killed, and another one begins
	case 9:
		w.model.change(func() { w.model.oldest = w.IntN(len(w.model.log) + 1) })
	}
	w.Pass(time.Second)
}

// TestWalk has both sides change at random, while answers are lost, cursors expire and processes die. In the end they
// are equal.
func TestWalk(t *testing.T) {
	t.Parallel()
	steps := slowtest.Rounds(t, slowtest.Random, 60, 3000)
	each(t, func(h *house) {
		seed := uint64(20261122)
		w := &walker{house: h, Rand: rand.New(rand.NewPCG(seed, 1)), cal: h.link()}
		h.model.fault = w.trouble
		for range steps {
			if w.steps == steps/2 {
				h.model.silent, h.model.size = true, 1000
			}
			w.step()
		}
		h.model.fault = func() (error, bool) { return nil, false }
		h.must(h.refresh()) // which may end a listing that was begun before the latest changes
		h.must(h.refresh())
		h.same(w.cal)
	})
}

func TestAMirrorShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for i := range 7 {
			h.model.set("", fmt.Sprint("u", i), event(fmt.Sprint("u", i), "x"))
		}
		cal := h.link()
		h.same(cal)
		if cal.Name != "Elsewhere" || cal.Origin != (calendar.Origin{From: "Work", Writable: true}) {
			h.t.Errorf("the calendar is %+v", cal)
		}
		before, err := h.Calendar(h.ctx, h.alice, cal.ID)
		h.must(err)
		calls := h.model.calls
		h.must(h.refresh())
		now, err := h.Calendar(h.ctx, h.alice, cal.ID)
		h.must(err)
		if now.Version != before.Version || h.model.calls != calls+1 {
			h.t.Errorf("a look at nothing new: version %d to %d, %d calls", before.Version, now.Version,
				h.model.calls-calls)
		}
		h.model.objects["broken"] = mirror.Object{
			Ref: "broken", Version: "b", UID: "b", Data: []byte("BEGIN:VCALENDAR\r\nnonsense"),
		}
		h.model.log = append(h.model.log, "broken")
		h.must(h.refresh())
		all, err := h.Mirrors.LinkedAccounts(h.ctx, h.alice)
		h.must(err)
		if s := all[0].Calendars[0].State; s.Faults != 1 || all[0].Status != calendar.AccountGood ||
			all[0].Secret != nil {
			h.t.Errorf("the broken one: %+v", s)
		}
		if out := all[0].Calendars[0].KeptOut; len(out) != 1 || out[0].UID != "b" || out[0].Fault == "" {
			h.t.Errorf("what is kept out: %+v", out)
		}
		h.model.fault = func() (error, bool) { return &mirror.Later{Why: "there is nothing there (404)"}, false }
		if err := h.refresh(); err == nil || !strings.Contains(err.Error(), "Work was not refreshed: there is") {
			h.t.Errorf("a refresh of what is gone says %v", err)
		}
	})
}

func TestAWriteGoesToItsSourceFirst(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		draft := calendar.Draft{Name: "a.ics", Data: []byte(event("a", "mine"))}
		saved, err := h.Put(h.ctx, h.alice, cal, draft)
		h.must(err)
		if h.same(cal); !saved.Cleaned || !strings.Contains(string(saved.Object.Data), "X-MODEL") {
			h.t.Error("the caller is not told what the source made of it")
		}
		h.model.fault = func() (error, bool) { return &mirror.Later{}, false }
		_, err = h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "b.ics", Data: []byte(event("b", "mine"))})
		if calendar.ReasonOf(err) != calendar.Unavailable || !strings.Contains(err.Error(), "Work does not answer") {
			h.t.Errorf("the source is away: %v", err)
		}
		h.model.fault = func() (error, bool) { return nil, false }
		_, err = h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "b.ics", Data: []byte(event("b", "unwanted"))})
		if calendar.ReasonOf(err) != calendar.Forbidden || !strings.Contains(err.Error(), "nothing unwanted is kept") {
			h.t.Errorf("the source refuses: %v", err)
		}
		h.same(cal)
	})
}

// TestBothVersionsAreKept has an edit overtaken at the source.
func TestBothVersionsAreKept(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		saved, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "a.ics", Data: []byte(event("a", "first"))})
		h.must(err)
		h.model.change(func() { h.model.set(h.model.refs()[0], "a", event("a", "theirs")) })
		_, err = h.Put(h.ctx, h.alice, cal, calendar.Draft{
			Name: "a.ics", Data: []byte(event("a", "mine")),
			When: calendar.Precondition{Match: []calendar.ETag{saved.Object.ETag}},
		})
		if calendar.ReasonOf(err) != calendar.Stale {
			h.t.Fatalf("got %v", err)
		}
		h.same(cal)
		var agents []string
		var lost calendar.Change
		for e, err := range h.Store.Journal(h.ctx, cal.ID, calendar.JournalQuery{From: 1, WithBefore: true}) {
			h.must(err)
			if e.Object != "" {
				agents = append(agents, e.Agent)
			}
			if strings.Contains(string(e.Before), "SUMMARY:mine") {
				lost = e
			}
		}
		if want := []string{"changed at Work", "test", "changed at Work", "test"}; !slices.Equal(agents, want) {
			h.t.Errorf("the journal tells of %q, want %q", agents, want)
		}
		if lost.Version == 0 {
			h.t.Fatal("what was written is in no former version")
		}
		_, err = h.Undo(h.ctx, h.alice, lost.ID())
		h.must(err)
		if h.same(cal); !strings.Contains(h.texts(cal)["a"], "SUMMARY:mine") {
			h.t.Error("it does not come back")
		}
	})
}

// TestBothVersionsAreKeptInAFullAccount: what was overtaken is kept though its writer may have no byte more.
func TestBothVersionsAreKeptInAFullAccount(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		_, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "a.ics", Data: []byte(event("a", "first"))})
		h.must(err)
		h.must(h.Store.ChangeUser(h.ctx, h.alice.User.ID, auth.UserEdit{QuotaBytes: new(int64(1))}))
		h.must(h.Overtaken(h.ctx, h.alice, cal,
			calendar.Outgoing{UID: "a", Data: []byte(event("a", "mine, which is longer"))}))
		kept := false
		for e, err := range h.Store.Journal(h.ctx, cal.ID, calendar.JournalQuery{From: 1, WithBefore: true}) {
			h.must(err)
			kept = kept || strings.Contains(string(e.Before), "SUMMARY:mine")
		}
		if !kept {
			h.t.Error("what was written is in no former version")
		}
	})
}

func TestUnlinking(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.set("", "a", event("a", "x"))
		cal := h.link()
		bob := calendar.Caller{User: calendar.User{ID: "u2", Name: "bob"}, Scopes: calendar.ScopeAll}
		for _, err := range []error{
			h.Mirrors.Unlink(h.ctx, bob, h.linked.ID, true), errOf(h.Mirrors.Refresh(h.ctx, bob, h.linked.ID)),
		} {
			if calendar.ReasonOf(err) != calendar.NotFound {
				h.t.Errorf("somebody else's account: %v", err)
			}
		}
		h.must(h.Mirrors.Unlink(h.ctx, h.alice, h.linked.ID, true))
		cal, err := h.Calendar(h.ctx, h.alice, cal.ID)
		h.must(err)
		if len(h.texts(cal)) != 1 || cal.Origin.Mirrors() {
			h.t.Error("the copies are not kept")
		}
		h.must(h.Delete(h.ctx, h.alice, cal, slices.Collect(maps.Keys(names(h, cal)))[0], calendar.Precondition{}))
		if len(h.model.objects) != 1 {
			h.t.Error("what is linked no more is written there")
		}
		second := h.link()
		h.must(h.Mirrors.Unlink(h.ctx, h.alice, h.linked.ID, false))
		if _, err := h.Calendar(h.ctx, h.alice, second.ID); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("the calendar that was to go: %v", err)
		}
		_, _, err = h.Mirrors.Link(h.ctx, h.alice,
			mirror.NewAccount{Provider: "model", Secret: mirror.Secret{Password: "wrong"}})
		if err == nil || !strings.Contains(err.Error(), "does not accept this name and password") {
			h.t.Errorf("a wrong password: %v", err)
		}
		if all, err := h.Mirrors.LinkedAccounts(h.ctx, h.alice); err != nil || len(all) != 0 {
			h.t.Errorf("there are %d accounts, %v", len(all), err)
		}
	})
}

func errOf[T any](_ T, err error) error { return err }

func names(h *house, cal calendar.Calendar) map[calendar.ObjectName]bool {
	all := map[calendar.ObjectName]bool{}
	for o, err := range h.Store.Objects(h.ctx, cal.ID, calendar.ObjectQuery{}) {
		h.must(err)
		all[o.Name] = true
	}
	return all
}

// TestSecretsAreSealed looks for a password in the database, and opens a record with another's name on it.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.link()
		a, err := h.Store.Account(h.ctx, h.linked.ID)
		h.must(err)
		if strings.Contains(string(a.Secret), "secret") {
			h.t.Error("the secret can be read")
		}
		if _, err := h.keys.Open(a.Secret, "u2", string(a.ID)); !errors.Is(err, vault.ErrSealed) {
			h.t.Errorf("a record that was moved to another user: %v", err)
		}
		h.keys = sealer{vault.New(vault.Given([]vault.Key{vault.NewKey()}))}
		h.open()
		if err := h.refresh(); err == nil || !strings.Contains(err.Error(), "Work") {
			h.t.Errorf("without the key: %v", err)
		}
	})
}

// TestWhatIsOnlyReadIsNotWritten asks for every way in that the doors have.
func TestWhatIsOnlyReadIsNotWritten(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.readOnly = true
		h.model.set("", "a", event("a", "x"))
		cal := h.link()
		o, err := h.Store.ObjectByUID(h.ctx, cal.ID, "a")
		h.must(err)
		_, put := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: o.Name, Data: []byte(event("a", "mine"))})
		_, add := h.Add(h.ctx, h.alice, cal, []byte(event("b", "mine")))
		for _, err := range []error{put, add, h.Delete(h.ctx, h.alice, cal, o.Name, calendar.Precondition{})} {
			if calendar.ReasonOf(err) != calendar.Forbidden || calendar.RuleOf(err) != calendar.RulePrivileges ||
				!strings.Contains(err.Error(), "takes no changes from here") {
				h.t.Errorf("got %v", err)
			}
		}
		if h.same(cal); h.model.writes != 0 {
			h.t.Error("something was written there")
		}
	})
}

// What became of an object at the source that cannot be shown here is not written over unseen, nor taken away.
func TestAFaultIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		saved, err := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "a.ics", Data: []byte(event("a", "first"))})
		h.must(err)
		ref := h.model.refs()[0]
		h.model.change(func() {
			h.model.objects[ref] = mirror.Object{
				Ref: ref, Version: "new", UID: "a", Data: []byte("BEGIN:VCALENDAR\r\nnonsense"),
			}
			h.model.log = append(h.model.log, ref)
		})
		h.must(h.refresh())
		_, put := h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: saved.Object.Name, Data: []byte(event("a", "mine"))})
		for _, err := range []error{put, h.Delete(h.ctx, h.alice, cal, saved.Object.Name, calendar.Precondition{})} {
			if calendar.ReasonOf(err) != calendar.Forbidden || !strings.Contains(err.Error(), "cannot be shown here") {
				h.t.Errorf("got %v", err)
			}
		}
		if h.model.objects[ref].Version != "new" {
			h.t.Error("it was written over")
		}
	})
}

// A source writes to an event's guests: anyone who may not do so here may not have it done there.
func TestGuestsElsewhereNeedTheScope(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		cal := h.link()
		invitation := []byte(strings.Replace(event("g", "party"), "SUMMARY:",
			"ATTENDEE:mailto:eve@example.net\r\nSUMMARY:", 1))
		bound := h.alice
		bound.Scopes = calendar.ScopeRead | calendar.ScopeWrite | calendar.ScopeDelete
		_, err := h.Put(h.ctx, bound, cal, calendar.Draft{Name: "g.ics", Data: invitation})
		if calendar.ReasonOf(err) != calendar.Forbidden || h.model.writes != 0 {
			h.t.Errorf("without the scope: %v, %d writes", err, h.model.writes)
		}
		_, err = h.Put(h.ctx, h.alice, cal, calendar.Draft{Name: "g.ics", Data: invitation})
		h.must(err)
		if err := h.Delete(h.ctx, bound, cal, "g.ics", calendar.Precondition{}); calendar.ReasonOf(err) !=
			calendar.Forbidden {
			h.t.Errorf("calling it off without the scope: %v", err)
		}
		h.same(cal)
	})
}

func TestWhatAFeedNoLongerListsGoes(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.model.feed = true
		h.model.set("", "a", event("a", "stays"))
		h.model.set("", "b", event("b", "goes"))
		cal := h.link()
		h.must(h.refresh())
		for _, ref := range h.model.refs() {
			if h.model.objects[ref].UID == "b" {
				delete(h.model.objects, ref)
			}
		}
		h.must(h.refresh())
		if h.same(cal); len(h.texts(cal)) != 1 {
			h.t.Errorf("there is %v", h.texts(cal))
		}
		h.must(h.refresh())
		h.same(cal)
	})
}
