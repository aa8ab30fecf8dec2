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

// Receiver processes incoming mail from every source.
type Receiver struct {
	Store  Store
	Middle calendar.Correspondence
	Key    Key
	Trust  Trust
	Now    func() time.Time
	Logger *slog.Logger
	// Task traces each mail; nil turns that off.
	Task calendar.Task

	mu      sync.Mutex
	senders throttle
	talks   throttle
}

// Limits on the messages of one address per hour, and on those about one event. They stop two servers that answer each
// other automatically.
const (
	senderMost = 120
	talkMost   = 60
)

// Verdict is the outcome of an incoming mail in a few words.
type Verdict string

// The verdicts. A refusal by the service has its reason after a colon.
const (
	Done     Verdict = "done"
	Bounced  Verdict = "a mail of ours could not be delivered"
	Nothing  Verdict = "no scheduling message"
	Ours     Verdict = "a mail of our own"
	Bad      Verdict = "bad"
	Unproven Verdict = "sender not verified"
	Foreign  Verdict = "sender not allowed"
	TooMany  Verdict = "too many"
	Refused  Verdict = "refused"
)

// Take processes a mail. to are its envelope recipients, if known. An error means that the mail must be delivered again
// later. Any fault of the mail itself is a verdict, and nothing has changed then.
func (r *Receiver) Take(ctx context.Context, raw []byte, to []calendar.MailAddress) (Verdict, error) {
	t := &taking{Receiver: r, raw: raw, to: to}
	ctx, end := r.Task.OrNone()(ctx, "mail in")
	verdict, why, err := t.take(ctx)
	end(err != nil, slog.String("verdict", string(verdict)), slog.String("method", string(t.method)),
		slog.Int("bytes", len(raw)))
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

// taking is one incoming mail in progress, with the details for the log.
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
		return Bad, err.Error(), nil //nolint:nilerr // the verdict reports it; a retry would not help
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
		return Bad, err.Error(), nil //nolint:nilerr // the verdict reports it; a retry would not help
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
		// Its message may quote the mail.
		return Refused, reason.String(), nil
	}
}

// refused shows the addressees an invitation that was not accepted. An error here does not change the response to the
// mail server, so a stranger learns nothing from it.
func (t *taking) refused(ctx context.Context, m *incoming, why calendar.Distrust, proven bool) {
	err := t.Middle.Refused(ctx, t.inbound(m, m.from), why, proven)
	if reason := calendar.ReasonOf(err); err != nil && (reason == calendar.Internal || reason == calendar.Unavailable) {
		t.Logger.WarnContext(ctx, "it could not be shown that a mail was not followed", "error", err)
	}
}

// inbound returns the scheduling message in a mail.
func (t *taking) inbound(m *incoming, from calendar.MailAddress) calendar.Inbound {
	return calendar.Inbound{From: from, To: t.to, Header: m.recipients(), Method: t.method, Data: m.scheduling}
}

// allowed counts messages per sender and event. Only messages with a proven sender are counted, so that forged mail
// cannot use up a sender's limit.
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

// bounce records a delivery failure of one of our mails. Only its recipient and the servers on its way know its
// Message-ID.
func (t *taking) bounce(ctx context.Context, r report) (verdict Verdict, why string, err error) {
	id, ours := t.Key.ours(r.original)
	if !ours || !r.failed {
		return Nothing, "", nil
	}
	l, err := t.Store.ToldBy(ctx, id)
	if calendar.ReasonOf(err) == calendar.NotFound && err != nil {
		return Bounced, "", nil //nolint:nilerr // a newer mail is on its way and will have its own report
	}
	if err != nil {
		return Bounced, "", errors.Join(errAway, err)
	}
	l.Status = r.outcome()
	return Bounced, "", t.Middle.Delivered(ctx, l)
}
