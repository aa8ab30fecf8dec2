package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/linked/caldav"
	"caldav-mcp-server/linked/ics"
	"caldav-mcp-server/outbound"
)

// MasterKeyFile is the name of the master key's file in DATA_DIR, which is used unless MASTER_KEY is set.
const MasterKeyFile = "master.key"

// sealer encrypts the secrets of linked accounts.
type sealer struct{ *vault.Vault }

// Seal implements [mirror.Sealer].
func (s sealer) Seal(secret []byte, user, account string) (sealed []byte, key string, err error) {
	return s.Vault.Seal(secret, vault.Owner{User: user, Account: account})
}

// Open implements [mirror.Sealer].
func (s sealer) Open(sealed []byte, user, account string) ([]byte, error) {
	return s.Vault.Open(sealed, vault.Owner{User: user, Account: account})
}

// sealerOf returns the sealer for the configured master keys.
func sealerOf(c settings.Config) mirror.Sealer {
	if len(c.MasterKeys) > 0 {
		return sealer{vault.New(vault.Given(c.MasterKeys))}
	}
	return sealer{vault.New(vault.In(filepath.Join(c.DataDir, MasterKeyFile)))}
}

// CheckMasterKey returns an error if secrets of linked accounts are encrypted with a master key that is not configured.
// Otherwise a lost key would be noticed only when their calendars have not been updated for a while.
func (h *App) CheckMasterKey(ctx context.Context, c settings.Config) error {
	accounts, err := h.Store.Accounts(ctx, "")
	if err != nil || len(accounts) == 0 {
		return err
	}
	keys, place := c.MasterKeys, "MASTER_KEY"
	if len(keys) == 0 {
		place = filepath.Join(c.DataDir, MasterKeyFile)
		if keys, err = vault.Read(place); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the master key: %w", err)
		}
	}
	locked := 0
	for _, a := range accounts {
		if !slices.ContainsFunc(keys, func(k vault.Key) bool { return k.ID() == a.Key }) {
			locked++
		}
	}
	if locked == 0 {
		return nil
	}
	return fmt.Errorf("the passwords of linked accounts (%d of %d) were encrypted with another master key than the "+
		"one in %s. Set MASTER_KEY to that other key, or put its file %s into DATA_DIR. If you no longer have it, run "+
		"unlink-account --keep for each account in list-accounts: its calendars stay, and its user can link it again",
		locked, len(accounts), place, MasterKeyFile)
}

// accountBudgets is the daily budget of a user's CalDAV accounts, as a multiple of the budget of feeds. It is high: a
// calendar in use never reaches it.
const accountBudgets = 4

// providers are the kinds of accounts that can be linked.
func providers(p *console.Console, c settings.Config) map[string]mirror.Provider {
	guard := outbound.New(outbound.Config{
		Allow: c.FetchAllow, Agent: console.Program + "/" + p.Version, Whom: "linked",
	})
	all := map[string]mirror.Provider{
		"ics": ics.Provider(guard, c.FeedBudget), "caldav": caldav.Provider(guard, accountBudgets*c.FeedBudget),
	}
	for kind, one := range ConsentsOf(p, c, zone.NewDB()) {
		all[kind] = one.Offer
	}
	return all
}
