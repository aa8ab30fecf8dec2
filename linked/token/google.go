package token

import (
	"context"
	"net/http"
	"time"
)

// Google returns this server's OAuth client at Google, for some scopes. It does not use incremental authorization: a
// grant for one kind of account must not cover another.
func Google(id, secret, ended string, scopes []string, ask *http.Client, now func() time.Time) *Client {
	return &Client{
		ID: id, Secret: secret, AuthURL: "https://accounts.google.com/o/oauth2/v2/auth",
		TokenURL: "https://oauth2.googleapis.com/token",
		Scopes:   scopes, Ended: ended, HTTP: ask, Now: now,
		Ask: map[string]string{"access_type": "offline", "prompt": "consent"},
	}
}

// Access returns an access token. stale is one that was refused, or "".
type Access = func(ctx context.Context, stale string) (string, error)
