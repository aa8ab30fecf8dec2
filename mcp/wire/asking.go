package wire

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
)

// Clients of versions before 2026-07-28 get an elicitation in the stream that answers their call, and send the response
// as a request of its own. That request may reach another process than the one that asked. The other process then
// stores the response in the table of idempotent calls, where the asking process polls for it.

const (
	// MostAskedAtOnce limits the open elicitations per token on one process, mostOfUser those per user over all their
	// tokens, and mostOpen the total. It therefore takes many users to block others.
	MostAskedAtOnce, mostOfUser, mostOpen = 4, 8, 256
	// lookAgain is how often the store is polled for a response that reached another process.
	lookAgain = 2 * time.Second
)

// asking is an elicitation that is open on this process.
type asking struct {
	of    Owner
	heard chan string
}

// askings are the elicitations that are open on this process.
type askings struct {
	mu     sync.Mutex
	open   map[string]asking
	closed bool
}

// NotAskedError is the error of an elicitation that cannot be sent now.
type NotAskedError struct{ Why, Hint string }

// Error implements error.
func (e *NotAskedError) Error() string { return e.Why }

func errNotAsked(hint, why string, args ...any) error {
	return &NotAskedError{fmt.Sprintf(why, args...), hint}
}

// begin opens an elicitation under an id, unless too many are open.
func (a *askings) begin(of Owner, id string) (asking, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ofToken, ofUser := 0, 0
	for _, other := range a.open {
		if other.of.User == of.User {
			ofUser++
		}
		if other.of == of {
			ofToken++
		}
	}
	switch {
	case a.closed:
		return asking{}, errNotAsked("try again in a minute", "the server is shutting down, so it cannot ask the user")
	case ofToken >= MostAskedAtOnce:
		return asking{}, errNotAsked("wait until the user has answered those",
			"the user already has %d open questions", ofToken)
	case ofUser >= mostOfUser:
		return asking{}, errNotAsked("wait until the user has answered those",
			"over all their assistants, the user already has %d open questions", ofUser)
	case len(a.open) >= mostOpen:
		return asking{}, errNotAsked("try again in a few minutes",
			"the server is waiting for the answers of many users, and cannot ask more now")
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
		one.hear(Unanswered)
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
func (a *askings) answer(of Owner, id, action string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, ok := a.open[id]
	if ok = ok && one.of == of; ok {
		one.hear(action)
	}
	return ok
}

// askID derives the id of an elicitation from its session, so that each process can verify it.
func (e *Endpoint) askID(x *Exchange, nonce string) string {
	seal := e.Seal(fmt.Appendf(nil, "mcp question %q %q %q %q", x.Caller.User, x.Caller.Token, x.Session, nonce))
	return "confirm-" + nonce + "." + Base64(seal[:16])
}

// Elicitation is a question for the user.
type Elicitation struct {
	// Digest identifies the question.
	Digest string
	// Params returns the parameters of the request with an id.
	Params func(id string) mcpgo.ElicitationParams
}

// AnswerAge is the time that a user has to respond.
const AnswerAge = 10 * time.Minute

var errSilent = errors.New("the user did not respond")

// Ask sends an elicitation, waits for the response and returns its action.
func (e *Endpoint) Ask(ctx context.Context, x *Exchange, q Elicitation) (action string, err error) {
	id := e.askID(x, rand.Text())
	one, err := e.askings.begin(x.Caller.Owner, id)
	if err != nil {
		return "", err
	}
	defer e.askings.end(id)
	box, err := e.content.OpenLetter(ctx, x, id, q.Digest)
	if err != nil {
		return "", err
	}
	defer box.Close(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeoutCause(ctx, AnswerAge, errSilent)
	defer cancel()
	if err := x.reply.ask(elicitRequest{
		mcpgo.JSONRPC_VERSION, id, string(mcpgo.MethodElicitationCreate),
		q.Params(id),
	}); err != nil {
		return "", err
	}
	action, err = e.await(ctx, x, one, box)
	if errors.Is(err, errSilent) {
		return Unanswered, nil
	}
	return action, err
}

// elicitRequest is a JSON-RPC request from the server to the client.
type elicitRequest struct {
	JSONRPC string                  `json:"jsonrpc"`
	ID      string                  `json:"id"`
	Method  string                  `json:"method"`
	Params  mcpgo.ElicitationParams `json:"params"`
}

// await waits for the user's response. It also polls the store for a response that another process received.
func (e *Endpoint) await(ctx context.Context, x *Exchange, one asking, box Letter) (action string, err error) {
	look, pause := time.NewTicker(lookAgain), time.NewTicker(e.limits.StreamPause)
	defer look.Stop()
	defer pause.Stop()
	for {
		select {
		case action := <-one.heard:
			return action, nil
		case <-look.C:
			if answer, err := box.Answer(ctx); err == nil && answer != nil {
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
func (e *Endpoint) heed(ctx context.Context, x *Exchange) {
	var id string
	if !x.Message.Answer || x.Version.Modern() || json.Unmarshal(x.Message.id, &id) != nil {
		return
	}
	action := ActionIn(x.Message.result)
	if e.askings.answer(x.Caller.Owner, id, action) {
		return
	}
	nonce, _, _ := strings.Cut(strings.TrimPrefix(id, "confirm-"), ".")
	if !hmac.Equal([]byte(id), []byte(e.askID(x, nonce))) {
		return
	}
	if err := e.content.Deliver(ctx, x, id, action); err != nil {
		e.log.Warn("a user's response was lost", "user", x.Caller.Name, "error", err)
	}
}

// ActionIn returns the action of a response. A malformed response counts as unanswered.
func ActionIn(result json.RawMessage) string {
	var said struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(result, &said) != nil || said.Action != Accepted && said.Action != Declined {
		return Unanswered
	}
	return said.Action
}

// The actions of a response (MCP "Elicitation", Response Actions).
const (
	Accepted   = "accept"
	Declined   = "decline"
	Unanswered = "cancel"
)
