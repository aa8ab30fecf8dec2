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
	calendar.BrowserKeeper
	calendar.Webhooks
	calendar.Leases
	calendar.JournalReader
}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
}

// Config holds the dependencies of a Courier.
type Config struct {
	Store Store
	// Calendar returns a calendar as a caller sees it.
	Calendar func(ctx context.Context, c calendar.Caller, id calendar.CalendarID) (calendar.Calendar, error)
	// Program returns the caller of a user's password or token as of now, Owner the user as a caller. ok is set if the
	// caller may still authenticate.
	Program func(ctx context.Context, user calendar.UserID,
		token calendar.TokenID) (c calendar.Caller, ok bool, err error)
	Owner func(ctx context.Context, user calendar.UserID) (c calendar.Caller, ok bool, err error)
	// Ending returns the letter to the owner of a webhook that is turned off, or nil; a nil function turns such mail
	// off.
	Ending func(ctx context.Context, w calendar.Webhook) (*calendar.News, error)
	// Send sends a request to an address that a user supplied; the text of its error is for that user.
	Send func(r *http.Request) (Answer, error)
	// From signs messages to devices; Topics derives their topics. Webhook secrets derive from Secret.
	From   webpush.Sender
	Topics calendar.TopicKey
	Secret []byte
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
	// Task traces each message; nil turns that off.
	Task calendar.Task
}

// Limits and intervals.
const (
	// leaseName is the lease of the sending process. leaseTime is how long after its crash another process takes over.
	// While messages are in flight, each poll renews the lease. If polls are slow, it is renewed between them.
	leaseName             = "push"
	leaseTime, renewEvery = 7 * time.Second, 3 * time.Second
	// lookEvery is the polling interval; all changes in between become one message. Notifications instead of polling
	// would slow down writers: on Postgres, a NOTIFY with each commit.
	lookEvery = 2 * time.Second
	// rest is the minimum pause between two polls, as a multiple of the first one's duration. It limits the load of
	// polling.
	rest = 4
	// queueMost limits the messages in memory; lagsMost limits the webhook messages created at once.
	queueMost, lagsMost = 512, 50
	// sendTime is the timeout of a message; perMinute limits a user's messages per minute.
	sendTime = 15 * time.Second
	// gatherTime is how long a finished message waits for others, to commit their results together. With slots it
	// limits the message rate, so that users' writes take precedence.
	gatherTime = 100 * time.Millisecond
	// askers limits the concurrent permission checks, so that they do not crowd out writers in the store.
	askers    = 2
	perMinute = 120
)

// errand is a due message. Its outcome is recorded when it is finished.
type errand struct {
	// task is the name of its kind in traces.
	task string
	key  string
	to   receiver
	run  func(ctx context.Context) outcome
	// later returns the outcome of postponing it without a try.
	later func(due time.Time) outcome
}

// outcome is the result of an errand. Devices are recorded together in one transaction; note records any other result.
type outcome struct {
	device *calendar.PushSubscription
	note   func(context.Context) error
	// failed is set if the message did not arrive.
	failed bool
}

// landed is a finished errand.
type landed struct {
	errand
	outcome
	// failing is set if the receiver was failing when the message left.
	failing bool
}

// Courier delivers messages. Except for the errands, all its work runs in one goroutine.
type Courier struct {
	Config
	holder string
	queue  []errand
	flying map[string]bool
	// traffic counts the messages in flying.
	traffic *traffic
	spent   map[calendar.UserID]minute
	back    chan landed
	// asking limits the errands that query the store.
	asking chan struct{}
	// full is set if more was due than the queue holds; mine is set if this process held the lease at the last poll.
	full, mine bool
	// looked is when the last poll began, took its duration. leased is when the lease was last taken or renewed.
	looked, leased time.Time
	took           time.Duration
}

// minute counts the messages of a minute.
type minute struct {
	at   time.Time
	sent int
}

// NewCourier makes a Courier.
func NewCourier(c Config) *Courier {
	c.Task = c.Task.OrNone()
	return &Courier{
		Config: c, holder: c.NewID(), flying: map[string]bool{}, traffic: newTraffic(),
		spent: map[calendar.UserID]minute{},
		back:  make(chan landed, slots), asking: make(chan struct{}, askers),
	}
}

// Run delivers messages until the context ends.
func (s *Courier) Run(ctx context.Context) {
	defer s.leave(ctx)
	next := time.NewTimer(calendar.UntilNext(s.Now(), lookEvery))
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			if s.rested() {
				s.report(ctx, s.look(ctx))
			} else {
				s.report(ctx, s.renew(ctx))
			}
			next.Reset(calendar.UntilNext(s.Now(), lookEvery))
		case one := <-s.back:
			s.gather(ctx)
			s.report(ctx, s.land(ctx, one))
			if len(s.queue) == 0 && len(s.flying) < slots/2 && s.full && s.rested() {
				s.report(ctx, s.look(ctx)) // more is due than was taken
			}
		}
		s.launch(ctx)
	}
}

// rested reports whether the pause after a poll is over.
func (s *Courier) rested() bool { return s.Now().Sub(s.looked) >= rest*s.took }

// leave waits for messages in flight and releases the lease.
func (s *Courier) leave(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	renew := time.NewTicker(renewEvery)
	defer renew.Stop()
	for len(s.flying) > 0 {
		select {
		case one := <-s.back:
			s.report(ctx, s.land(ctx, one))
		case <-renew.C:
			s.report(ctx, s.renew(ctx))
		}
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

// Round delivers all due messages and waits for them.
func (s *Courier) Round(ctx context.Context) error {
	err := s.look(ctx)
	for s.launch(ctx); len(s.flying) > 0; s.launch(ctx) {
		err = errors.Join(err, s.land(ctx, <-s.back))
	}
	return err
}

// look polls for due messages. If there are any, it takes the lease, unless another process holds it, and fills the
// queue.
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
	s.leased = now
	if s.mine = mine && failed == nil; !s.mine {
		s.queue, s.full = nil, false
		return errors.Join(err, failed)
	}
	if len(lags) > 0 {
		// A failure to create one webhook's messages does not stop the others.
		err = errors.Join(err, s.catchUpAll(ctx, lags))
		again, lost := s.due(ctx)
		due, err = again, errors.Join(err, lost)
	}
	s.queue, s.full = due, len(due) >= queueMost
	return err
}

// renew prolongs the lease while messages are in flight, unless a poll has just done so. If another process has the
// lease by now, the queue is left to it.
func (s *Courier) renew(ctx context.Context) error {
	now := s.Now()
	if !s.mine || len(s.flying) == 0 || now.Sub(s.leased) < renewEvery {
		return nil
	}
	mine, err := s.Store.Prolong(ctx, leaseName, s.holder, now.Add(leaseTime))
	if err != nil {
		return err
	}
	if s.mine, s.leased = mine, now; !mine {
		s.queue, s.full = nil, false
	}
	return nil
}

// due returns the due messages, alternating between browsers, devices and webhooks.
func (s *Courier) due(ctx context.Context) ([]errand, error) {
	pushes, err := s.Store.DuePushes(ctx, s.Now(), queueMost)
	hooks, lost := s.Store.DueDeliveries(ctx, s.Now(), queueMost)
	notes, missed := s.Store.DueBrowserMessages(ctx, s.Now(), queueMost)
	var all []errand
	for i := range max(len(pushes), len(hooks), len(notes)) {
		if i < len(notes) {
			all = append(all, s.toBrowser(notes[i]))
		}
		if i < len(pushes) {
			all = append(all, s.toDevice(pushes[i]))
		}
		if i < len(hooks) {
			all = append(all, s.toWebhook(hooks[i]))
		}
	}
	return all, errors.Join(err, lost, missed)
}

// launch starts the queued messages that may leave now.
func (s *Courier) launch(ctx context.Context) {
	kept, put := s.queue[:0], tally{}
	for i, e := range s.queue {
		if s.traffic.all >= slots || ctx.Err() != nil {
			kept = append(kept, s.queue[i:]...)
			break
		}
		switch {
		case s.flying[e.key]: // in flight since an earlier poll
		case !s.traffic.room(e.to):
			kept = append(kept, e)
		default:
			s.send(ctx, e, &put)
		}
	}
	s.queue = kept
	s.report(ctx, s.settleAll(ctx, put))
}

// send starts a message, or postpones it if its user is over the limit.
func (s *Courier) send(ctx context.Context, e errand, put *tally) {
	if again, ok := s.allowed(e.to.user); !ok {
		put.add(e.later(again))
		return
	}
	s.flying[e.key] = true
	failing := s.traffic.begin(e.to)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, sendTime)
		defer cancel()
		ctx, end := s.Task(ctx, e.task)
		came := e.run(ctx)
		end(came.failed)
		s.back <- landed{e, came, failing}
	}()
}

// allowed reports whether a user may send another message now, or otherwise when.
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

// gather waits for other messages to finish, so that their results share one transaction.
func (s *Courier) gather(ctx context.Context) {
	wait := time.NewTimer(gatherTime)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// land records the outcomes of all finished messages, even during shutdown.
func (s *Courier) land(ctx context.Context, one landed) error {
	var back tally
	for more := true; more; {
		delete(s.flying, one.key)
		s.traffic.end(one.to, one.failing, one.failed)
		back.add(one.outcome)
		select {
		case one = <-s.back:
		default:
			more = false
		}
	}
	return s.settleAll(context.WithoutCancel(ctx), back)
}

// tally collects the outcomes of finished messages.
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

// settleAll records the outcomes. Devices share one transaction.
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
