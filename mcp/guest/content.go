package guest

import (
	"strconv"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar/booking"
	"caldav-mcp-server/mcp/wire"
)

// content implements wire.Content.
type content struct {
	wire.Plain
	h *Handler
}

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
