package mail

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lease"
	"caldav-mcp-server/locale"
	"caldav-mcp-server/mail/letter"
)

// Store keeps the state of this package.
type Store interface {
	calendar.Outbox
	calendar.Leases
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
}

// Limits bound the mail that is sent in a user's name.
type Limits struct {
	// User limits the mails per user and hour, Recipient those to one address per hour from all users.
	User, Recipient int
	// GivenUp is how long a letter is retried.
	GivenUp time.Duration
	// Told limits the bytes of stored letters per user, which are kept for later comparison.
	Told int64
}

// DefaultLimits returns the default limits.
func DefaultLimits() Limits {
	return Limits{User: 500, Recipient: 60, GivenUp: 4 * 24 * time.Hour, Told: 16 << 20}
}

// Config holds the dependencies and settings of a Sender.
type Config struct {
	Store  Store
	Middle calendar.Correspondence
	Relay  Relay
	Post   letter.Post
	Key    Key
	// Answers makes the links to answer; nil if recipients could not reach this server.
	Answers *Answers
	// Digests sends daily mails; nil turns them off.
	Digests *Digests
	// Endings sends mails about disabled webhooks; nil turns them off.
	Endings *Endings
	// Offers sends mails about pending shares; nil turns them off.
	Offers *Offers
	// Polls writes the mails of polls; it is NotFound if there is nothing to send. Nil turns them off.
	Polls  func(ctx context.Context, l calendar.Letter) (calendar.PollMail, error)
	Limits Limits
	Now    func() time.Time
	NewID  func() string
	Logger *slog.Logger
	// Task traces each sent letter; nil turns that off.
	Task calendar.Task
}

// Sender sends the mails of the outbox.
type Sender struct {
	Config
	lease           *lease.Lease
	users, everyone throttle
	// mu guards inHand, the letters that it took and has not settled yet.
	mu     sync.Mutex
	inHand []calendar.LetterID
	// looked is when the outbox was last checked for delayed mail.
	looked time.Time
}

// NewSender makes a Sender.
func NewSender(c Config) *Sender {
	if c.Relay.Hello == "" {
		c.Relay.Hello = letter.Domain(c.Post.From)
	}
	c.Task = c.Task.OrNone()
	s := &Sender{Config: c, users: throttle{most: c.Limits.User}, everyone: throttle{most: c.Limits.Recipient}}
	s.lease = lease.NewKeeper(c.Store, c.Now, c.NewID).New(leaseName)
	s.lease.Also = s.hold
	return s
}

const (
	// leaseName is the lease of the sending process.
	leaseName = "mail out"
	// turn is how long a process sends its batch of letters. While it sends, it renews its lease and its hold
	// on the letters, so that after its crash another process goes on within [lease.Term].
	turn = 8 * time.Minute
	// batch is the number of letters taken at once.
	batch = 20
	// pollEvery is how often the outbox is polled.
	pollEvery = 5 * time.Second
)

// Run sends the mails of the outbox until the context ends.
func (s *Sender) Run(ctx context.Context) {
	defer s.lease.GiveBack(ctx)
	for {
		s.look(ctx)
		n, err := s.Round(ctx)
		if err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "mail was not sent", "error", err)
		}
		if n == batch && err == nil && ctx.Err() == nil {
			continue
		}
		select {
		case <-time.After(calendar.UntilNext(s.Now(), pollEvery)):
		case <-ctx.Done():
			return
		}
	}
}

// How old queued mail must be for a warning, and how often to check.
const (
	waitsLong = 6 * time.Hour
	lookEvery = time.Hour
)

// look warns about delayed mail.
func (s *Sender) look(ctx context.Context) {
	now := s.Now()
	if now.Sub(s.looked) < lookEvery {
		return
	}
	s.looked = now
	n, oldest, err := s.Store.WaitingLetters(ctx)
	if err == nil && n > 0 && now.Sub(oldest) > waitsLong {
		s.Logger.WarnContext(ctx, "mail has been waiting to be sent", "letters", n, "oldest", oldest)
	}
}

// waiting reports whether there is mail to send or to make. Without any, no lease is taken: that would be a write every
// few seconds.
func (s *Sender) waiting(ctx context.Context) (bool, error) {
	n, _, err := s.Store.WaitingLetters(ctx)
	if err == nil && n == 0 && s.Digests != nil {
		n, err = s.Digests.due(ctx)
	}
	if err == nil && n == 0 && s.Offers != nil {
		n, err = s.Offers.due(ctx)
	}
	return n > 0, err
}

// Round sends the due letters, unless another process is sending. It returns the number of letters that it took. It
// keeps the lease until the next round.
func (s *Sender) Round(ctx context.Context) (int, error) {
	if waiting, err := s.waiting(ctx); err != nil || !waiting {
		return 0, err
	}
	mine, err := s.lease.Take(ctx)
	if err != nil || !mine {
		return 0, err
	}
	held := s.lease.Keep(ctx)
	defer s.lease.Rest()
	began := s.Now()
	if s.Digests != nil {
		// Their errors do not hold up other letters.
		if err := s.Digests.post(ctx); err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "mail of the day was not made", "error", err)
		}
	}
	if s.Offers != nil {
		if err := s.Offers.post(ctx); err != nil && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "mail about shares was not made", "error", err)
		}
	}
	letters, err := s.takeLetters(ctx)
	if err != nil {
		return 0, err
	}
	line := &session{Relay: s.Relay}
	defer line.quit()
	var failed error
	for i, l := range letters {
		if ctx.Err() != nil || s.Now().Sub(began) > turn || s.lease.Sure(held) != nil {
			return i, s.giveBack(ctx, letters[i:])
		}
		err := s.one(ctx, line, l, &failed)
		s.settled(l)
		if err != nil {
			return len(letters), errors.Join(err, s.giveBack(ctx, letters[i+1:]))
		}
	}
	return len(letters), failed
}

// takeLetters takes the due letters, for as long as the lease lasts.
func (s *Sender) takeLetters(ctx context.Context) ([]calendar.Letter, error) {
	now := s.Now()
	letters, err := s.Store.TakeLetters(ctx, now, now.Add(lease.Term), batch)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inHand = nil
	for _, l := range letters {
		s.inHand = append(s.inHand, l.ID)
	}
	return letters, err
}

// hold extends the hold on the letters that are not settled yet.
func (s *Sender) hold(ctx context.Context, until time.Time) {
	s.mu.Lock()
	ids := slices.Clone(s.inHand)
	s.mu.Unlock()
	if len(ids) == 0 {
		return
	}
	if err := s.Store.HoldLetters(ctx, ids, until); err != nil && ctx.Err() == nil {
		s.Logger.WarnContext(ctx, "letters that are being sent could not be held", "error", err)
	}
}

func (s *Sender) settled(l calendar.Letter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inHand = slices.DeleteFunc(s.inHand, func(id calendar.LetterID) bool { return id == l.ID })
}

// giveBack returns letters to the queue for the next turn.
func (s *Sender) giveBack(ctx context.Context, letters []calendar.Letter) error {
	var errs []error
	for _, l := range letters {
		s.settled(l)
		errs = append(errs, ignoreLost(s.Store.SettleLetter(context.WithoutCancel(ctx), l)))
	}
	return errors.Join(errs...)
}

// one advances a letter, unless it must wait. down is the reason why the relay accepts no mail, once known.
func (s *Sender) one(ctx context.Context, line *session, l calendar.Letter, down *error) error {
	if l.Status == "" {
		if again, ok := s.allowed(l); !ok {
			l.Due = again
			return s.Store.SettleLetter(ctx, l)
		}
	}
	return s.bring(ctx, line, l, down)
}

func (s *Sender) bring(ctx context.Context, line *session, l calendar.Letter, down *error) (err error) {
	ctx, end := s.Task(ctx, "mail out")
	defer func() {
		end(err != nil || l.Status != statusSent, slog.String("method", string(l.Method)),
			slog.String("status", l.Status), slog.Int64("tries", l.Tries))
	}()
	if l.Status == "" {
		if l, err = s.post(ctx, line, l, down); err != nil {
			return ignoreLost(err)
		}
		// Not the caller's context: a sent mail is recorded even during shutdown.
		if err := s.Store.SettleLetter(context.WithoutCancel(ctx), l); err != nil || l.Status == "" {
			return ignoreLost(err)
		}
	}
	return s.conclude(context.WithoutCancel(ctx), l)
}

// conclude lets the service record the outcome of a letter, which then leaves the outbox. If that fails, other letters
// still go ahead: it is retried in the next turn and given up like a letter.
func (s *Sender) conclude(ctx context.Context, l calendar.Letter) error {
	if s.own(l.Method) != nil {
		return s.Store.ConcludeLetter(ctx, l, false, s.Now(), s.Limits.Told)
	}
	if err := s.Middle.Delivered(ctx, l); err != nil {
		s.Logger.WarnContext(ctx, "the outcome of a letter could not be recorded", "letter", l.ID, "error", err)
		if s.Now().Sub(l.Posted) < s.Limits.GivenUp {
			return nil
		}
	}
	return s.Store.ConcludeLetter(ctx, l, l.Status == statusSent, s.Now(), s.Limits.Told)
}

// ignoreLost ignores the error that another process holds the letter, or that its user is gone.
func ignoreLost(err error) error {
	if calendar.ReasonOf(err) == calendar.NotFound {
		return nil
	}
	return err
}

// allowed reports whether the letter may leave now, or otherwise when.
func (s *Sender) allowed(l calendar.Letter) (again time.Time, ok bool) {
	if again, ok = s.users.take(string(l.User), s.Now()); !ok {
		return again, false
	}
	return s.everyone.take(string(l.To), s.Now())
}

// post sends a letter and returns it with its final status or the time of its next try.
func (s *Sender) post(ctx context.Context, line *session, l calendar.Letter, down *error) (calendar.Letter, error) {
	p, err := s.submission(ctx, l)
	switch {
	case errors.Is(err, errNothing):
		l.Status = statusUnsent
		return l, nil
	case err != nil && s.own(l.Method) != nil && s.Now().Sub(l.Posted) < s.patience(l):
		s.Logger.WarnContext(ctx, "a mail of the server's own could not be made", "letter", l.ID, "method", l.Method,
			"error", err)
		l.Due = s.Now().Add(s.pause(l))
		return l, nil
	case err != nil && calendar.ReasonOf(err) != calendar.Internal:
		return l, err // the store is unavailable
	case err != nil:
		s.Logger.WarnContext(ctx, "a letter could not be made into a mail", "letter", l.ID, "error", err)
		l.Status = statusUnsent
		return l, nil
	case *down == nil:
		err = line.send(ctx, p)
	default:
		err = *down
	}
	if err == nil {
		s.Logger.InfoContext(ctx, "a letter was mailed", "letter", l.ID, "method", l.Method, "tries", l.Tries)
		l.Status = statusSent
		return l, nil
	}
	status, all := outcome(err)
	if all {
		*down = err
	}
	if status == "" && s.Now().Sub(l.Posted) > s.patience(l) {
		status = statusUnsent
	}
	if status != "" {
		s.Logger.WarnContext(ctx, "a letter was refused", "letter", l.ID, "method", l.Method, "status", status, "error",
			err)
	}
	l.Status, l.Due = status, s.Now().Add(s.pause(l))
	return l, nil
}

// patience is how long a letter is retried. A digest and a notification expire sooner: yesterday's are useless.
func (s *Sender) patience(l calendar.Letter) time.Duration {
	if l.Method == calendar.MethodDigest {
		return min(digestLate, s.Limits.GivenUp)
	}
	if l.Method == calendar.MethodAlert {
		return min(alertLate, s.Limits.GivenUp)
	}
	return s.Limits.GivenUp
}

// Limits for the growing pauses between retries.
const (
	firstPause   = time.Minute
	longestPause = 4 * time.Hour
)

// pause returns the wait before a letter's next try. It doubles each time, with 25 % jitter derived from the letter's
// id, so that letters which failed together do not return together.
func (s *Sender) pause(l calendar.Letter) time.Duration {
	pause := firstPause << min(l.Tries-1, 8)
	pause = min(pause, longestPause)
	part := time.Duration(s.Key.mac("pause", string(l.ID))[0]) % 51
	return pause*3/4 + pause*part/100
}

// own returns the function that composes a mail from the server itself; nil for a scheduling message.
func (s *Sender) own(m calendar.Method) func(ctx context.Context, l calendar.Letter, id string) ([]byte, error) {
	if m == calendar.MethodDigest {
		return s.digest
	}
	if m == calendar.MethodEnded {
		return s.ended
	}
	if m == calendar.MethodOffered {
		return s.offered
	}
	if m == calendar.MethodPoll {
		return s.poll
	}
	if m == calendar.MethodAlert {
		return s.alert
	}
	return nil
}

// submission composes the mail of a letter.
func (s *Sender) submission(ctx context.Context, l calendar.Letter) (submission, error) {
	if _, err := letter.Address(string(l.To)); err != nil {
		return submission{}, err
	}
	domain := letter.Domain(s.Post.From)
	p := submission{from: s.Post.From, to: l.To, id: s.Key.messageID(l.ID, domain)}
	if own := s.own(l.Method); own != nil {
		var err error
		p.data, err = own(ctx, l, p.id)
		return p, err
	}
	told, err := s.Store.Told(ctx, l.User, l.To, l.UID)
	if err != nil {
		return submission{}, errors.Join(errAway, err)
	}
	user, err := s.Store.UserByID(ctx, l.User)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return submission{}, err // the letter is gone together with its user
	}
	if err != nil {
		return submission{}, errors.Join(errAway, err)
	}
	e := letter.Envelope{
		Letter: l, Told: told, Sender: user.Title(), Zone: zoneOf(user), ID: p.id, Thread: s.Key.threadID(l, domain),
		// Recipients are people elsewhere, whose language is unknown.
		Language: languageOf(user),
	}
	if s.Answers != nil && l.Method == calendar.MethodRequest {
		e.Answer = s.Answers.Link(l, e.Zone)
	}
	m, err := s.Post.Compose(e)
	p.data = m.Data
	return p, err
}

// errAway marks errors that are not the letter's fault.
var errAway = &calendar.Error{Reason: calendar.Unavailable, Message: "the store does not answer"}

// languageOf returns the language of mails to a user, or in their name.
func languageOf(u calendar.User) *locale.Language { return locale.Match(u.Languages()...) }

// zoneOf returns a user's time zone.
func zoneOf(u calendar.User) *time.Location {
	if loc, err := time.LoadLocation(u.Timezone); err == nil && u.Timezone != "" {
		return loc
	}
	return time.UTC
}
