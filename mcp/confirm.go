package mcp

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// If the client supports elicitation (MCP "Elicitation"), the user confirms calls with effects that they may not
// expect. The tool first returns a question as an error and changes nothing. Once the user agrees, the tool runs again
// from the start. The agreement is for that exact question, because the data may have changed in the meantime. Clients
// without elicitation skip the question: their changes can be undone. See docs/decisions/0057-confirmation.md.

// elicitation returns the request's parameters. The form is empty: accepting it means agreement. Accepting a page only
// means that the user opens it; it says nothing about their actions there.
func (q *question) elicitation(id string) mcpgo.ElicitationParams {
	if q.page != "" {
		return mcpgo.ElicitationParams{
			Mode: mcpgo.ElicitationModeURL, Message: wire.Visible(q.text), URL: q.page,
			ElicitationID: id,
		}
	}
	return mcpgo.ElicitationParams{
		Mode: mcpgo.ElicitationModeForm, Message: wire.Visible(q.text),
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
	}
}

// ask sends a question to a client of an earlier version and waits for the user's agreement.
func (h *Handler) ask(ctx context.Context, x *wire.Exchange, q *question) error {
	action, err := h.endpoint.Ask(ctx, x, wire.Elicitation{Digest: q.digest(), Params: q.elicitation})
	if full, is := errors.AsType[*wire.NotAskedError](err); is {
		return calendar.Errorf(calendar.TooLarge, "", "%s: nothing was changed", full.Why).Advising(full.Hint)
	}
	switch {
	case err != nil:
		return err
	case action != wire.Accepted:
		return errUnconfirmed(action)
	case h.config.Good == nil:
		return nil
	}
	err = h.config.Good(ctx, callerOf(x)) // the token may have been revoked while the call waited
	if errors.Is(err, auth.ErrUnauthorized) {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
			"the token became invalid while the user was asked: nothing was changed")
	}
	return err
}

// inputRequired asks clients of 2026-07-28 and later, which repeat the call with the response (MCP "Multi Round-Trip
// Requests").
func (h *Handler) inputRequired(c *call, q *question) *mcpgo.CallToolResult {
	c.consent.open = true
	return server.NewInputRequestBuilder(h.sealConsent(c, q)).Elicit(confirmName, q.elicitation("")).ToolResult()
}

// sealConsent returns the state that a client sends back with the response: its expiry and the digest of the question,
// sealed for this token, tool and arguments. Earlier questions of the call that the user agreed to come first.
//
// "1767258000." hex(digest of a question) *( "+" digest ) "." base64url(HMAC(key, caller, call, the same))
func (h *Handler) sealConsent(c *call, q *question) string {
	digests := strings.Join(append(slices.Clone(c.consent.agreed), q.digest()), "+")
	text := strconv.FormatInt(h.now().Add(wire.AnswerAge).Unix(), 10) + "." + digests
	return text + "." + wire.Base64(h.consentSeal(c, text))
}

func (h *Handler) consentSeal(c *call, text string) []byte {
	call, _ := digestOf(c.tool, c.asked) // the arguments were read from JSON, so they marshal
	return h.endpoint.Seal(fmt.Appendf(nil, "mcp consent %q %q %q %q", c.caller.User.ID, c.caller.Token, call, text))
}

// recall reads the state and the response that a client of 2026-07-28 sent back. A state of another call is ignored,
// and the question is asked again.
func (h *Handler) recall(c *call, x *wire.Exchange) error {
	response, answered := x.Call.InputResponses[confirmName]
	if !answered || !x.Version.Modern() || !c.consent.asks && !c.consent.opens {
		return nil
	}
	if action := wire.ActionIn(response); action != wire.Accepted {
		return errUnconfirmed(action)
	}
	c.tool, c.asked = x.Call.Name, x.Call.Arguments
	until, rest, _ := strings.Cut(x.Call.RequestState, ".")
	digests, seal, ok := strings.Cut(rest, ".")
	end, unread := strconv.ParseInt(until, 10, 64)
	if ok && unread == nil && h.now().Unix() <= end &&
		hmac.Equal([]byte(seal), []byte(wire.Base64(h.consentSeal(c, until+"."+digests)))) {
		c.consent.agreed = strings.Split(digests, "+")
	}
	return nil
}
