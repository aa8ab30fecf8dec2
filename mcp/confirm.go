package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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
	"caldav-mcp-server/calendar/change"
	"caldav-mcp-server/mcp/wire"
)

// If the client supports elicitation (MCP "Elicitation"), the user confirms calls with effects that they may not
// expect. The tool first returns a question as an error and changes nothing. Once the user agrees, the tool runs again
// from the start. The agreement is for that exact question, because the data may have changed in the meantime. Clients
// without elicitation skip the question: their changes can be undone. See docs/decisions/0057-confirmation.md.

// question is a question for the user. As an error it aborts the call before anything has changed.
type question struct {
	text string
	// state is the version of the data that the text describes: an etag.
	state string
	// page is the URL of a page for the user to open, or "" for a question that is answered in the client.
	page string
}

// Error implements error.
func (q *question) Error() string { return "the user must confirm this first" }

// digest identifies the question.
func (q *question) digest() string {
	sum := sha256.Sum256([]byte(q.text + "\x00" + q.state))
	return hex.EncodeToString(sum[:])
}

// consentState is the state of the user's confirmation of a call.
type consentState struct {
	// asks reports whether the client can ask its user, opens whether it can have them open a page. agreed holds the
	// digests of the questions that the user agreed to.
	asks, opens bool
	agreed      []string
	// cleared are the recipients that the call may write to.
	cleared []calendar.Recipient
	// open is set if the call ended with a question.
	open bool
	// parts is set within change_many, whose changes are confirmed together. It becomes true once one of them would
	// need a confirmation on its own.
	parts *bool
}

// agrees reports whether the user agreed to a question.
func (c consentState) agrees(q question) bool { return slices.Contains(c.agreed, q.digest()) }

// confirm returns the question as an error, unless the client cannot ask or the user has agreed.
func (c *call) confirm(q question) error {
	if !c.consent.asks || c.consent.agrees(q) {
		return nil
	}
	return errAsk(q)
}

func errAsk(q question) error {
	e := calendar.Errorf(calendar.Invalid, "", "the user must confirm this first")
	e.Cause = &q
	return e
}

// lead asks the user to open a page, if the client supports that and they have not been asked yet.
func (c *call) lead(q question) error {
	if !c.consent.opens || c.consent.agrees(q) {
		return nil
	}
	return errAsk(q)
}

// askedOf returns the question that aborted a call.
func askedOf(err error) (*question, bool) { return errors.AsType[*question](err) }

// confirmName is the name of the only input that we request.
const confirmName = "confirm"

// errUnconfirmed ends a call that the user did not agree to.
func errUnconfirmed(action string) error {
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"the user was asked and did not respond: nothing was changed")
	e.Hint = "ask the user before you try again"
	if action == wire.Declined {
		e.Message, e.Hint = "the user was asked and declined: nothing was changed",
			"do not try again, not even in another way, unless the user asks for it"
	}
	return e
}

// mostConfirmed limits the questions of one call, in case the data keeps changing.
const mostConfirmed = 3

// attempted runs a call, and asks the user to confirm it if the tool needs that.
func (h *Handler) attempted(ctx context.Context, t tool, c *call, x *wire.Exchange) (*mcpgo.CallToolResult, error) {
	if err := h.recall(c, x); err != nil {
		return nil, err
	}
	result, err := h.answerChecked(ctx, t, c, x)
	for range mostConfirmed {
		q, asked := askedOf(err)
		switch {
		case !asked:
			return result, err
		case x.Version.Modern():
			return h.inputRequired(c, q), nil
		}
		if err = h.ask(ctx, x, q); err != nil {
			return nil, err
		}
		c.consent.agreed = append(c.consent.agreed, q.digest())
		result, err = h.answerChecked(ctx, t, c, x)
	}
	if _, asked := askedOf(err); asked {
		err = errUnconfirmed(wire.Unanswered)
	}
	return result, err
}

// answerChecked runs answer for a client that can ask: nothing is sent to a stranger unless the user agrees.
func (h *Handler) answerChecked(ctx context.Context, t tool, c *call, x *wire.Exchange) (*mcpgo.CallToolResult, error) {
	if !c.consent.asks {
		return h.answer(ctx, t, c, x)
	}
	checked := change.WithRecipientCheck(ctx, c.checkRecipients)
	result, err := h.answer(checked, t, c, x)
	if found, to := errors.AsType[*recipientsError](err); to {
		if err := h.box.confirmStrangers(ctx, c, found.all); err != nil {
			return nil, err
		}
		c.consent.cleared = found.all
		return h.answer(checked, t, c, x)
	}
	return result, err
}

// elicitation returns the request's parameters. The form is empty: accepting it means agreement. Accepting a page only
// means that the user opens it; it says nothing about their actions there.
func (q *question) elicitation(id string) mcpgo.ElicitationParams {
	if q.page != "" {
		return mcpgo.ElicitationParams{Mode: mcpgo.ElicitationModeURL, Message: wire.Visible(q.text), URL: q.page,
			ElicitationID: id}
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
