package transfer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/store"
)

const migrateDetails = `
serve does this by itself when it starts. A database of a newer version is refused: the only way back is a backup.

After you restored a backup of the database by other means, run migrate --restored before the server starts. Clients
then synchronize from scratch. Otherwise they would miss changes, and bring back deleted events. The backup also brings
back tokens, public links and shares that have ended since, and old passwords. --revoke-all ends all tokens and links in
it. Use set-password for passwords, and list-shares and unshare for shares.
`

// MigrateCommand is the command migrate.
func MigrateCommand() command.Command {
	var restored, revoke bool
	return command.Command{
		Name: "migrate", Settings: settings.StoreGroup, JSON: true, Alone: true,
		Summary: "update the database's tables", Details: migrateDetails,
		Flags: func(f *flag.FlagSet) {
			f.BoolVar(&restored, "restored", false,
				"the database is a restored backup: make clients synchronize from scratch")
			f.BoolVar(&revoke, "revoke-all", false, "with --restored: end all tokens and public links in the backup")
		},
		Check: func(*command.Context, []string) error {
			if revoke && !restored {
				return errors.New("--revoke-all needs --restored; to end one token or link use revoke-token or " +
					"revoke-link")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, _ []string) (err error) {
			if d.App, err = app.Open(ctx, d.Console, d.Config, store.Options{
				Existing: restored, Wait: app.ServeWait,
				Logger: d.Logger(slog.LevelWarn, false),
			}); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, d.Store.Close()) }()
			if restored {
				if err := d.Store.Check(ctx); err != nil {
					return fmt.Errorf("%w; copy the backup again, and delete any -wal or -shm file of the old database",
						err)
				}
			}
			done := migrated{Context: d}
			if err := done.migrate(ctx); err != nil {
				return err
			}
			if restored {
				if err := d.Store.NewEpoch(ctx); err != nil {
					return err
				}
				r, err := revive(ctx, d.App, revoke)
				if err != nil {
					return err
				}
				done.Revived = &r
			}
			return done.tell()
		},
	}
}

// migrated is the outcome of migrate.
type migrated struct {
	*command.Context `json:"-"`
	From             int      `json:"from"`
	To               int      `json:"to"`
	Revived          *revived `json:"restored,omitempty"`
}

// revived counts the credentials in a restored backup. Ended is set if they were revoked.
type revived struct {
	Tokens int  `json:"tokens"`
	Links  int  `json:"links"`
	Ended  bool `json:"ended"`
}

func (m *migrated) migrate(ctx context.Context) error {
	before, err := m.Store.Schema(ctx)
	if err != nil {
		return fmt.Errorf("checking the database's tables: %w", err)
	}
	if err := m.Store.Migrate(ctx); err != nil {
		return err
	}
	m.From, m.To = before.Current, before.Wanted
	if before.Ready() {
		m.To = before.Current
	}
	return nil
}

// revive counts the tokens and links in a restored backup, and revokes them if asked to.
func revive(ctx context.Context, h *app.App, revoke bool) (revived, error) {
	tokens, links, err := h.Auth.Living(ctx)
	if err == nil && revoke {
		err = h.Auth.RevokeAll(ctx)
	}
	return revived{tokens, links, revoke}, err
}

// words describes it for people.
func (r revived) words() string {
	const others = "passwords and shares are as in the backup: change them with set-password and unshare\n"
	if r.Ended {
		return fmt.Sprintf("ended %d tokens and %d public links; create new ones with create-token and create-link\n",
			r.Tokens, r.Links) + others
	}
	return fmt.Sprintf("%d tokens and %d public links of the backup are valid, including any that ended after it was "+
		"made: "+
		"see list-tokens and list-links, or end all with migrate --restored --revoke-all\n", r.Tokens, r.Links) + others
}

// tell prints the outcome as text or JSON.
func (m *migrated) tell() error {
	var b strings.Builder
	if m.From == m.To {
		fmt.Fprintf(&b, "the tables were up to date (version %d)\n", m.To)
	} else {
		fmt.Fprintf(&b, "updated the tables from version %d to %d\n", m.From, m.To)
	}
	if r := m.Revived; r != nil {
		b.WriteString("clients will synchronize from scratch\n" + r.words())
	}
	return m.Done(m, "%s", b.String())
}
