package token

import (
	"context"
	"net/http"
	"time"
)

// Google is this server at Google, for leave to do what the scopes say. It does not ask for what was granted before: a key of one kind of
// account is none for another.
func Google(id, secret, ended string, scopes []string, ask *http.Client, now func() time.Time) *Client {
	return &Client{ //nolint:gosec // addresses, and no secret
		ID: id, Secret: secret, AuthURL: "https://accounts.google.com/o/oauth2/v2/auth", TokenURL: "https://oauth2.googleapis.com/token",
		Scopes: scopes, Ended: ended, HTTP: ask, Now: now, Ask: map[string]string{"access_type": "offline", "prompt": "consent"},
	}
}

// Access gives an access token. Stale is one that was refused, or "".
type Access = func(ctx context.Context, stale string) (string, error)
