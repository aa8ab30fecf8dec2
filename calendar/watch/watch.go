// Package watch notifies subscribers of changes.
package watch

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
)

// Hub notifies subscribers of changes.
type Hub struct {
	*lookup.Reader
	store calendar.Store
	now   func() time.Time
	newID func() string
	// sendable returns the reason why no message can be sent to an address, for the user who supplied it.
	sendable func(ctx context.Context, address string) error
	// waiting is the number of open watches.
	waiting atomic.Int64
}

// Waiting returns the number of open watches in this process.
func (s *Hub) Waiting() int64 { return s.waiting.Load() }

// NewHub creates a Hub. A nil sendable permits every https address.
func NewHub(
	reader *lookup.Reader, store calendar.Store, now func() time.Time, newID func() string,
	sendable func(ctx context.Context, address string) error,
) *Hub {
	if sendable == nil {
		sendable = onlyHTTPS
	}
	return &Hub{Reader: reader, store: store, now: now, newID: newID, sendable: sendable}
}

func onlyHTTPS(_ context.Context, address string) error {
	if u, err := url.Parse(address); err != nil || u.Scheme != "https" {
		return errors.New("messages go to https addresses only")
	}
	return nil
}

// Watch waits for changes on behalf of one subscriber. It stores only where to look again, so a slow subscriber
// blocks no other. It is for one goroutine.
type Watch struct {
	hub   *Hub
	id    calendar.SubscriberID
	stop  func()
	ready chan struct{}
	// followed are the followed targets by name; moved are the ones whose Seen is newer than the stored one.
	followed map[string]calendar.Subscription
	moved    map[string]bool

	mu sync.Mutex
	// concerns are the calendars of the followed targets; changed are the ones of them with a change. all is set
	// when everything must be checked again.
	concerns, changed map[calendar.CalendarID]bool
	all, renewed      bool
}

// Watch starts to wait for changes of followed targets. If id is not empty, it also follows the subscriber's stored
// subscriptions. The first check is due at once.
func (s *Hub) Watch(id calendar.SubscriberID) *Watch {
	w := &Watch{
		hub: s, id: id, ready: make(chan struct{}, 1),
		followed: make(map[string]calendar.Subscription), moved: make(map[string]bool),
		changed: make(map[calendar.CalendarID]bool),
	}
	w.stop = s.store.Watch(w.hear)
	s.waiting.Add(1)
	w.Again()
	return w
}

// Close ends the watch. It stores the states that the subscriber knows, so that a client that continues the
// subscription does not get them again.
func (w *Watch) Close(ctx context.Context) error {
	w.stop()
	w.hub.waiting.Add(-1)
	var known []calendar.Subscription
	for name, moved := range w.moved {
		if moved {
			known = append(known, w.followed[name])
		}
	}
	if len(known) == 0 {
		return nil
	}
	return w.hub.store.Seen(ctx, known)
}

// Ready receives a value when it is time to call Changed.
func (w *Watch) Ready() <-chan struct{} { return w.ready }

// Again makes the watch check everything again. Any goroutine may call it.
func (w *Watch) Again() { w.hear(calendar.Hint{Everything: true}) }

// hear records where to look again.
func (w *Watch) hear(n calendar.Hint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = w.all || n.Everything
	w.renewed = w.renewed || w.id != "" && slices.Contains(n.Subscribers, w.id)
	for _, id := range n.Calendars {
		if w.concerns[id] {
			w.changed[id] = true
		}
	}
	if !w.all && !w.renewed && len(w.changed) == 0 {
		return
	}
	select {
	case w.ready <- struct{}{}:
	default: // a check is pending already
	}
}

// heard returns and clears the recorded changes.
func (w *Watch) heard() (all, renewed bool, changed map[calendar.CalendarID]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all, renewed, changed = w.all, w.renewed, w.changed
	w.all, w.renewed, w.changed = false, false, make(map[calendar.CalendarID]bool)
	return all, renewed, changed
}

// follow replaces the followed targets.
func (w *Watch) follow(followed map[string]calendar.Subscription) {
	concerns := make(map[calendar.CalendarID]bool)
	for _, sub := range followed {
		concerns[sub.Calendar] = true
	}
	w.followed = followed
	w.mu.Lock()
	defer w.mu.Unlock()
	w.concerns = concerns
}

// Follow follows a target under a name from now on. It registers for changes first and then reads the state, so
// that it misses no change between the two.
func (w *Watch) Follow(ctx context.Context, c calendar.Caller, name string, t calendar.Target) error {
	if len(w.followed) >= MaxFollowed {
		return errFollowed()
	}
	before, next := w.followed, maps.Clone(w.followed)
	next[name] = calendar.Subscription{Subscriber: w.id, Name: name, User: c.User.ID, Target: t}
	w.follow(next)
	seen, err := w.hub.find(ctx, c, t)
	if err != nil {
		w.follow(before)
		return err
	}
	w.Told(calendar.Subscription{Subscriber: w.id, Name: name, User: c.User.ID, Target: t, Seen: seen})
	return nil
}

// Changed returns the followed targets whose state has changed, with the new state, sorted by name. It omits
// targets that the caller may no longer see. After an error it checks everything again.
func (w *Watch) Changed(ctx context.Context, c calendar.Caller) (changed []calendar.Subscription, err error) {
	all, renewed, in := w.heard()
	defer func() {
		if err != nil {
			w.Again()
		}
	}()
	if w.id != "" && (all || renewed) {
		if err := w.renew(ctx); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.followed)) {
		sub := w.followed[name]
		if !all && !renewed && !in[sub.Calendar] {
			continue
		}
		now, err := w.look(ctx, c, sub)
		if err != nil {
			return nil, err
		}
		if now != sub.Seen {
			sub.Seen = now
			changed = append(changed, sub)
		}
	}
	return changed, nil
}

// look returns the current state of a followed target, or the known one if the caller may no longer see it.
func (w *Watch) look(ctx context.Context, c calendar.Caller, sub calendar.Subscription) (calendar.State, error) {
	now, err := w.hub.Look(ctx, c, sub.Target)
	if err == nil && now != sub.Seen && sub.UID != "" {
		// The object was read after the access check. A change that was made after the access was revoked must not
		// be reported.
		_, err = w.hub.Look(ctx, c, calendar.Target{Calendar: sub.Calendar})
	}
	if err != nil && (calendar.ReasonOf(err) == calendar.NotFound || calendar.ReasonOf(err) == calendar.Forbidden) {
		return sub.Seen, nil
	}
	return now, err
}

// Told records that the subscriber knows a change.
func (w *Watch) Told(sub calendar.Subscription) {
	w.followed[sub.Name] = sub
	w.moved[sub.Name] = w.id != "" && sub.Calendar != ""
}

// renew reloads the subscriber's stored subscriptions.
func (w *Watch) renew(ctx context.Context) error {
	kept, err := w.hub.store.Subscriptions(ctx, w.id, w.hub.now())
	if err != nil {
		return err
	}
	next := make(map[string]calendar.Subscription, len(kept))
	for name, sub := range w.followed {
		if sub.Calendar == "" {
			next[name] = sub
		}
	}
	for _, sub := range kept {
		if known, ok := w.followed[sub.Name]; ok && w.moved[sub.Name] && known.Target == sub.Target {
			sub.Seen = known.Seen
		}
		next[sub.Name] = sub
	}
	w.follow(next)
	maps.DeleteFunc(w.moved, func(name string, _ bool) bool { return next[name].Name == "" })
	return nil
}

// find is Look for a target that must exist.
func (s *Hub) find(ctx context.Context, c calendar.Caller, t calendar.Target) (calendar.State, error) {
	state, err := s.Look(ctx, c, t)
	if err == nil && state == gone {
		return "", calendar.ErrNoUID(t.UID)
	}
	return state, err
}

// gone is the state of an object that no longer exists.
const gone calendar.State = "gone"

// Look returns the state of a target. It has the authorization errors of reading the target.
func (s *Hub) Look(ctx context.Context, c calendar.Caller, t calendar.Target) (calendar.State, error) {
	if t.Calendar == "" {
		return s.lookAtHome(ctx, c)
	}
	cal, err := s.Calendar(ctx, c, t.Calendar)
	if err != nil {
		return "", err
	}
	if err := c.May(calendar.ReadObjects, cal); err != nil {
		return "", err
	}
	if t.UID == "" {
		return calendar.State(cal.Version.String()), nil
	}
	o, err := s.store.ObjectByUID(ctx, cal.ID, t.UID)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return gone, nil
	}
	return calendar.State(o.Version.String()), err
}

// lookAtHome returns the state of the list of calendars that the caller can read.
func (s *Hub) lookAtHome(ctx context.Context, c calendar.Caller) (calendar.State, error) {
	all, err := s.Calendars(ctx, c)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, cal := range all {
		if c.May(calendar.ReadObjects, cal) == nil {
			_, _ = fmt.Fprintf(sum, "%q %q\n", cal.ID, cmp.Or(cal.Name, "-"))
		}
	}
	return calendar.State(hex.EncodeToString(sum.Sum(nil)[:8])), nil
}

// Subscribe stores a subscription to a target's changes from now on. The process that has the subscriber's
// connection sends the notifications.
func (s *Hub) Subscribe(ctx context.Context, c calendar.Caller, sub calendar.Subscription) error {
	if len(sub.Name) > maxFollowedName {
		return calendar.Errorf(calendar.Invalid, "", "the name of a subscription may have at most %d bytes",
			maxFollowedName)
	}
	seen, err := s.find(ctx, c, sub.Target)
	if err != nil {
		return err
	}
	sub.User, sub.Seen = c.User.ID, seen
	err = s.store.Subscribe(ctx, sub, s.now(), MaxFollowed, maxSubscriptions)
	if err != nil && calendar.ReasonOf(err) == calendar.TooLarge {
		return errFollowed()
	}
	return err
}

func errFollowed() error {
	return calendar.Errorf(calendar.TooLarge, "", "a session can have at most %d subscriptions", MaxFollowed).
		Advising("end subscriptions that you no longer need, or subscribe to a calendar instead of its events")
}

// Unsubscribe ends a subscription by name, or all of the subscriber's if name is empty.
func (s *Hub) Unsubscribe(ctx context.Context, id calendar.SubscriberID, name string) error {
	return s.store.Unsubscribe(ctx, id, name)
}

// Limits of subscriptions.
const (
	// MaxFollowed limits the targets of one subscriber.
	MaxFollowed = 100
	// maxSubscriptions limits a user's subscriptions in all sessions.
	maxSubscriptions = 1000
	// maxFollowedName limits the name of a subscription, in bytes.
	maxFollowedName = 4096
)
