package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// atOnce is how long a change in one process may take to reach another.
const atOnce = time.Second

// byNeighbour grants and revokes a client's access in one process, and checks that another process on the same store
// follows.
func byNeighbour(ctx context.Context, b *bench) error {
	const name = "Next door"
	token, err := b.granted(ctx, name)
	if err != nil {
		return err
	}
	other, err := b.serve(ctx, "oauth-neighbour.log", "BASE_URL="+b.server.caldav, "MCP_URL="+b.server.mcp)
	if err != nil {
		return err
	}
	defer other.stop()
	made := func() (int, string, error) {
		return b.call(ctx, other.mcp, token, `{"name":"create_calendar","arguments":{"name":"Made next door"}}`)
	}
	if status, said, err := made(); err != nil || status != http.StatusOK || strings.Contains(said, `"isError":true`) {
		return fmt.Errorf("before anything was taken: %d %s, %w", status, said, err)
	}
	if err := b.browser.narrow(name); err != nil {
		return fmt.Errorf("narrowing: %w", err)
	}
	if err := soon("narrowed", http.StatusForbidden, made); err != nil {
		return err
	}
	if err := b.browser.revoke(name); err != nil {
		return fmt.Errorf("revoking: %w", err)
	}
	return soon("revoked", http.StatusUnauthorized, made)
}

// soon checks that a status is reached within atOnce.
func soon(what string, want int, ask func() (int, string, error)) error {
	for since := time.Now(); ; {
		status, said, err := ask()
		if err != nil || status == want {
			return err
		}
		if time.Since(since) > atOnce {
			return fmt.Errorf("a second after it was %s: %d %s", what, status, said)
		}
	}
}

// granted registers a client, grants it access, and returns its access token.
func (b *bench) granted(ctx context.Context, name string) (string, error) {
	at := newAnswers()
	defer at.Close()
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		RedirectURL: at.redirect(),
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: name, RedirectURIs: []string{at.redirect()},
			},
		},
		AuthorizationCodeFetcher: func(ctx context.Context,
			args *auth.AuthorizationArgs,
		) (*auth.AuthorizationResult, error) {
			if err := b.browser.allow(args.URL); err != nil {
				return nil, err
			}
			got, err := at.wait(ctx)
			return &auth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")}, err
		},
	})
	if err != nil {
		return "", err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: b.server.mcp, OAuthHandler: handler, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return "", fmt.Errorf("connecting: %w", err)
	}
	defer session.Close()
	source, err := handler.TokenSource(ctx)
	if err != nil {
		return "", err
	}
	token, err := source.Token()
	if err != nil {
		return "", err
	}
	return token.AccessToken, nil
}

// call calls a tool, and returns the status and the response.
func (b *bench) call(ctx context.Context, endpoint, token, params string) (int, string, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
	answer, err := ask(ctx, endpoint, token, body)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(said), err
}

// narrow reduces a client's access to reading, on the page for that.
func (w *browser) narrow(name string) error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(w.server.caldav+"/account/apps")); err != nil {
		return w.lost(err)
	}
	link := fmt.Sprintf(`//li[contains(., %q)]//a[contains(@href, "/narrow")]`, name+" (")
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(link)); err != nil {
		return w.lost(err)
	}
	const leave = `document.querySelectorAll('input[name="scope"]').forEach(e => { e.checked = e.value == "read" }); 1`
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[int](leave)); err != nil {
		return w.lost(err)
	}
	if _, err := chromedp.RunResponse(ctx, chromedp.Click("main form button")); err != nil {
		return w.lost(err)
	}
	return nil
}
