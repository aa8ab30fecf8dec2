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
	// looks is how often we look for the key that somebody else has got in the place of ours, lookAgain the wait between two looks:
	// they have used ours up, and write theirs down in a moment.
	looks, lookAgain = 3, 200 * time.Millisecond
)

// Holder has the token of one account.
type Holder struct {
	client *Client
	keep   func(context.Context, json.RawMessage) error
	kept   func(context.Context) (json.RawMessage, error)
	mu     sync.Mutex
	token  Token
}

// Opens makes what opens accounts of what asks with their tokens.
func (c *Client) Opens(source func(Access) mirror.Source) func(mirror.Opening) (mirror.Source, error) {
	return func(o mirror.Opening) (mirror.Source, error) {
		h, err := Of(c, o)
		if err != nil {
			return nil, err
		}
		return source(h.Access), nil
	}
}

// Of holds the token of an account that is opened.
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

// Hold takes a token as it is kept. Keep keeps another one in its place.
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

// Access gives an access token that lasts for some minutes yet and is not the stale one. A key that is replaced is kept
// before anything is done with it: the one before it may be good no more.
func (h *Holder) Access(ctx context.Context, stale string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.good(stale) {
		return h.token.Access, nil
	}
	next, err := h.renew(ctx)
	if errors.Is(err, mirror.ErrSignIn) && h.overtaken(ctx) {
		// Another request, or another process, was first, and the key of theirs is good.
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

// renew gets another token for the key.
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

// replace keeps a token in the place of the one before. Where somebody else has put theirs there meanwhile, that stays, and is
// used if it is good.
func (h *Holder) replace(ctx context.Context, next Token, stale string) error {
	data, err := json.Marshal(next)
	if err != nil {
		return err
	}
	// The old key is used up: that the caller goes away must not lose the new one.
	ctx = context.WithoutCancel(ctx)
	err = h.keep(ctx, data)
	if errors.Is(err, mirror.ErrRenewed) {
		if h.overtaken(ctx) && h.good(stale) {
			return nil
		}
		err = h.keep(ctx, data) // what is there is the same key sealed anew, or one that is good no more
	}
	if err == nil {
		h.token = next
	}
	return err
}

// overtaken looks for a key in the place of ours, and takes it.
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
