package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostLive is how many events a writer keeps at a time, so that a long run does not become a test of large calendars.
const mostLive = 12

// victim writes events of its own over both protocols, to either server, and records the results.
type victim struct {
	*arena
	name   string
	random *rand.Rand
	made   int
	live   []string // the identities of what is there for all it knows
}

// deeds are a writer's actions on an existing event, with their protocol and result.
var deeds = []struct {
	weight int
	do     func(*victim, context.Context, client, string, *page, where)
}{
	{4, (*victim).put},
	{4, (*victim).patch},
	{2, (*victim).remove},
	{2, (*victim).deleteEvent},
	{2, (*victim).move},
	{3, (*victim).undo},
}

func title(identity string, edition int) string { return fmt.Sprintf("%s v%d", identity, edition) }

// step does one thing.
func (v *victim) step(ctx context.Context) {
	c := v.anyServer(v.random)
	if len(v.live) == 0 || len(v.live) < mostLive && v.random.IntN(3) == 0 {
		v.make(ctx, c)
		return
	}
	i := v.random.IntN(len(v.live))
	identity := v.live[i]
	e := v.ledger.open(identity, "", "")
	at, sure := e.sure()
	if !sure || at == (where{}) {
		v.live = slices.Delete(v.live, i, i+1) // gone, or in doubt until the next reading
		return
	}
	n := v.random.IntN(17)
	for _, d := range deeds {
		if n -= d.weight; n < 0 {
			d.do(v, ctx, c, identity, e, at)
			return
		}
	}
}

// make makes an event by either door.
func (v *victim) make(ctx context.Context, c client) {
	v.made++
	identity := fmt.Sprintf("%s-%d", v.name, v.made)
	cal := calendars[v.random.IntN(len(calendars))]
	to := func(where) where { return where{1, cal} }
	if v.random.IntN(2) == 0 {
		e := v.ledger.open(identity, identity, identity+".ics")
		e.edition = 1
		v.dav(ctx, c, identity, to, http.MethodPut, home+cal+"/"+e.name, event(identity, title(identity, 1)),
			"If-None-Match", "*")
	} else {
		e := v.ledger.open(identity, "", "")
		e.edition = 1
		arguments := map[string]any{
			"calendar_id": v.ids[cal], "title": title(identity, 1), "start": "2026-03-01T09:00",
			"end": "2026-03-01T10:00", "idempotency_key": identity,
		}
		text, o := v.ask(ctx, c, "create_event", arguments)
		if o == unknown { // as an assistant does: once more with the same key, which must not make two
			if again, second := v.ask(ctx, v.anyServer(v.random), "create_event", arguments); second == acknowledged {
				text, o = again, second
			}
		}
		var made struct{ UID string }
		if o == acknowledged && (json.Unmarshal([]byte(text), &made) != nil || made.UID == "") {
			v.ledger.complain("create_event answered %.200q", text)
		}
		e.uid = made.UID
		v.ledger.note(identity, o, to)
	}
	v.live = append(v.live, identity)
}

// put overwrites the event over CalDAV. The name of an event that an assistant created is unknown until it is read.
func (v *victim) put(ctx context.Context, c client, identity string, e *page, at where) {
	if e.name == "" {
		v.patch(ctx, c, identity, e, at)
		return
	}
	e.edition++
	edition := e.edition
	v.dav(ctx, c, identity, func(where) where { return where{edition, at.calendar} },
		http.MethodPut, home+at.calendar+"/"+e.name, event(e.uid, title(identity, edition)))
}

func (v *victim) remove(ctx context.Context, c client, identity string, e *page, at where) {
	if e.name == "" {
		v.deleteEvent(ctx, c, identity, e, at)
		return
	}
	v.dav(ctx, c, identity, nowhere, http.MethodDelete, home+at.calendar+"/"+e.name, "")
}

func (v *victim) move(ctx context.Context, c client, identity string, e *page, at where) {
	if e.name == "" {
		v.patch(ctx, c, identity, e, at)
		return
	}
	to := calendars[(slices.Index(calendars, at.calendar)+1)%len(calendars)]
	v.dav(ctx, c, identity, func(where) where { return where{at.edition, to} },
		"MOVE", home+at.calendar+"/"+e.name, "", "Destination", home+to+"/"+e.name, "Overwrite", "F")
}

func nowhere(where) where { return where{} }

func (v *victim) patch(ctx context.Context, c client, identity string, e *page, at where) {
	e.edition++
	edition := e.edition
	_, o := v.ask(ctx, c, "patch_event", map[string]any{
		"calendar_id": v.ids[at.calendar], "event_uid": e.uid, "title": title(identity, edition),
	})
	v.ledger.note(identity, o, func(where) where { return where{edition, at.calendar} })
}

func (v *victim) deleteEvent(ctx context.Context, c client, identity string, e *page, at where) {
	_, o := v.ask(ctx, c, "delete_event", map[string]any{"calendar_id": v.ids[at.calendar], "event_uid": e.uid})
	v.ledger.note(identity, o, nowhere)
}

var changeID = regexp.MustCompile(`change_id ([0-9a-z-]+\.[0-9]+)`)

// undo changes the event and takes that back.
func (v *victim) undo(ctx context.Context, c client, identity string, e *page, at where) {
	v.patch(ctx, c, identity, e, at)
	now, sure := e.sure()
	if !sure || now.edition != e.edition {
		return
	}
	text, o := v.ask(ctx, c, "list_changes", map[string]any{
		"calendar_id": v.ids[at.calendar], "event_uid": e.uid, "limit": 1,
	})
	if o != acknowledged {
		return
	}
	found := changeID.FindStringSubmatch(text)
	if found == nil {
		v.ledger.complain("%s was changed, and its journal is %.300q", identity, text)
		return
	}
	_, o = v.ask(ctx, c, "undo_change", map[string]any{"change_id": found[1]})
	v.ledger.note(identity, o, func(where) where { return at })
}

// dav makes a write request, and records the result.
func (v *victim) dav(ctx context.Context, c client, identity string, change func(where) where,
	method, path, body string, headers ...string,
) {
	a, err := c.dav(ctx, method, path, body, headers...)
	o := unknown
	switch {
	case err != nil:
	case a.status < 300:
		o = acknowledged
	case a.status < 500 || a.status == http.StatusInsufficientStorage:
		o = turnedDown
		v.refusal(a.status, method, a.body)
	}
	v.ledger.note(identity, o, change)
	v.after(ctx, o)
}

// ask calls a tool.
func (v *victim) ask(ctx context.Context, c client, tool string, arguments map[string]any) (text string, o outcome) {
	text, status, failed, err := c.use(ctx, tool, arguments)
	switch {
	case err != nil || status >= 500 || status == 0: // no answer, or "try again"
	case status == http.StatusOK && !failed:
		o = acknowledged
	case strings.Contains(text, "has no answer yet"): // the first call with this key may have been done
	default:
		o = turnedDown
		v.refusal(status, tool, text)
	}
	v.after(ctx, o)
	return text, o
}

// refusal records an unexpected refusal: the writers' requests are valid and affect only their own events.
func (v *victim) refusal(status int, what, text string) {
	v.ledger.refuse(fmt.Sprint(status, " ", what))
	if status != http.StatusTooManyRequests && status != http.StatusInsufficientStorage &&
		!strings.Contains(text, "the disk of the database is full") {
		v.ledger.complain("%s was refused with %d: %.300q", what, status, text)
	}
}

// after lets a writer that was not answered well wait a moment.
func (v *victim) after(ctx context.Context, o outcome) {
	if o != acknowledged {
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// use calls a tool and tells the answer apart from a failure.
func (c client) use(ctx context.Context, tool string,
	arguments map[string]any,
) (text string, status int, failed bool, err error) {
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return "", 0, true, err
	}
	a, err := c.send(ctx, http.MethodPost, c.mcp(), string(message), "Authorization", "Bearer "+c.tok,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	if err != nil {
		return "", 0, true, err
	}
	var reply struct {
		Result *struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	// A response without a tool result is a failure, but not of the connection.
	_ = json.Unmarshal([]byte(a.body), &reply)
	if reply.Result == nil || len(reply.Result.Content) == 0 {
		return a.body, a.status, true, nil
	}
	return reply.Result.Content[0].Text, a.status, reply.Result.IsError, nil
}

// crowd runs writers until it is stopped, and pauses them while the judge reads.
type crowd struct {
	all   sync.WaitGroup
	still sync.RWMutex
}

func (w *crowd) add(ctx context.Context, step func(context.Context)) {
	w.all.Go(func() {
		for ctx.Err() == nil {
			w.still.RLock()
			step(ctx)
			w.still.RUnlock()
		}
	})
}
