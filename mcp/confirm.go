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
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/ledger"
)

// Where a client can ask the person in front of it (MCP "Elicitation"), they are asked before a call does what is
// more than they can have seen coming. The tool makes a question of what it is about to do, the work ends, and
// begins anew once somebody has agreed: to that question and no other, since what is to be changed may meanwhile be
// another thing. Clients that can ask nobody go on as before: what was done can be undone.
// See docs/decisions/0057-confirmation.md.

// question is what a person is asked. As an error it ends the work, of which nothing was done.
type question struct {
	text string
	// state is what the text was made of: an etag.
	state string
	// page is the address of a page that the person is asked to open; "" for a question that is answered at once.
	page string
}

// Error implements error.
func (q *question) Error() string { return "a person is to agree first" }

// digest tells questions apart.
func (q *question) digest() string {
	sum := sha256.Sum256([]byte(q.text + "\x00" + q.state))
	return hex.EncodeToString(sum[:])
}

// consent is what is known of whether a person agrees to a call.
type consent struct {
	// asks reports whether the client can ask its user, opens whether it can have them open a page. agreed are the digests of the
	// questions that the user agreed to.
	asks, opens bool
	agreed      []string
	// cleared are the recipients that the call may write to.
	cleared []calendar.Recipient
	// open tells that the call ended with a question.
	open bool
	// parts is set for one of several changes, which are asked about together: whether one of them would be by itself.
	parts *bool
}

// agrees reports whether the user agreed to a question.
func (c consent) agrees(q question) bool { return slices.Contains(c.agreed, q.digest()) }

// confirm lets a call go on that nobody can be asked about, or to which somebody agreed.
func (c *call) confirm(q question) error {
	if !c.consent.asks || c.consent.agrees(q) {
		return nil
	}
	return errAsk(q)
}

func errAsk(q question) error {
	e := calendar.Errorf(calendar.Invalid, "", "a person is to agree first")
	e.Cause = &q
	return e
}

// lead has somebody open a page, where the client can ask for that and they have not been asked.
func (c *call) lead(q question) error {
	if !c.consent.opens || c.consent.agrees(q) {
		return nil
	}
	return errAsk(q)
}

// askedOf is the question that ended a call's work.
func askedOf(err error) (*question, bool) { return errors.AsType[*question](err) }

// confirmName is what the one input is called that a call asks for.
const confirmName = "confirm"

// The answers that a person has (MCP "Elicitation", Response Actions).
const (
	accepted   = "accept"
	declined   = "decline"
	unanswered = "cancel"
)

// errUnconfirmed ends a call that nobody agreed to.
func errUnconfirmed(action string) error {
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "the user was asked and did not answer: nothing was changed")
	e.Hint = "ask the user what they want before you try it again"
	if action == declined {
		e.Message, e.Hint = "the user was asked and said no: nothing was changed", "do not try it again, or in another way, unless the user asks for it"
	}
	return e
}

// mostConfirmed is how often one call asks, where what it is about changes again and again.
const mostConfirmed = 3

// attempted does the work of a call, and has the person asked whom it wants to agree.
func (h *Handler) attempted(ctx context.Context, t tool, c *call, x *exchange) (*mcpgo.CallToolResult, error) {
	if err := h.recall(c, x); err != nil {
		return nil, err
	}
	result, err := h.answerChecked(ctx, t, c, x)
	for range mostConfirmed {
		q, asked := askedOf(err)
		switch {
		case !asked:
			return result, err
		case x.version.modern():
			return h.inputRequired(c, q), nil
		}
		if err = h.askPerson(ctx, x, q); err != nil {
			return nil, err
		}
		c.consent.agreed = append(c.consent.agreed, q.digest())
		result, err = h.answerChecked(ctx, t, c, x)
	}
	if _, asked := askedOf(err); asked {
		err = errUnconfirmed(unanswered)
	}
	return result, err
}

// answerChecked is answer for a client that can ask: nothing is sent to a stranger unless the user agrees.
func (h *Handler) answerChecked(ctx context.Context, t tool, c *call, x *exchange) (*mcpgo.CallToolResult, error) {
	if !c.consent.asks {
		return h.answer(ctx, t, c, x)
	}
	checked := ledger.WithRecipientCheck(ctx, c.checkRecipients)
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

// elicitation is how a client is asked to ask. The form is empty: to accept it is to agree. That somebody accepts a page says that they
// open it, and nothing of what they do there.
func (q *question) elicitation(id string) mcpgo.ElicitationParams {
	if q.page != "" {
		return mcpgo.ElicitationParams{Mode: mcpgo.ElicitationModeURL, Message: visible(q.text), URL: q.page, ElicitationID: id}
	}
	return mcpgo.ElicitationParams{
		Mode: mcpgo.ElicitationModeForm, Message: visible(q.text),
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
	}
}

// inputRequired asks clients from 2026-07-28 on, which call again with the answer (MCP "Multi Round-Trip Requests").
func (h *Handler) inputRequired(c *call, q *question) *mcpgo.CallToolResult {
	c.consent.open = true
	return server.NewInputRequestBuilder(h.sealConsent(c, q)).Elicit(confirmName, q.elicitation("")).ToolResult()
}

// consentAge is how long a person has for their answer.
const consentAge = 10 * time.Minute

// sealConsent is the state that a client gives back with the answer: until when it is good, and for which question,
// sealed for this token, tool and arguments. The questions that were agreed to before come first.
//
//	"1767258000." hex(digest of a question) *( "+" digest ) "." base64url(HMAC(key, caller, call, the same))
func (h *Handler) sealConsent(c *call, q *question) string {
	digests := strings.Join(append(slices.Clone(c.consent.agreed), q.digest()), "+")
	text := strconv.FormatInt(h.now().Add(consentAge).Unix(), 10) + "." + digests
	return text + "." + encode(h.consentSeal(c, text))
}

func (h *Handler) consentSeal(c *call, text string) []byte {
	call, _ := digestOf(c.tool, c.asked) // arguments came as JSON, so they can be written
	mac := hmac.New(sha256.New, h.sessions.key)
	mac.Write(fmt.Appendf(nil, "mcp consent %q %q %q %q", c.caller.User.ID, c.caller.Token, call, text))
	return mac.Sum(nil)
}

// recall reads what a client of 2026-07-28 has brought back. A state that is not of this very call is none: it is
// asked about anew.
func (h *Handler) recall(c *call, x *exchange) error {
	response, answered := x.call.InputResponses[confirmName]
	if !answered || !x.version.modern() || !c.consent.asks && !c.consent.opens {
		return nil
	}
	if action := actionIn(response); action != accepted {
		return errUnconfirmed(action)
	}
	c.tool, c.asked = x.call.Name, x.call.Arguments
	until, rest, _ := strings.Cut(x.call.RequestState, ".")
	digests, seal, ok := strings.Cut(rest, ".")
	end, unread := strconv.ParseInt(until, 10, 64)
	if ok && unread == nil && h.now().Unix() <= end && hmac.Equal([]byte(seal), []byte(encode(h.consentSeal(c, until+"."+digests)))) {
		c.consent.agreed = strings.Split(digests, "+")
	}
	return nil
}

// actionIn is what a person did with a question; what cannot be read is no answer.
func actionIn(result json.RawMessage) string {
	var said struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(result, &said) != nil || said.Action != accepted && said.Action != declined {
		return unanswered
	}
	return said.Action
}

// abilities tells whether a client that declares these capabilities can ask somebody by a form, which {} means alone, and whether it
// can have them open a page, which it declares by name.
func abilities(capabilities json.RawMessage) (asks, opens bool) {
	var declared struct {
		Elicitation map[string]json.RawMessage `json:"elicitation"`
	}
	if json.Unmarshal(capabilities, &declared) != nil || declared.Elicitation == nil {
		return false, false
	}
	_, asks = declared.Elicitation["form"]
	_, opens = declared.Elicitation["url"]
	return asks || len(declared.Elicitation) == 0, opens
}

// capabilities are those that a message declares for itself, as modern ones do, or opens a session with.
func (m message) capabilities() json.RawMessage {
	var params struct {
		Meta         map[string]json.RawMessage `json:"_meta"`
		Capabilities json.RawMessage            `json:"capabilities"`
	}
	if json.Unmarshal(m.params, &params) != nil {
		return nil
	}
	if declared := params.Meta[mcpgo.MetaKeyClientCapabilities]; declared != nil {
		return declared
	}
	return params.Capabilities
}
