package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/ical"
)

// keyName is the parameter of tools that can be called again without harm.
const keyName = "idempotency_key"

// kept is an answer as it is remembered.
type kept struct {
	Text       json.RawMessage `json:"text"`
	Structured json.RawMessage `json:"structured"`
}

// once lets clients repeat calls of the tool whose answer they lost. All tools that change something do.
func (b toolbox) once(t tool) tool {
	begin := t.begin
	t.begin = func() job {
		w, key := begin(), ""
		w.takes = append(w.takes, textTo(&key, keyName, "").upTo(longestKey))
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

// longestKey bounds a key.
const longestKey = 255

// attempt does what a call with a key asks for, unless that was done before.
func (b toolbox) attempt(ctx context.Context, c *call, key string, do func(context.Context, *call) (answer, error)) (answer, error) {
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

// settle remembers what came of a call. A refusal is forgotten, so that the mended call can
// have the same key. After a failure nobody knows whether the change was made: the attempt
// stays open, and whoever repeats it will find out.
func (b toolbox) settle(ctx context.Context, attempt calendar.Attempt, a answer, failed error) (answer, error) {
	// A client that has gone away is the one that will ask again.
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
	data, err := encodeJSON(k)
	if err != nil {
		return answer{}, err
	}
	err = b.service.SettleAttempt(ctx, attempt, data)
	if err != nil && calendar.ReasonOf(err) == calendar.Unavailable {
		// The change is made, and an assistant that hears otherwise would make it twice. The store says in the log what is wrong.
		err = nil
	}
	return a, err
}

func remember(a answer) (k kept, err error) {
	if k.Text, err = encodeJSON(a.text); err != nil {
		return k, err
	}
	if isForeign(a.text) {
		k.Text = json.RawMessage(defusedJSON(a.text, k.Text))
	}
	k.Structured, err = encodeJSON(a.structured)
	return k, err
}

// encodeJSON writes JSON as results have it, with < and > as they are.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// recall is the answer of a call that was made before.
func recall(attempt calendar.Attempt) (answer, error) {
	var k kept
	if err := json.Unmarshal(attempt.Answer, &k); err != nil {
		return answer{}, fmt.Errorf("reading the answer of an earlier call: %w", err)
	}
	var said prose
	if json.Unmarshal(k.Text, &said) == nil {
		return answer{said, k.Structured}, nil // it was no JSON, but for reading
	}
	return answer{k.Text, k.Structured}, nil
}

// digestOf tells calls apart: by the tool and all that was sent but the key.
func digestOf(name string, asked map[string]json.RawMessage) (string, error) {
	said := maps.Clone(asked)
	maps.DeleteFunc(said, func(parameter string, value json.RawMessage) bool {
		return parameter == keyName || string(value) == "null"
	})
	data, err := json.Marshal(said) // in the order of the names, without blanks
	if err != nil {
		return "", fmt.Errorf("encoding arguments: %w", err)
	}
	sum := sha256.Sum256(append([]byte(name+"\x00"), data...))
	return hex.EncodeToString(sum[:]), nil
}

// create makes an event or a task, or finds what an earlier attempt of the call made before it was cut off.
func (b toolbox) create(ctx context.Context, c *call, cal calendar.Calendar, draft edit.Draft) (query.Instance, []calendar.Told, error) {
	saved, err := b.changer(c).CreateTelling(ctx, c.caller, cal, draft, c.telling())
	if c.uid != "" && err != nil && (calendar.ReasonOf(err) == calendar.Stale || calendar.RuleOf(err) == calendar.RuleUIDConflict) {
		saved.Object, err = b.service.ObjectByUID(ctx, c.meter, c.caller, cal, c.uid)
	}
	if err != nil {
		return query.Instance{}, nil, err
	}
	made, err := b.service.InstanceOf(ctx, c.meter, cal, saved.Object, ical.Time{})
	return made, saved.Told, err
}
