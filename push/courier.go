package push

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/webpush"
)

// Store keeps the state of this package.
type Store interface {
	calendar.Pushes
	calendar.Webhooks
	calendar.Leases
	calendar.JournalReader
}

// Answer is what came of a request.
type Answer struct {
	Status int
	Header http.Header
}

// Config has the parts of a Courier.
type Config struct {
	Store Store
	// Calendar is a calendar as a caller sees it, or why not.
	Calendar func(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Calendar, error)
	// Program is the caller for whom a user's password or token speaks now, Owner a user for themselves; ok tells whether they
	// are let in at all.
	Program func(ctx context.Context, user calendar.UserID, token calendar.TokenID) (c calendar.Caller, ok bool, err error)
	Owner   func(ctx context.Context, user calendar.UserID) (c calendar.Caller, ok bool, err error)
	// Ending is the letter to its owner about a webhook that is turned off, if there is one; nil where none are sent.
	Ending func(ctx context.Context, w calendar.Webhook) (*calendar.News, error)
	// Send sends a request to an address that somebody named; the text of its error is for them.
	Send func(r *http.Request) (Answer, error)
	// From signs messages to devices, Topics names what they are about. Secrets are made of Secret.
	From   webpush.Sender
	Topics calendar.TopicKey
	Secret []byte
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
	// Task is told of each message; nil where nobody wants to know.
	Task calendar.Task
}

// Bounds of the work.
const (
	// leaseName is the lease of the process that tells, leaseTime how long after it was killed another one does.
	leaseName = "push"
	leaseTime = 30 * time.Second
	// lookEvery is how often it is looked for what is due; what changes meanwhile is one message. Anyone who changes something
	// would pay for being listened to: on Postgres, a notification with each commit.
	lookEvery = 2 * time.Second
	// rest is how many times as long as a look the next one waits at least, however much there is to look at.
	rest = 4
	// slots is how many messages are under way at once, perUser how many of them are one user's: one whose services do not
	// answer holds up nobody else.
	slots, perUser = 32, 4
	// queueMost bounds what is held of what is due, lagsMost how many messages to webhooks are made at once.
	queueMost, lagsMost = 512, 50
	// sendTime is how long a message may take, perMinute how many of one user's leave in a minute.
	sendTime = 15 * time.Second
	// gatherTime is how long one that is back waits for others. With the slots it bounds how much is told in a second: changes come first.
	gatherTime = 100 * time.Millisecond
	// askers is how many messages ask at once who may know: the store is there first for those that change something.
	askers    = 2
	perMinute = 120
)

// errand is a message that is due. It is noted what came of it once it is back.
type errand struct {
	// task is what a message of its kind is called.
	task string
	key  string
	user calendar.UserID
	run  func(ctx context.Context) outcome
	// later notes that it is due again at a time, without having been tried.
	later func(due time.Time) outcome
}

// outcome is what came of an errand: a device that is settled together with others, or something to note by itself, or nothing.
type outcome struct {
	device *calendar.PushSubscription
	note   func(context.Context) error
	// failed tells that the message did not arrive.
	failed bool
}

// landed is an errand that is back.
type landed struct {
	errand
	outcome
}

// Courier takes messages to where they belong. But for the errands all of it is one goroutine's.
type Courier struct {
	Config
	holder string
	queue  []errand
	flying map[string]bool
	users  map[calendar.UserID]int
	spent  map[calendar.UserID]minute
	back   chan landed
	// asking has room for those that ask the store.
	asking chan struct{}
	// full tells that more was due than the queue holds, mine that the lease was had last.
	full, mine bool
	// looked is when it was last looked for what is due, took how long that lasted.
	looked time.Time
	took   time.Duration
}

// minute counts what left in a minute.
type minute struct {
	at   time.Time
	sent int
}

// NewCourier makes a Courier.
func NewCourier(c Config) *Courier {
	c.Task = c.Task.OrNone()
	return &Courier{
		Config: c, holder: c.NewID(), flying: map[string]bool{}, users: map[calendar.UserID]int{}, spent: map[calendar.UserID]minute{},
		back: make(chan landed, slots), asking: make(chan struct{}, askers),
	}
}

// Run tells of what changes until the context ends.
func (s *Courier) Run(ctx context.Context) {
	defer s.leave(ctx)
	next := time.NewTimer(lookEvery)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			s.report(ctx, s.look(ctx))
			next.Reset(max(lookEvery, rest*s.took))
		case one := <-s.back:
			s.gather(ctx)
			s.report(ctx, s.land(ctx, one))
			if len(s.queue) == 0 && len(s.flying) < slots/2 && s.full && s.Now().Sub(s.looked) > rest*s.took {
				s.report(ctx, s.look(ctx)) // there is more than was taken
			}
		}
		s.launch(ctx)
	}
}

// leave waits for what is under way and lets another process tell.
func (s *Courier) leave(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	for len(s.flying) > 0 {
		s.report(ctx, s.land(ctx, <-s.back))
	}
	if s.mine {
		s.report(ctx, s.Store.Release(ctx, leaseName, s.holder))
	}
}

func (s *Courier) report(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		s.Logger.WarnContext(ctx, "changes were not told", "error", err)
	}
}

// Round tells all that is due, and waits for it.
func (s *Courier) Round(ctx context.Context) error {
	err := s.look(ctx)
	for s.launch(ctx); len(s.flying) > 0; s.launch(ctx) {
		err = errors.Join(err, s.land(ctx, <-s.back))
	}
	return err
}

// look finds what is due and, if there is anything and no other process is at it, takes it up.
func (s *Courier) look(ctx context.Context) error {
	s.looked = s.Now()
	defer func() { s.took = s.Now().Sub(s.looked) }()
	lags, lost := s.Store.WebhookLags(ctx, calendar.DefaultWebhookRoom(), lagsMost)
	due, err := s.due(ctx)
	err = errors.Join(lost, err)
	if len(lags)+len(due)+len(s.flying) == 0 {
		s.queue, s.full = nil, false
		return err
	}
	now := s.Now()
	mine, failed := s.Store.Lease(ctx, leaseName, s.holder, now, now.Add(leaseTime))
	if s.mine = mine && failed == nil; !s.mine {
		s.queue, s.full = nil, false
		return errors.Join(err, failed)
	}
	if len(lags) > 0 {
		// One that cannot be caught up holds up no other.
		err = errors.Join(err, s.catchUpAll(ctx, lags))
		again, lost := s.due(ctx)
		due, err = again, errors.Join(err, lost)
	}
	s.queue, s.full = due, len(due) >= queueMost
	return err
}

// due are the errands that are due, those to devices and to webhooks in turn.
func (s *Courier) due(ctx context.Context) ([]errand, error) {
	pushes, err := s.Store.DuePushes(ctx, s.Now(), queueMost)
	hooks, lost := s.Store.DueDeliveries(ctx, s.Now(), queueMost)
	var all []errand
	for i := range max(len(pushes), len(hooks)) {
		if i < len(pushes) {
			all = append(all, s.toDevice(pushes[i]))
		}
		if i < len(hooks) {
			all = append(all, s.toWebhook(hooks[i]))
		}
	}
	return all, errors.Join(err, lost)
}

// launch sends off what may leave now.
func (s *Courier) launch(ctx context.Context) {
	kept, put := s.queue[:0], tally{}
	for i, e := range s.queue {
		if len(s.flying) >= slots || ctx.Err() != nil {
			kept = append(kept, s.queue[i:]...)
			break
		}
		switch {
		case s.flying[e.key]: // it is on its way since an earlier look
		case s.users[e.user] >= perUser:
			kept = append(kept, e)
		default:
			s.send(ctx, e, &put)
		}
	}
	s.queue = kept
	s.report(ctx, s.settleAll(ctx, put))
}

// send sends one off, or puts it off.
func (s *Courier) send(ctx context.Context, e errand, put *tally) {
	if again, ok := s.allowed(e.user); !ok {
		put.add(e.later(again))
		return
	}
	s.flying[e.key] = true
	s.users[e.user]++
	go func() {
		ctx, cancel := context.WithTimeout(ctx, sendTime)
		defer cancel()
		ctx, end := s.Task(ctx, e.task)
		came := e.run(ctx)
		end(came.failed)
		s.back <- landed{e, came}
	}()
}

// allowed tells whether another message of a user's may leave now or, if not, when.
func (s *Courier) allowed(user calendar.UserID) (again time.Time, ok bool) {
	now := s.Now()
	m := s.spent[user]
	if !now.Before(m.at.Add(time.Minute)) {
		m = minute{at: now}
	}
	if m.sent >= perMinute {
		return m.at.Add(time.Minute), false
	}
	m.sent++
	if len(s.spent) > 100*queueMost {
		clear(s.spent)
	}
	s.spent[user] = m
	return time.Time{}, true
}

// gather waits for others that are about to be back: what came of them is noted in one transaction.
func (s *Courier) gather(ctx context.Context) {
	wait := time.NewTimer(gatherTime)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// land notes what came of an errand and of all others that are back, also where the program is told to stop.
func (s *Courier) land(ctx context.Context, one landed) error {
	var back tally
	for more := true; more; {
		delete(s.flying, one.key)
		if s.users[one.user]--; s.users[one.user] == 0 {
			delete(s.users, one.user)
		}
		back.add(one.outcome)
		select {
		case one = <-s.back:
		default:
			more = false
		}
	}
	return s.settleAll(context.WithoutCancel(ctx), back)
}

// tally is what came of some errands.
type tally struct {
	devices []calendar.PushSubscription
	notes   []func(context.Context) error
}

func (t *tally) add(o outcome) {
	if o.device != nil {
		t.devices = append(t.devices, *o.device)
	}
	if o.note != nil {
		t.notes = append(t.notes, o.note)
	}
}

// settleAll notes it, that of all devices in one transaction.
func (s *Courier) settleAll(ctx context.Context, t tally) error {
	var failed []error
	for _, note := range t.notes {
		failed = append(failed, note(ctx))
	}
	if len(t.devices) > 0 {
		failed = append(failed, s.Store.SettlePushes(ctx, t.devices))
	}
	return errors.Join(failed...)
}
