package token

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/oauth2"

	"caldav-mcp-server/calendar/mirror"
)

const (
	// looks limits how often to look for a refresh token that another process has stored in place of ours; lookAgain is
	// the wait in between. The other process has used ours up and will store its own soon.
	looks, lookAgain = 3, 200 * time.Millisecond
)

// Holder holds the token of one account.
type Holder struct {
	client *Client
	keep   func(context.Context, json.RawMessage) error
	kept   func(context.Context) (json.RawMessage, error)
	mu     sync.Mutex
	token  Token
}

// Opens adapts a source constructor to the mirror's interface.
func (c *Client) Opens(source func(Access) mirror.Source) func(mirror.Opening) (mirror.Source, error) {
	return func(o mirror.Opening) (mirror.Source, error) {
		h, err := Of(c, o)
		if err != nil {
			return nil, err
		}
		return source(h.Access), nil
	}
}

// Of holds the token of an opened account.
func Of(c *Client, o mirror.Opening) (*Holder, error) {
	h, err := Hold(c, o.Secret.Token, func(ctx context.Context, next json.RawMessage) error {
		secret := o.Secret
		secret.Token = next
		return o.Keep(ctx, secret)
	})
	if err == nil && o.Kept != nil {
		h.kept = func(ctx context.Context) (json.RawMessage, error) {
			secret, err := o.Kept(ctx)
			return secret.Token, err
		}
	}
	return h, err
}

// Hold parses a stored token. keep stores its replacement.
func Hold(c *Client, kept json.RawMessage, keep func(context.Context, json.RawMessage) error) (*Holder, error) {
	t, err := parse(kept)
	if err != nil {
		return nil, err
	}
	return &Holder{client: c, keep: keep, token: t}, nil
}

func parse(kept json.RawMessage) (t Token, err error) {
	if err := json.Unmarshal(kept, &t); err != nil || t.Refresh == "" {
		return t, fmt.Errorf("%w: the account has no key", mirror.ErrSignIn)
	}
	return t, nil
}

// Access returns an access token that is valid for some more minutes and is not the stale one. It stores a new refresh
// token before using it, because the previous one may no longer be valid.
func (h *Holder) Access(ctx context.Context, stale string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.good(stale) {
		return h.token.Access, nil
	}
	next, err := h.renew(ctx)
	if errors.Is(err, mirror.ErrSignIn) && h.overtaken(ctx) {
		// Another request or process was faster, and its token is valid.
		if h.good(stale) {
			return h.token.Access, nil
		}
		next, err = h.renew(ctx)
	}
	if err != nil {
		return "", err
	}
	if err := h.replace(ctx, next, stale); err != nil {
		return "", err
	}
	return h.token.Access, nil
}

func (h *Holder) good(stale string) bool {
	t := h.token
	return t.Access != "" && t.Access != stale && t.Expires.After(h.client.Now().Add(early))
}

// renew exchanges the refresh token.
func (h *Holder) renew(ctx context.Context) (Token, error) {
	old := &oauth2.Token{RefreshToken: h.token.Refresh, Expiry: time.Unix(1, 0)}
	got, err := h.client.config("").TokenSource(h.client.with(ctx), old).Token()
	if err != nil {
		return Token{}, h.client.told(err)
	}
	next := read(got)
	if next.Refresh == "" {
		next.Refresh = h.token.Refresh
	}
	if next.Scopes == "" {
		next.Scopes = h.token.Scopes
	}
	return next, nil
}

// replace stores a new token. If another process has stored one meanwhile, that one stays, and is used if valid.
func (h *Holder) replace(ctx context.Context, next Token, stale string) error {
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	// The old refresh token is used up: the new one must be stored even if the caller disconnects.
	ctx = context.WithoutCancel(ctx)
	err = h.keep(ctx, data)
	if errors.Is(err, mirror.ErrRenewed) {
		if h.overtaken(ctx) && h.good(stale) {
			return nil
		}
		err = h.keep(ctx, data) // the stored one is the same token encrypted again, or no longer valid
	}
	if err == nil {
		h.token = next
	}
	return err
}

// overtaken looks for a token that another process has stored, and takes it over.
func (h *Holder) overtaken(ctx context.Context) bool {
	if h.kept == nil {
		return false
	}
	for n := range looks {
		if n > 0 {
			select {
			case <-ctx.Done():
				return false
			case <-time.After(lookAgain):
			}
		}
		data, err := h.kept(ctx)
		if err != nil {
			return false
		}
		if t, err := parse(data); err == nil && (t.Refresh != h.token.Refresh || t.Access != h.token.Access) {
			h.token = t
			return true
		}
	}
	return false
}
