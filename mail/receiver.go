package mail

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// Receiver takes mail in, from whichever way it comes.
type Receiver struct {
	Store  Store
	Middle calendar.Correspondence
	Key    Key
	Trust  Trust
	Now    func() time.Time
	Logger *slog.Logger
	// Task is told of each mail; nil where nobody wants to know.
	Task calendar.Task

	mu      sync.Mutex
	senders throttle
	talks   throttle
}

// How many messages one address may send in an hour, and how many about one event: two servers that answer each other
// end there.
const (
	senderMost = 120
	talkMost   = 60
)

// Verdict is the outcome of a mail that came in, in a few words.
type Verdict string

// The verdicts there are. A refusal by the middle has its reason behind a colon.
const (
	Done     Verdict = "done"
	Bounced  Verdict = "a mail of ours could not be delivered"
	Nothing  Verdict = "no scheduling message"
	Ours     Verdict = "a mail of our own"
	Bad      Verdict = "bad"
	Unproven Verdict = "not proven to be from whom it says"
	Foreign  Verdict = "not from who may say so"
	TooMany  Verdict = "too many"
	Refused  Verdict = "refused"
)

// Take does what a mail asks for, if it may. To are the addresses that it was handed in for, where that is known. An error
// means that it is to be handed in again later; whatever else is wrong with a mail is a verdict, and nothing has changed then.
func (r *Receiver) Take(ctx context.Context, raw []byte, to []calendar.MailAddress) (Verdict, error) {
	t := &taking{Receiver: r, raw: raw, to: to}
	ctx, end := r.Task.OrNone()(ctx, "mail in")
	verdict, why, err := t.take(ctx)
	end(err != nil, slog.String("verdict", string(verdict)), slog.String("method", string(t.method)), slog.Int("bytes", len(raw)))
	log := r.Logger.With("verdict", string(verdict), "bytes", len(raw), "method", t.method, "domain", t.domain)
	switch {
	case err != nil:
		log.WarnContext(ctx, "a mail has to come again", "error", err)
	case verdict == Done || verdict == Bounced || verdict == Nothing:
		log.InfoContext(ctx, "a mail came in")
	default:
		log.WarnContext(ctx, "a mail was not followed", "why", why)
	}
	return verdict, err
}

// taking is one mail on its way in, with what the log says of it.
type taking struct {
	*Receiver
	raw    []byte
	to     []calendar.MailAddress
	method calendar.Method
	domain string
}

func (t *taking) take(ctx context.Context) (verdict Verdict, why string, err error) {
	m, err := readMail(t.raw)
	if err != nil {
		return Bad, err.Error(), nil //nolint:nilerr // that is the verdict: to come again helps nobody
	}
	t.domain = letter.Domain(m.from)
	if _, ours := t.Key.ours(m.header.Get("Message-Id")); ours {
		return Ours, "", nil
	}
	if m.report != nil {
		return t.bounce(ctx, *m.report)
	}
	if m.scheduling == nil {
		return Nothing, "", nil
	}
	s, err := readScheduling(m.scheduling, m.method)
	if err != nil {
		return Bad, err.Error(), nil //nolint:nilerr // that is the verdict: to come again helps nobody
	}
	t.method = s.method
	who, ok := s.speaker(m.from)
	proven, err := t.Trust.proven(ctx, t.raw, m)
	if !ok {
		t.refused(ctx, m, calendar.NotOrganizer, proven)
		return Foreign, "", nil
	}
	if err != nil || !proven {
		if err == nil {
			t.refused(ctx, m, calendar.NotProven, false)
		}
		return Unproven, "", err
	}
	if !t.allowed(m.from, s.uid) {
		return TooMany, "", nil
	}
	in := t.inbound(m, who)
	if who != m.from {
		in.By = m.from
	}
	err = t.Middle.Receive(ctx, in)
	switch reason := calendar.ReasonOf(err); {
	case err == nil:
		return Done, "", nil
	case reason == calendar.Internal || reason == calendar.Unavailable:
		return Refused, "", err
	default:
		// Its words may hold some of the message.
		return Refused, reason.String(), nil
	}
}

// refused shows the addressees that an invitation was not followed. What comes of that does not change the answer to the mail
// server: a stranger learns nothing by it.
func (t *taking) refused(ctx context.Context, m *incoming, why calendar.Distrust, proven bool) {
	err := t.Middle.Refused(ctx, t.inbound(m, m.from), why, proven)
	if reason := calendar.ReasonOf(err); err != nil && (reason == calendar.Internal || reason == calendar.Unavailable) {
		t.Logger.WarnContext(ctx, "it could not be shown that a mail was not followed", "error", err)
	}
}

// inbound is the message in a mail.
func (t *taking) inbound(m *incoming, from calendar.MailAddress) calendar.Inbound {
	return calendar.Inbound{From: from, To: t.to, Header: m.recipients(), Method: t.method, Data: m.scheduling}
}

// allowed counts messages. Only those that are proven are counted: nobody is kept from writing by others in their name.
func (t *taking) allowed(from calendar.MailAddress, uid calendar.UID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.senders.most, t.talks.most = senderMost, talkMost
	if _, ok := t.talks.take(string(from)+" "+string(uid), t.Now()); !ok {
		return false
	}
	_, ok := t.senders.take(string(from), t.Now())
	return ok
}

// bounce notes that a mail of ours did not arrive. Only its recipient and the servers on its way know its name.
func (t *taking) bounce(ctx context.Context, r report) (verdict Verdict, why string, err error) {
	id, ours := t.Key.ours(r.original)
	if !ours || !r.failed {
		return Nothing, "", nil
	}
	l, err := t.Store.ToldBy(ctx, id)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return Bounced, "", nil //nolint:nilerr // something newer is on its way, of which we will hear
	}
	if err != nil {
		return Bounced, "", errors.Join(errAway, err)
	}
	l.Status = r.outcome()
	return Bounced, "", t.Middle.Delivered(ctx, l)
}
