package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// errAsksAgain is returned by a client that starts a new authorization because its grant has ended.
var errAsksAgain = errors.New("the user is asked again")

func byRegistration(ctx context.Context, b *bench) error {
	return b.connect(ctx, "By registration", func(c *auth.AuthorizationCodeHandlerConfig) {
		c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "By registration", RedirectURIs: []string{c.RedirectURL},
				GrantTypes: []string{"authorization_code", "refresh_token"},
			},
		}
	})
}

func byDescription(ctx context.Context, b *bench) error {
	return b.connect(ctx, describedName, func(c *auth.AuthorizationCodeHandlerConfig) {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: b.description()}
	})
}

func byHand(ctx context.Context, b *bench) error {
	var added struct{ ID, Secret string }
	if err := b.command(ctx, &added, "add-client", "--name", "By hand", "--redirect", redirect, "--secret",
		"--json"); err != nil {
		return err
	}
	return b.connect(ctx, "By hand", func(c *auth.AuthorizationCodeHandlerConfig) {
		c.PreregisteredClient = &oauthex.ClientCredentials{
			ClientID: added.ID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: added.Secret},
		}
	})
}

// connect runs a client's whole life: it connects, lists tools, calls one, renews its token, and loses access after the
// user revokes it on the page.
func (b *bench) connect(ctx context.Context, name string, register func(*auth.AuthorizationCodeHandlerConfig)) error {
	at := newAnswers()
	defer at.Close()
	renewed, asked := 0, 0
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: at.redirect(), RequestRefreshToken: true,
		AuthorizationCodeFetcher: func(ctx context.Context,
			args *auth.AuthorizationArgs,
		) (*auth.AuthorizationResult, error) {
			if asked++; asked > 1 {
				return nil, errAsksAgain
			}
			if err := b.browser.allow(args.URL); err != nil {
				return nil, err
			}
			got, err := at.wait(ctx)
			return &auth.AuthorizationResult{Code: got.Get("code"), State: got.Get("state"), Iss: got.Get("iss")}, err
		},
		// The token is marked as expired, so that the first call renews it.
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			old := t.RefreshToken
			t.Expiry = time.Now().Add(-time.Minute)
			source := c.TokenSource(ctx, t)
			next, err := source.Token()
			if err == nil && next.RefreshToken != old {
				renewed++
			}
			return source, err
		},
	}
	register(config)
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "judge", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: b.server.mcp, OAuthHandler: handler, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil || len(tools.Tools) == 0 {
		return fmt.Errorf("listing tools: %w", err)
	}
	call := &mcp.CallToolParams{Name: "calendar_auth_status", Arguments: map[string]any{}}
	said, err := session.CallTool(ctx, call)
	if err != nil || said.IsError || !strings.Contains(fmt.Sprint(said.StructuredContent), name+" (") {
		return fmt.Errorf("calling a tool: %w, %+v", err, said)
	}
	if renewed != 1 {
		return errors.New("the access was not renewed")
	}
	source, err := handler.TokenSource(ctx)
	if err != nil {
		return err
	}
	token, err := source.Token()
	if err != nil {
		return err
	}
	if err := b.browser.revoke(name); err != nil {
		return fmt.Errorf("revoking: %w", err)
	}
	if status, err := b.knock(ctx, token.AccessToken); err != nil || status != http.StatusUnauthorized {
		return fmt.Errorf("after it was revoked: %d, %w", status, err)
	}
	if _, err := session.CallTool(ctx, call); !errors.Is(err, errAsksAgain) &&
		(err == nil || !strings.Contains(err.Error(), errAsksAgain.Error())) {
		return fmt.Errorf("a call after it was revoked: %w", err)
	}
	return nil
}

// knock sends a request with a token, and returns the status.
func (b *bench) knock(ctx context.Context, token string) (int, error) {
	answer, err := ask(ctx, b.server.mcp, token, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	return answer.StatusCode, nil
}

// ask sends one message to an endpoint.
func ask(ctx context.Context, endpoint, token, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultClient.Do(r)
}
