package wire

import (
	"context"
	"errors"
	"net/http"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// Plain is a [Content] without tokens, resources and elicitations. A type that embeds it needs only Reword and Limited.
type Plain struct{}

// Prepare implements Content.
func (Plain) Prepare(context.Context, *Exchange) {}

// Challenge implements Content.
func (Plain) Challenge(http.ResponseWriter, *http.Request, *Exchange) bool { return false }

// Refuse implements Content.
func (Plain) Refuse(_ context.Context, x *Exchange, _ error) { noResources(x) }

// Away implements Content.
func (Plain) Away(error) bool { return false }

// ForLog implements Content.
func (Plain) ForLog(err error) string { return err.Error() }

// noResources refuses subscriptions.
func noResources(x *Exchange) {
	x.Refused = &Refusal{Err: Errorf(CodeMethod, "there are no subscriptions here"), Status: http.StatusOK}
}

// Subscribe implements Feed.
func (Plain) Subscribe(_ context.Context, x *Exchange, _ Session, _ string) { noResources(x) }

// Unsubscribe implements Feed.
func (Plain) Unsubscribe(_ context.Context, x *Exchange, _ Session, _ string) { noResources(x) }

// Forget implements Feed.
func (Plain) Forget(context.Context, SessionID) {}

// Watch implements Feed.
func (Plain) Watch(context.Context, Peer, SessionID, Session) (Watch, error) { return idle{}, nil }

// Listen implements Feed.
func (Plain) Listen(_ context.Context, x *Exchange) (Watch, mcpgo.SubscriptionFilter) {
	noResources(x)
	return idle{}, mcpgo.SubscriptionFilter{}
}

// OpenLetter implements Letters.
func (Plain) OpenLetter(context.Context, *Exchange, string, string) (Letter, error) {
	return nil, errors.New("this content asks nothing")
}

// Deliver implements Letters.
func (Plain) Deliver(context.Context, *Exchange, string, string) error { return nil }

// Valid implements Tokens.
func (Plain) Valid(context.Context, Peer) error { return nil }

// Revoked implements Tokens.
func (Plain) Revoked(error) bool { return false }

// Unauthorized implements Tokens.
func (Plain) Unauthorized(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }

// idle is a watch without changes.
type idle struct{}

// Ready implements Watch.
func (idle) Ready() <-chan struct{} { return nil }

// Again implements Watch.
func (idle) Again() {}

// Changed implements Watch.
func (idle) Changed(context.Context) ([]Change, error) { return nil, nil }

// Close implements Watch.
func (idle) Close(context.Context) error { return nil }
