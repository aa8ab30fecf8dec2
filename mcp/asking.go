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

// Clients before 2026-07-28 are asked in the stream that answers their call, and answer in a request of its own. That
// may reach another process than the one which asked: it then leaves the answer in the store, with the calls that can be
// repeated.

const (
	// mostAskedAtOnce is how many questions to the persons behind one token are open on one process, mostOpen
	// how many to all.
	mostAskedAtOnce, mostOpen = 4, 256
	// lookAgain is how often it is asked whether another process was answered.
	lookAgain = 2 * time.Second
)

// asking is a question that is open on this process.
type asking struct {
	of    owner
	heard chan string
}

// askings are those that are.
type askings struct {
	mu     sync.Mutex
	open   map[string]asking
	closed bool
}

// begin opens a question under an id; false where too many are.
func (a *askings) begin(of owner, id string) (asking, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	own := 0
	for _, other := range a.open {
		if other.of == of {
			own++
		}
	}
	if own >= mostAskedAtOnce || len(a.open) >= mostOpen || a.closed {
		return asking{}, false
	}
	if a.open == nil {
		a.open = make(map[string]asking)
	}
	one := asking{of, make(chan string, 1)}
	a.open[id] = one
	return one, true
}

func (a *askings) end(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
}

// close gives up what is open: a server that stops waits for its calls, and these would wait for persons.
func (a *askings) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for _, one := range a.open {
		one.hear(unanswered)
	}
}

// hear takes the first answer that comes.
func (a asking) hear(action string) {
	select {
	case a.heard <- action:
	default:
	}
}

// answer tells whether a question is open here, and hands it its answer.
func (a *askings) answer(of owner, id, action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.open[id]
	if ok = ok && one.of == of; ok {
		one.hear(action)
	}
	return ok
}

// askID names a question for the session that it is asked in, so that each process knows it for one.
func (h *Handler) askID(x *exchange, nonce string) string {
	mac := hmac.New(sha256.New, h.sessions.key)
	mac.Write(fmt.Appendf(nil, "mcp question %q %q %q %q", x.caller.User.ID, x.caller.Token, x.session, nonce))
	return "confirm-" + nonce + "." + encode(mac.Sum(nil)[:16])
}

// askPerson asks, and waits for the answer.
func (h *Handler) askPerson(ctx context.Context, x *exchange, q *question) error {
	id := h.askID(x, rand.Text())
	one, ok := h.askings.begin(ownerOf(x.caller), id)
	if !ok {
		e := calendar.Errorf(calendar.TooLarge, "", "the user has %d questions to answer already: nothing was changed", mostAskedAtOnce)
		e.Hint = "wait until they have answered those"
		return e
	}
	defer h.askings.end(id)
	letterbox, _, err := h.box.service.BeginAttempt(ctx, x.caller, id, q.digest())
	if err != nil {
		return err
	}
	defer func() { _ = h.box.service.SettleAttempt(context.WithoutCancel(ctx), letterbox, nil) }() // forgotten within a day otherwise
	ctx, cancel := context.WithTimeoutCause(ctx, consentAge, errUnconfirmed(unanswered))
	defer cancel()
	if err := x.reply.ask(elicitRequest{mcpgo.JSONRPC_VERSION, id, string(mcpgo.MethodElicitationCreate), q.elicitation()}); err != nil {
		return err
	}
	action, err := h.await(ctx, x, one, id, q)
	switch {
	case err != nil:
		return err
	case action != accepted:
		return errUnconfirmed(action)
	case h.good == nil:
		return nil
	}
	err = h.good(ctx, x.caller) // minutes may have gone by
	if errors.Is(err, auth.ErrUnauthorized) {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "the token is no longer good, since the user was asked: nothing was changed")
	}
	return err
}

// elicitRequest is a request to the client.
type elicitRequest struct {
	JSONRPC string                  `json:"jsonrpc"`
	ID      string                  `json:"id"`
	Method  string                  `json:"method"`
	Params  mcpgo.ElicitationParams `json:"params"`
}

// await waits for what the person does.
func (h *Handler) await(ctx context.Context, x *exchange, one asking, id string, q *question) (action string, err error) {
	look, pause := time.NewTicker(lookAgain), time.NewTicker(h.limits.StreamPause)
	defer look.Stop()
	defer pause.Stop()
	for {
		select {
		case action := <-one.heard:
			return action, nil
		case <-look.C:
			found, _, err := h.box.service.BeginAttempt(ctx, x.caller, id, q.digest())
			if err == nil && found.Answer != nil {
				return string(found.Answer), nil
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

// heed takes an answer of a client to a question of ours. One that nobody asked means nothing.
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
		h.log.Warn("an answer was lost", "user", x.caller.User.Name, "error", err)
	}
}
