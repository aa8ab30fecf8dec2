package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Clients of versions before 2026-07-28 get an elicitation in the stream that answers their call, and send the response
// as a request of its own. That request may reach another process than the one that asked. The other process then
// stores the response in the table of idempotent calls, where the asking process polls for it.

const (
	// mostAskedAtOnce limits the open elicitations per token on one process, mostOfUser those per user over all their
	// tokens, and mostOpen the total. It therefore takes many users to block others.
	mostAskedAtOnce, mostOfUser, mostOpen = 4, 8, 256
	// lookAgain is how often the store is polled for a response that reached another process.
	lookAgain = 2 * time.Second
)

// asking is an elicitation that is open on this process.
type asking struct {
	of    owner
	heard chan string
}

// askings are the elicitations that are open on this process.
type askings struct {
	mu     sync.Mutex
	open   map[string]asking
	closed bool
}

// errNotAsked refuses a call whose elicitation cannot be sent now.
func errNotAsked(hint, why string, args ...any) error {
	return calendar.Errorf(calendar.TooLarge, "", why+": nothing was changed", args...).Advising(hint)
}

// begin opens an elicitation under an id, unless too many are open.
func (a *askings) begin(of owner, id string) (asking, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ofToken, ofUser := 0, 0
	for _, other := range a.open {
		if other.of.user == of.user {
			ofUser++
		}
		if other.of == of {
			ofToken++
		}
	}
	switch {
	case a.closed:
		return asking{}, errNotAsked("try again in a minute", "the server is shutting down, so it cannot ask the user")
	case ofToken >= mostAskedAtOnce:
		return asking{}, errNotAsked("wait until the user has answered those", "the user already has %d open questions", ofToken)
	case ofUser >= mostOfUser:
		return asking{}, errNotAsked("wait until the user has answered those", "over all their assistants, the user already has %d open questions", ofUser)
	case len(a.open) >= mostOpen:
		return asking{}, errNotAsked("try again in a few minutes", "the server is waiting for the answers of many users, and cannot ask more now")
	}
	if a.open == nil {
		a.open = make(map[string]asking)
	}
	one := asking{of, make(chan string, 1)}
	a.open[id] = one
	return one, nil
}

func (a *askings) end(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
}

// close ends all open elicitations as unanswered: a server that shuts down waits for its calls, and these calls wait
// for people.
func (a *askings) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, one := range a.open {
		one.hear(unanswered)
	}
}

// hear delivers the first response; later ones are dropped.
func (a asking) hear(action string) {
	select {
	case a.heard <- action:
	default:
	}
}

// answer hands a response to the elicitation, and reports whether it is open here.
func (a *askings) answer(of owner, id, action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.open[id]
	if ok = ok && one.of == of; ok {
		one.hear(action)
	}
	return ok
}

// askID derives the id of an elicitation from its session, so that each process can verify it.
func (h *Handler) askID(x *exchange, nonce string) string {
	mac := hmac.New(sha256.New, h.sessions.key)
	mac.Write(fmt.Appendf(nil, "mcp question %q %q %q %q", x.caller.User.ID, x.caller.Token, x.session, nonce))
	return "confirm-" + nonce + "." + encode(mac.Sum(nil)[:16])
}

// askPerson sends an elicitation and waits for the response.
func (h *Handler) askPerson(ctx context.Context, x *exchange, q *question) error {
	id := h.askID(x, rand.Text())
	one, err := h.askings.begin(ownerOf(x.caller), id)
	if err != nil {
		return err
	}
	defer h.askings.end(id)
	letterbox, _, err := h.box.service.BeginAttempt(ctx, x.caller, id, q.digest())
	if err != nil {
		return err
	}
	defer func() { _ = h.box.service.SettleAttempt(context.WithoutCancel(ctx), letterbox, nil) }() // otherwise it expires within a day
	ctx, cancel := context.WithTimeoutCause(ctx, consentAge, errUnconfirmed(unanswered))
	defer cancel()
	if err := x.reply.ask(elicitRequest{mcpgo.JSONRPC_VERSION, id, string(mcpgo.MethodElicitationCreate), q.elicitation(id)}); err != nil {
		return err
	}
	action, err := h.await(ctx, x, one, letterbox)
	switch {
	case err != nil:
		return err
	case action != accepted:
		return errUnconfirmed(action)
	case h.config.Good == nil:
		return nil
	}
	err = h.config.Good(ctx, x.caller) // the token may have been revoked while the call waited
	if errors.Is(err, auth.ErrUnauthorized) {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "the token became invalid while the user was asked: nothing was changed")
	}
	return err
}

// elicitRequest is a JSON-RPC request from the server to the client.
type elicitRequest struct {
	JSONRPC string                  `json:"jsonrpc"`
	ID      string                  `json:"id"`
	Method  string                  `json:"method"`
	Params  mcpgo.ElicitationParams `json:"params"`
}

// await waits for the user's response. It also polls the store for a response that another process received.
func (h *Handler) await(ctx context.Context, x *exchange, one asking, letterbox calendar.Attempt) (action string, err error) {
	look, pause := time.NewTicker(lookAgain), time.NewTicker(h.config.Limits.StreamPause)
	defer look.Stop()
	defer pause.Stop()
	for {
		select {
		case action := <-one.heard:
			return action, nil
		case <-look.C:
			if answer, err := h.box.service.AttemptAnswer(ctx, letterbox); err == nil && answer != nil {
				return string(answer), nil
			}
		case <-pause.C:
			if err := x.reply.wait(); err != nil {
				return "", err
			}
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// heed processes a client's response to one of our elicitations. Responses with an unknown id are ignored.
func (h *Handler) heed(ctx context.Context, x *exchange) {
	var id string
	if !x.message.answer || x.version.modern() || json.Unmarshal(x.message.id, &id) != nil {
		return
	}
	action := actionIn(x.message.result)
	if h.askings.answer(ownerOf(x.caller), id, action) {
		return
	}
	nonce, _, _ := strings.Cut(strings.TrimPrefix(id, "confirm-"), ".")
	if !hmac.Equal([]byte(id), []byte(h.askID(x, nonce))) {
		return
	}
	left := calendar.Attempt{User: x.caller.User.ID, Token: x.caller.Token, Name: id}
	if err := h.box.service.SettleAttempt(ctx, left, []byte(action)); err != nil {
		h.log.Warn("a user's response was lost", "user", x.caller.User.Name, "error", err)
	}
}
