package guest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/mcp/wire"
)

// content implements wire.Content. There are no resources, no elicitations and no tokens.
type content struct{ h *Handler }

// Prepare implements wire.Content.
func (content) Prepare(context.Context, *wire.Exchange) {}

// Challenge implements wire.Content.
func (content) Challenge(http.ResponseWriter, *http.Request, *wire.Exchange) bool { return false }

// Reword implements wire.Content.
func (c content) Reword(x *wire.Exchange, e *wire.Error) *wire.Error {
	switch {
	case e.Code == wire.CodeInternal:
		c.h.Logger.Error("a request of a booking page failed", "error", e.Message, "fault", x.FaultID)
		return wire.ErrFault(x.FaultID)
	case e.Code == wire.CodeMethod:
		return wire.Errorf(wire.CodeMethod, "there is no method %s here", wire.Quote(x.Message.Method))
	case e.Code == wire.CodeParams && x.Message.Method == string(mcpgo.MethodToolsCall):
		var names []string
		for _, t := range tools {
			names = append(names, t.name)
		}
		return wire.Errorf(wire.CodeParams, "no tool %s: there are %s", wire.Quote(x.Call.Name),
			strings.Join(names, ", "))
	}
	return e
}

// Limited implements wire.Content.
func (content) Limited(_ wire.Version, _ string, seconds int) wire.Refusal {
	refused := &booking.RequestError{
		Code: "rate_limited", Message: "too many calls from this network: wait " + strconv.Itoa(seconds) + " seconds",
	}
	result := mcpgo.NewToolResultError(refused.Code + ": " + refused.Message)
	result.StructuredContent = map[string]*booking.RequestError{"error": refused}
	return wire.Refusal{Result: result}
}

// noResources refuses subscriptions.
func noResources(x *wire.Exchange) {
	x.Refused = &wire.Refusal{
		Err: wire.Errorf(wire.CodeMethod, "there are no subscriptions here"), Status: http.StatusOK,
	}
}

// Subscribe implements wire.Feed.
func (content) Subscribe(_ context.Context, x *wire.Exchange, _ wire.Session, _ string) {
	noResources(x)
}

// Unsubscribe implements wire.Feed.
func (content) Unsubscribe(_ context.Context, x *wire.Exchange, _ wire.Session, _ string) {
	noResources(x)
}

// Forget implements wire.Feed.
func (content) Forget(context.Context, wire.SessionID) {}

// Watch implements wire.Feed. Handler.Serve refuses streams before.
func (content) Watch(context.Context, wire.Peer, wire.SessionID, wire.Session) (wire.Watch, error) {
	return idle{}, nil
}

// Listen implements wire.Feed.
func (content) Listen(_ context.Context, x *wire.Exchange) (wire.Watch, mcpgo.SubscriptionFilter) {
	noResources(x)
	return idle{}, mcpgo.SubscriptionFilter{}
}

// OpenLetter implements wire.Letters. No tool asks.
func (content) OpenLetter(context.Context, *wire.Exchange, string, string) (wire.Letter, error) {
	return nil, errors.New("no tool asks")
}

// Deliver implements wire.Letters.
func (content) Deliver(context.Context, *wire.Exchange, string, string) error { return nil }

// Valid implements wire.Tokens.
func (content) Valid(context.Context, wire.Peer) error { return nil }

// Revoked implements wire.Tokens.
func (content) Revoked(error) bool { return false }

// Unauthorized implements wire.Tokens.
func (content) Unauthorized(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }

// Refuse implements wire.Content.
func (content) Refuse(_ context.Context, x *wire.Exchange, _ error) { noResources(x) }

// Away implements wire.Content.
func (content) Away(error) bool { return false }

// ForLog implements wire.Content.
func (content) ForLog(err error) string { return err.Error() }

// idle is a watch without changes.
type idle struct{}

// Ready implements wire.Watch.
func (idle) Ready() <-chan struct{} { return nil }

// Again implements wire.Watch.
func (idle) Again() {}

// Changed implements wire.Watch.
func (idle) Changed(context.Context) ([]wire.Change, error) { return nil, nil }

// Close implements wire.Watch.
func (idle) Close(context.Context) error { return nil }
