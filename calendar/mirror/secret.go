package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

// Sealer encrypts secrets. Each secret is bound to one user's account.
type Sealer interface {
	Seal(secret []byte, user, account string) (sealed []byte, key string, err error)
	Open(sealed []byte, user, account string) ([]byte, error)
	// Present returns the id of the key that seals new secrets.
	Present() (string, error)
}

// Secret holds the credentials of an account. It is sealed as a whole, because an address can be secret too.
type Secret struct {
	URL      string `json:"url,omitempty"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// Token is the provider's own credential, such as an OAuth refresh token.
	Token json.RawMessage `json:"token,omitempty"`
	// Alarms keeps the alarms of a feed. Without it they are removed: people do not expect a feed to ring.
	Alarms bool `json:"alarms,omitempty"`
	// Agreed is when the account's owner gave the secret; zero for secrets older than this field.
	Agreed time.Time `json:"agreed,omitzero"`
}

// secretKeeper seals the secrets of accounts, and stores and reads them.
type secretKeeper struct {
	// config is the Mirror's: its sealer may be set after New.
	config *Config
}

// kept reads the secret of an account again.
func (k *secretKeeper) kept(ctx context.Context, a *calendar.Account) (Secret, error) {
	now, err := k.config.Store.Account(ctx, a.ID)
	if err != nil {
		return Secret{}, err
	}
	s, err := k.unseal(now)
	if err == nil {
		a.Secret, a.Key = now.Secret, now.Key
	}
	return s, err
}

func (k *secretKeeper) unseal(a calendar.Account) (Secret, error) {
	var s Secret
	text, err := k.config.Sealer.Open(a.Secret, string(a.Owner), string(a.ID))
	if err != nil {
		return s, &Later{
			Why: "the server can no longer decrypt this account's password, because its key changed: link the " +
				"account again", Cause: err,
		}
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, &Later{
			Why: "the account's secret cannot be read: link the account again", Cause: errors.New("it is not JSON"),
		}
	}
	return s, nil
}

// keep seals a new secret for an account and stores it.
func (k *secretKeeper) keep(ctx context.Context, a *calendar.Account, next Secret) error {
	after := *a
	var err error
	if after.Secret, after.Key, err = k.seal(after, next); err != nil {
		return err
	}
	err = k.config.Store.SealAccount(context.WithoutCancel(ctx), after, a.Secret)
	if err != nil && calendar.ReasonOf(err) == calendar.Stale {
		return ErrRenewed
	}
	if err != nil {
		return err
	}
	*a = after
	return nil
}

func (k *secretKeeper) seal(a calendar.Account, s Secret) (sealed []byte, key string, err error) {
	text, err := json.Marshal(s) //nolint:gosec // it is sealed in the next line
	if err != nil {
		return nil, "", err
	}
	return k.config.Sealer.Seal(text, string(a.Owner), string(a.ID))
}

// keepGiven stores the owner's secret, even if another process renews the old one at the same time.
func (k *secretKeeper) keepGiven(ctx context.Context, a *calendar.Account, secret Secret) error {
	err := k.keep(ctx, a, secret)
	for n := 0; n < 3 && errors.Is(err, ErrRenewed); n++ {
		now, failed := k.config.Store.Account(ctx, a.ID)
		if failed != nil {
			return failed
		}
		a.Secret, a.Key = now.Secret, now.Key
		err = k.keep(ctx, a, secret)
	}
	return err
}

// mayBe reports whether an account with the secret's address is the same account. It is, if its own secret can no
// longer be opened: replacing that secret is the purpose.
func (k *secretKeeper) mayBe(a calendar.Account, next Secret) bool {
	s, err := k.unseal(a)
	if err != nil {
		return true
	}
	return s.Username == next.Username && strings.TrimRight(s.URL, "/") == strings.TrimRight(next.URL, "/")
}

// Rotate seals again all secrets that are sealed with an old key. It returns how many it changed.
func (k *secretKeeper) Rotate(ctx context.Context) (int, error) {
	now, err := k.config.Sealer.Present()
	if err != nil {
		return 0, err
	}
	all, err := k.config.Store.Accounts(ctx, "")
	if err != nil {
		return 0, err
	}
	done := 0
	for _, a := range all {
		if a.Key == now {
			continue
		}
		text, err := k.config.Sealer.Open(a.Secret, string(a.Owner), string(a.ID))
		if err != nil {
			return done, fmt.Errorf("the account %s: %w", a.ID, err)
		}
		before := a.Secret
		if a.Secret, a.Key, err = k.config.Sealer.Seal(text, string(a.Owner), string(a.ID)); err != nil {
			return done, err
		}
		switch err := k.config.Store.SealAccount(ctx, a, before); {
		case err != nil && calendar.ReasonOf(err) == calendar.NotFound: // unlinked in the meantime
		case err != nil:
			return done, err
		default:
			done++
		}
	}
	return done, nil
}
