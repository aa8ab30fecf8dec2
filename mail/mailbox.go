package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"caldav-mcp-server/calendar/lease"
)

// Mailbox reads mail from an IMAP folder, which should serve no other purpose.
type Mailbox struct {
	server
	Folder   string
	Receiver *Receiver
	Store    Store
	Now      func() time.Time
	NewID    func() string
	Logger   *slog.Logger

	lease *lease.Lease
	// mark is the flag of processed mails.
	mark imap.Flag
	// later are the mails to retry.
	later map[imap.UID]again
}

// again is the time of a mail's next try and the number of failed ones.
type again struct {
	at    time.Time
	tries int
}

// ParseMailbox parses imaps://USER:PASSWORD@HOST[:993][/FOLDER] and imap://…[:143], where TLS begins with STARTTLS. Its
// errors do not repeat the URL.
func ParseMailbox(text string) (*Mailbox, error) {
	s, u, err := parseServer(text, "imap", "143", "imaps", "993")
	if err != nil {
		return nil, err
	}
	if s.User == "" {
		return nil, errors.New("it names no user")
	}
	return &Mailbox{server: s, Folder: cmp.Or(strings.Trim(u.Path, "/"), "INBOX")}, nil
}

const (
	// handled marks processed mails. They stay in the folder, read or not.
	handled imap.Flag = "$CalendarHandled"
	// lookBack is the maximum age of a mail to process: if a user names a full mailbox, its old mail must stay
	// untouched.
	lookBack = 14 * 24 * time.Hour
	// idleFor is how often the folder is checked even without a notification; pollMail is the same for servers without
	// IDLE.
	idleFor  = 5 * time.Minute
	pollMail = time.Minute
	// mailLease is the lease of the process that processes mail. Others wait for news too, and ask again after askAgain
	// if they cannot have it.
	mailLease = "mail in"
	askAgain  = time.Second
)

// Run processes mail until the context ends.
func (m *Mailbox) Run(ctx context.Context) {
	for vain := 0; ctx.Err() == nil; {
		err := m.Visit(ctx, func() bool { return true })
		vain++
		if err == nil {
			vain = 0
		} else if ctx.Err() == nil {
			m.Logger.WarnContext(ctx, "the mailbox could not be read", "error", err)
		}
		wait(ctx, min(pollMail<<min(vain, 5), 30*time.Minute))
	}
}

// wait waits until the duration has passed or the context ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Visit logs in and processes mail as it arrives, until goOn returns false or an error occurs.
func (m *Mailbox) Visit(ctx context.Context, goOn func() bool) error {
	if m.lease == nil {
		m.lease = lease.NewKeeper(m.Store, m.Now, m.NewID).New(mailLease)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // it closes the connection
	news := make(chan struct{}, 1)
	c, err := m.open(ctx, func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for {
		mine, err := m.turn(ctx, c)
		if err != nil {
			return err
		}
		if !mine {
			wait(ctx, askAgain)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		if !goOn() {
			return c.Logout().Wait()
		}
		if err := m.await(ctx, c, news); err != nil {
			return err
		}
	}
}

// open logs in and selects the folder.
func (m *Mailbox) open(ctx context.Context, news func()) (*imapclient.Client, error) {
	conn, err := m.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("the mail server %s cannot be reached: %w", m.Addr, err)
	}
	options := &imapclient.Options{TLSConfig: m.tls(), UnilateralDataHandler: &imapclient.UnilateralDataHandler{
		Mailbox: func(data *imapclient.UnilateralDataMailbox) {
			if data.NumMessages != nil {
				news()
			}
		},
	}}
	var c *imapclient.Client
	if m.Implicit || m.Plain {
		c = imapclient.New(conn, options)
	} else if c, err = imapclient.NewStartTLS(conn, options); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the mail server %s begins no TLS: %w", m.Addr, err)
	}
	if err := c.Login(m.User, m.Password).Wait(); err != nil {
		return nil, errors.Join(fmt.Errorf("the mail server %s does not take the user and the password: %w", m.Addr,
			err), c.Close())
	}
	folder, err := c.Select(m.Folder, nil).Wait()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the folder %q cannot be opened: %w", m.Folder, err), c.Close())
	}
	// A server without custom flags gets the flag for mails that were read.
	m.mark = imap.FlagSeen
	if slices.Contains(folder.PermanentFlags, imap.FlagWildcard) || slices.Contains(folder.PermanentFlags, handled) {
		m.mark = handled
	}
	return c, nil
}

// await waits for new mail.
func (m *Mailbox) await(ctx context.Context, c *imapclient.Client, news <-chan struct{}) error {
	if !c.Caps().Has(imap.CapIdle) {
		wait(ctx, pollMail)
		return ctx.Err()
	}
	idle, err := c.Idle()
	if err != nil {
		return err
	}
	timer := time.NewTimer(idleFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-news:
	case <-c.Closed():
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := idle.Close(); err != nil {
		return err
	}
	return idle.Wait()
}

// turn processes the unmarked mails, unless another process does so.
func (m *Mailbox) turn(ctx context.Context, c *imapclient.Client) (mine bool, err error) {
	if mine, err = m.lease.Take(ctx); err != nil || !mine {
		return mine, err
	}
	held := m.lease.Keep(ctx)
	defer m.lease.Release(ctx)
	// The server tells this connection which mails another process has marked.
	if err := c.Noop().Wait(); err != nil {
		return true, fmt.Errorf("looking for mail: %w", err)
	}
	return true, m.read(held, c)
}

// read processes the unmarked mails, the oldest first, until the context ends.
func (m *Mailbox) read(ctx context.Context, c *imapclient.Client) error {
	found, err := c.UIDSearch(
		&imap.SearchCriteria{Since: m.Now().Add(-lookBack), NotFlag: []imap.Flag{m.mark, imap.FlagDeleted}}, nil,
	).Wait()
	if err != nil {
		return fmt.Errorf("looking for mail: %w", err)
	}
	uids := found.AllUIDs()
	slices.Sort(uids)
	m.forget(uids)
	for _, uid := range uids {
		if m.Now().Before(m.later[uid].at) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := m.take(ctx, c, uid); err != nil {
			return err
		}
	}
	return nil
}

// take processes one mail and marks it, unless it must be retried.
func (m *Mailbox) take(ctx context.Context, c *imapclient.Client, uid imap.UID) error {
	whole := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: MailMost + 1}}
	mails, err := c.Fetch(imap.UIDSetNum(uid),
		&imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{whole}}).Collect()
	if err != nil {
		return fmt.Errorf("reading a mail: %w", err)
	}
	for _, mail := range mails {
		// No header field proves who the recipient is: the mail is for the people whom the message names.
		if len(mail.BodySection) == 0 {
			continue
		}
		if _, err := m.Receiver.Take(ctx, mail.BodySection[0].Bytes, nil); err != nil {
			m.postpone(uid)
			return nil //nolint:nilerr // the receiver has logged it; others come first
		}
	}
	delete(m.later, uid)
	err = c.Store(imap.UIDSetNum(uid),
		&imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{m.mark}}, nil).Close()
	if err != nil {
		return fmt.Errorf("marking a mail: %w", err)
	}
	return nil
}

// triesMost is when the pauses stop growing; after two weeks the mail is too old for the search.
const triesMost = 12

// postpone schedules a mail's next try, with growing pauses.
func (m *Mailbox) postpone(uid imap.UID) {
	if m.later == nil {
		m.later = map[imap.UID]again{}
	}
	tries := m.later[uid].tries + 1
	m.later[uid] = again{m.Now().Add(pollMail << min(tries, triesMost)), tries}
}

// forget drops the retries of mails that are gone.
func (m *Mailbox) forget(there []imap.UID) {
	for uid := range m.later {
		if !slices.Contains(there, uid) {
			delete(m.later, uid)
		}
	}
}
