package mail

import (
	"context"
	"fmt"

	"github.com/emersion/go-imap/v2"

	"caldav-mcp-server/calendar"
)

// Try checks that the relay accepts a connection, with TLS and credentials.
func (r Relay) Try(ctx context.Context) error {
	c, err := r.open(ctx)
	if err != nil {
		return err
	}
	return c.Quit()
}

// Send sends a mail that is not from the outbox.
func (r Relay) Send(ctx context.Context, from, to calendar.MailAddress, id string, data []byte) error {
	line := &session{Relay: r}
	defer line.quit()
	return line.send(ctx, submission{from: from, to: to, id: id, data: data})
}

// Try checks that the folder opens.
func (m *Mailbox) Try(ctx context.Context) error {
	_, err := m.Remove(ctx, "")
	return err
}

// Remove deletes a mail from the folder by its Message-ID, and reports whether it was there.
func (m *Mailbox) Remove(ctx context.Context, id string) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // it closes the connection
	c, err := m.open(ctx, func() {})
	if err != nil {
		return false, err
	}
	defer func() { _ = c.Close() }()
	if id == "" {
		return false, c.Logout().Wait()
	}
	found, err := c.UIDSearch(
		&imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: "Message-ID", Value: id}}}, nil,
	).Wait()
	if err != nil {
		return false, fmt.Errorf("looking for a mail: %w", err)
	}
	uids := found.AllUIDs()
	if len(uids) == 0 {
		return false, c.Logout().Wait()
	}
	gone := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagDeleted}}
	if err := c.Store(imap.UIDSetNum(uids...), gone, nil).Close(); err != nil {
		return true, fmt.Errorf("removing a mail: %w", err)
	}
	if !c.Caps().Has(imap.CapUIDPlus) && !c.Caps().Has(imap.CapIMAP4rev2) {
		return true, c.Logout().Wait() // it is marked as deleted; EXPUNGE would remove other marked mails, too
	}
	if err := c.UIDExpunge(imap.UIDSetNum(uids...)).Close(); err != nil {
		return true, fmt.Errorf("removing a mail: %w", err)
	}
	return true, c.Logout().Wait()
}
