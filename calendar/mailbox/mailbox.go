package mailbox

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
)

const (
	// provider is the kind of account that has mail.
	provider = "gmail"
	// queryTime limits one request, including its retries.
	queryTime = 30 * time.Second
	// pauseAfterTimeout is the suggested wait after a request has timed out.
	pauseAfterTimeout = 10 * time.Second
	// resultsInAll limits the results of all pages of one query.
	resultsInAll = 500
	// queryMost limits a query, in bytes. A query with more alternatives than alternativesMost is logged.
	queryMost        = 2048
	alternativesMost = 5
	// tries limits the attempts of a request whose token another process renews meanwhile.
	tries = 3
)

// Accounts gives access to the linked accounts.
type Accounts interface {
	Offers(provider string) bool
	AccountOf(ctx context.Context, owner calendar.UserID, provider string) (calendar.Account, error)
	Reach(a calendar.Account) (mirror.Source, error)
	Agreed(a calendar.Account) time.Time
	Lapse(ctx context.Context, a calendar.Account, err error) error
}

// Box reads the mail of all users with a linked account.
type Box struct {
	accounts Accounts
	guard    guard
	log      *slog.Logger
}

// New creates a Box.
func New(accounts Accounts, now func() time.Time, log *slog.Logger) *Box {
	return &Box{accounts: accounts, guard: guard{now: now}, log: log}
}

// Offered reports whether users can link mail accounts here.
func (b *Box) Offered() bool { return b != nil && b.accounts.Offers(provider) }

// Status is the state of a user's mail account.
type Status struct {
	// Linked is set when the user has an account, Authorized when it lets us in.
	Linked, Authorized bool
	// Address is the account's address, Scopes are the permissions that its owner granted.
	Address string
	Scopes  []string
	// Since is the time of the owner's latest consent; zero if unknown.
	Since time.Time
	// Why is the reason if it does not work.
	Why string
}

// Status returns the state of the caller's account.
func (b *Box) Status(ctx context.Context, c calendar.Caller) (Status, error) {
	if err := may(c); err != nil {
		return Status{}, err
	}
	a, err := b.accounts.AccountOf(ctx, c.User.ID, provider)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return Status{Why: whyNone}, nil
	}
	if err != nil {
		return Status{}, err
	}
	return Status{
		Linked: true, Authorized: a.Status != calendar.AccountSignIn, Address: a.Subject,
		Scopes: strings.Fields(a.Scopes), Since: b.accounts.Agreed(a), Why: a.Error,
	}, nil
}

// Linked reports whether the caller may read mail and has an account.
func (b *Box) Linked(ctx context.Context, c calendar.Caller) (bool, error) {
	if b == nil || !mayRead(c) {
		return false, nil
	}
	s, err := b.Status(ctx, c)
	return s.Linked, err
}

const whyNone = "no Gmail account is linked"

func mayRead(c calendar.Caller) bool { return c.Scopes&calendar.ScopeMail != 0 }

// may returns an error unless the caller has ScopeMail.
func may(c calendar.Caller) error {
	if !mayRead(c) {
		return fault(NotAuthorized, "this credential may not read mail: it lacks the scope mail")
	}
	return nil
}

// Search returns a page of messages.
func (b *Box) Search(ctx context.Context, c calendar.Caller, q Query) (Page, error) {
	return b.list(ctx, c, "messages", q, Source.Search)
}

// Threads returns a page of conversations.
func (b *Box) Threads(ctx context.Context, c calendar.Caller, q Query) (Page, error) {
	return b.list(ctx, c, "threads", q, Source.Threads)
}

var alternative = regexp.MustCompile(`\bOR\b|\|`)

func (b *Box) list(
	ctx context.Context, c calendar.Caller, kind string, q Query,
	ask func(Source, context.Context, Query) (Page, error),
) (Page, error) {
	if len(q.Text) > queryMost {
		return Page{}, fault(InvalidArgument, "the query has %d bytes; the maximum is %d", len(q.Text), queryMost)
	}
	at, err := readCursor(q.Token, question(kind, q.Text))
	if err != nil {
		return Page{}, err
	}
	if at.Given >= resultsInAll {
		return Page{}, fault(InvalidArgument, "a query returns at most %d results on all its pages: narrow the query",
			resultsInAll)
	}
	if n := len(alternative.FindAllString(q.Text, -1)); n > alternativesMost {
		b.log.WarnContext(ctx, "a mail query has many alternatives", "user", c.User.Name, "alternatives", n)
	}
	q.Token, q.Most = at.Token, min(q.Most, resultsInAll-at.Given)
	var page Page
	err = b.do(ctx, c, func(ctx context.Context, s Source) (err error) {
		page, err = ask(s, ctx, q)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	page.Found = page.Found[:min(len(page.Found), q.Most)]
	if at.Given += len(page.Found); page.Next != "" && at.Given < resultsInAll {
		at.Token = page.Next
		page.Next = at.text()
	} else {
		page.Next, page.Cut = "", page.Next != ""
	}
	return page, nil
}

// ids matches Gmail's IDs of messages and conversations.
var ids = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// IsID reports whether a text can be the ID of a message or a conversation.
func IsID(text string) bool { return ids.MatchString(text) }

// Message reads a message.
func (b *Box) Message(ctx context.Context, c calendar.Caller, id string, whole bool) (m Message, err error) {
	if !IsID(id) {
		return m, fault(InvalidArgument, "invalid message ID: copy one from a list of messages")
	}
	err = b.do(ctx, c, func(ctx context.Context, s Source) (err error) {
		m, err = s.Message(ctx, id, whole)
		return err
	})
	return m, err
}

// Thread reads a conversation.
func (b *Box) Thread(ctx context.Context, c calendar.Caller, id string, whole bool) (t Thread, err error) {
	if !IsID(id) {
		return t, fault(InvalidArgument, "invalid thread ID: copy one from a list of threads")
	}
	err = b.do(ctx, c, func(ctx context.Context, s Source) (err error) {
		t, err = s.Thread(ctx, id, whole)
		return err
	})
	return t, err
}

// Attachment returns the description of a file in a message.
func (b *Box) Attachment(ctx context.Context, c calendar.Caller, message, id string) (Attachment, error) {
	m, err := b.Message(ctx, c, message, false)
	if err != nil {
		return Attachment{}, err
	}
	for _, a := range m.Attachments {
		if id == a.ID || id != "" && id == a.Alias {
			return a, nil
		}
	}
	return Attachment{}, &Error{
		Fault: APIError, Status: notFound, Why: "the message has no attachment with that ID: copy one from getMessage",
	}
}

// do runs a request on the caller's account.
func (b *Box) do(ctx context.Context, c calendar.Caller, ask func(context.Context, Source) error) (err error) {
	if err := may(c); err != nil {
		return err
	}
	if busy := b.guard.begin(c.User.ID); busy != nil {
		return busy
	}
	defer func() { b.guard.end(c.User.ID, isTrouble(err)) }()
	within, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	for try := 1; ; try++ {
		err = b.once(within, c, ask)
		if calendar.ReasonOf(err) == calendar.Stale && try < tries {
			continue
		}
		err = meaning(ctx, within, err)
		if e, is := errors.AsType[*Error](err); is && e.trouble {
			b.log.WarnContext(ctx, "a mail account does not respond", "user", c.User.Name, "fault", string(e.Fault),
				"status", e.Status, "after", e.After)
		}
		return err
	}
}

// isTrouble reports whether the account's server caused the error.
func isTrouble(err error) bool {
	e, is := errors.AsType[*Error](err)
	return is && e.trouble
}

func (b *Box) once(ctx context.Context, c calendar.Caller, ask func(context.Context, Source) error) error {
	a, err := b.accounts.AccountOf(ctx, c.User.ID, provider)
	switch {
	case err != nil && calendar.ReasonOf(err) == calendar.NotFound:
		return unlinked(whyNone)
	case err != nil:
		return err
	case a.Status == calendar.AccountSignIn:
		return unlinked("the Gmail account must be linked again: " + a.Error)
	}
	source, err := b.accounts.Reach(a)
	if err == nil {
		mail, is := source.(Source)
		if !is {
			return fault(InternalError, "the account has no mail")
		}
		err = ask(ctx, mail)
	} else if !errors.Is(err, mirror.ErrSignIn) {
		return fault(Unavailable, "the Gmail account is unavailable: %s", mirror.Told(err))
	}
	if !errors.Is(err, mirror.ErrSignIn) {
		return err
	}
	if failed := b.accounts.Lapse(ctx, a, err); failed != nil {
		return failed
	}
	b.log.InfoContext(ctx, "a mail account has lost its authorization", "user", c.User.Name, "account", a.ID)
	return err
}
