package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mcp/wire"
)

// keyName is the parameter that makes a call safe to repeat.
const keyName = "idempotency_key"

// kept is a result as it is stored.
type kept struct {
	Text       json.RawMessage `json:"text"`
	Structured json.RawMessage `json:"structured"`
}

// once adds an idempotency key to a tool, so that a client can repeat a call whose result it lost. Every tool that
// changes data has one.
func (b toolbox) once(t tool) tool {
	begin := t.begin
	t.begin = func() job {
		w, key := begin(), ""
		w.takes = append(w.takes, textTo(&key, keyName, "For retries.").upTo(longestKey))
		for i := range w.takes {
			w.takes[i].writes = true
		}
		do := w.do
		w.do = func(ctx context.Context, c *call) (answer, error) {
			if key == "" {
				return do(ctx, c)
			}
			return b.attempt(ctx, c, key, do)
		}
		return w
	}
	return t
}

// changing is for a tool that reads and changes data, and has no further effect if the call is repeated.
func (b toolbox) changing(t tool) tool {
	t.scope, t.hints = calendar.ScopeRead|calendar.ScopeWrite, toolHints{destructive: true, idempotent: true}
	return b.once(t)
}

// longestKey limits the length of a key.
const longestKey = 255

// attempt runs a call that has a key, or returns the stored result if the call ran before.
func (b toolbox) attempt(
	ctx context.Context, c *call, key string, do func(context.Context, *call) (answer, error),
) (answer, error) {
	digest, err := digestOf(c.tool, c.asked)
	if err != nil {
		return answer{}, err
	}
	attempt, mine, err := b.service.BeginAttempt(ctx, c.caller, key, digest)
	if err != nil {
		return answer{}, err
	}
	if !mine {
		return recall(attempt)
	}
	c.uid = attempt.UID
	a, err := do(ctx, c)
	return b.settle(ctx, attempt, a, err)
}

// settle stores the outcome of a call. A refusal is removed, so that the corrected call can use the same key. After an
// internal failure the outcome is unknown: the attempt stays open, and a retry finds out.
func (b toolbox) settle(ctx context.Context, attempt calendar.Attempt, a answer, failed error) (answer, error) {
	// A client that disconnected is the one that will retry.
	ctx = context.WithoutCancel(ctx)
	if failed != nil {
		if reason := calendar.ReasonOf(failed); reason == calendar.Internal || reason == calendar.Unavailable {
			return answer{}, failed
		}
		if err := b.service.SettleAttempt(ctx, attempt, nil); err != nil {
			return answer{}, err
		}
		return answer{}, failed
	}
	k, err := remember(a)
	if err != nil {
		return answer{}, err
	}
	data, err := wire.EncodeJSON(k)
	if err != nil {
		return answer{}, err
	}
	err = b.service.SettleAttempt(ctx, attempt, data)
	if err != nil && calendar.ReasonOf(err) == calendar.Unavailable {
		// The change is committed. An assistant that received an error would repeat it. The store logs the cause.
		err = nil
	}
	return a, err
}

func remember(a answer) (k kept, err error) {
	if k.Text, err = wire.EncodeJSON(a.text); err != nil {
		return k, err
	}
	if isForeign(a.text) {
		k.Text = json.RawMessage(defusedJSON(a.text, k.Text))
	}
	k.Structured, err = wire.EncodeJSON(a.structured)
	return k, err
}

// recall returns the stored result of a call.
func recall(attempt calendar.Attempt) (answer, error) {
	var k kept
	if err := json.Unmarshal(attempt.Answer, &k); err != nil {
		return answer{}, fmt.Errorf("reading the answer of an earlier call: %w", err)
	}
	var said prose
	if json.Unmarshal(k.Text, &said) == nil {
		return answer{said, k.Structured}, nil // the text was prose, not JSON
	}
	return answer{k.Text, k.Structured}, nil
}

// digestOf hashes the tool and all arguments except the key, to tell different calls apart.
func digestOf(name string, asked map[string]json.RawMessage) (string, error) {
	said := maps.Clone(asked)
	maps.DeleteFunc(said, func(parameter string, value json.RawMessage) bool {
		return parameter == keyName || string(value) == "null"
	})
	data, err := json.Marshal(said) // sorted by name, without whitespace
	if err != nil {
		return "", fmt.Errorf("encoding arguments: %w", err)
	}
	sum := sha256.Sum256(append([]byte(name+"\x00"), data...))
	return hex.EncodeToString(sum[:]), nil
}
