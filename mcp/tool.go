package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
)

// tool is one row of the table of tools.
type tool struct {
	name, title, description string
	// scope is what a token needs for the tool to be listed and to run.
	scope calendar.Scope
	// besides are the scopes that a call takes besides, by what it asks for; nil where that is all the same.
	besides func(asked map[string]json.RawMessage) calendar.Scope
	// unbound is what no token can do that is bound to some calendars: it is not listed to one.
	unbound bool
	hints   hints
	// mail tells that it reads mail: it is listed to those alone who have some to read. Alias is its name with a dot, which is taken as
	// well, and not listed, since not every host allows it.
	mail  bool
	alias string
	// begin makes the arguments of a call, and what is done with them: see doing.
	begin func() job
	// gives is an empty structured result: its schema comes out of its type.
	gives any
}

// reading is a tool that only looks.
func reading(t tool) tool {
	t.scope, t.hints = calendar.ScopeRead, hints{readOnly: true, idempotent: true}
	return t
}

// changing is one that changes what it has read, and that finds nothing to change when the call is repeated.
func (b toolbox) changing(t tool) tool {
	t.scope, t.hints = calendar.ScopeRead|calendar.ScopeWrite, hints{destructive: true, idempotent: true}
	return b.once(t)
}

// sending is a tool that may write to attendees or an organizer, also by mail.
func sending(t tool) tool {
	t.hints.openWorld = true
	return t
}

// job is what a tool does in one call: the parameters fill a struct of its own, which do finds filled.
type job struct {
	takes []field
	do    func(context.Context, *call) (answer, error)
}

// doing is the job of a tool whose arguments are an A.
func doing[A any, P interface {
	*A
	takes() []field
}](do func(context.Context, *call, P) (answer, error)) func() job {
	return func() job {
		in := P(new(A))
		return job{in.takes(), func(ctx context.Context, c *call) (answer, error) { return do(ctx, c, in) }}
	}
}

// about is the job of a tool about an event or a task, which find finds: see toolbox.subject and toolbox.aim.
func about[A any, P interface {
	*A
	takes() []field
	refers() reference
}](n noun, find func(context.Context, *call, noun, reference) (subject, error), do func(context.Context, *call, subject, P) (answer, error)) func() job {
	return doing(func(ctx context.Context, c *call, in P) (answer, error) {
		s, err := find(ctx, c, n, in.refers())
		if err != nil {
			return answer{}, err
		}
		return do(ctx, c, s, in)
	})
}

// within is the job of a tool about a calendar that it names.
func within[A any, P interface {
	*A
	takes() []field
	names() calendar.CalendarID
}](b toolbox, do func(context.Context, *call, calendar.Calendar, P) (answer, error)) func() job {
	return doing(func(ctx context.Context, c *call, in P) (answer, error) {
		cal, err := b.calendarNamed(ctx, c, in.names())
		if err != nil {
			return answer{}, err
		}
		return do(ctx, c, cal, in)
	})
}

// nothing is what a tool takes that takes no arguments.
type nothing struct{}

func (*nothing) takes() []field { return nil }

// hints tell a host how careful to be. They must be true: hosts ask the user, or don't, by
// them. All four are always sent; where one is missing, hosts assume the worst.
type hints struct{ readOnly, destructive, idempotent, openWorld bool }

// call is one use of a tool.
type call struct {
	caller calendar.Caller
	// meter counts what the call costs.
	meter *meter.Meter
	// calendar is the one that the call is about, once it is found; it is for the log.
	calendar calendar.CalendarID
	// uid is for what the call makes; "" for any. See toolbox.once.
	uid calendar.UID
	// tool and asked are the question, at is where a cursor goes on with it: see resume.
	tool  string
	asked map[string]json.RawMessage
	at    json.RawMessage
	// plain tells that the client gets the text alone.
	plain bool
	// batch collects what the call changes, if it is one of several that are made together.
	batch *ledger.Batch
	// consent is what a person was asked about it.
	consent consent
	// foreign are the other people who wrote the texts that the call is about: see marked.
	foreign []shown
	// noted is what the log has of the call besides: nothing that anybody wrote.
	noted []slog.Attr
}

// changer makes changes of events and tasks, at once or together with others.
type changer interface {
	CreateTelling(context.Context, calendar.Caller, calendar.Calendar, edit.Draft, calendar.Telling) (calendar.Saved, error)
	EditObject(context.Context, calendar.Caller, calendar.Calendar, calendar.UID, ledger.Edit) (ledger.Edited, error)
	CancelObject(context.Context, calendar.Caller, calendar.Calendar, calendar.UID, ledger.Cancellation) (ledger.Edited, error)
}

func (b toolbox) changer(c *call) changer {
	if c.batch != nil {
		return c.batch
	}
	return b.service
}

// answer is what came of a call: as text in the form that clients of the first version know,
// and as an object for the later ones.
type answer struct{ text, structured any }

// same is an answer that is the same as text and as an object.
func same(v any) (answer, error) { return answer{v, v}, nil }

// prose is an answer's text that is for reading, and stands as it is but for hidden characters; any
// other is written as JSON.
type prose string

// noted is an answer's text whose form the first version fixed, with what else there is to say in a block of
// its own.
type noted struct {
	text any
	note prose
}

// toolbox holds what tools need.
type toolbox struct {
	service *service.Service
	zones   *zone.DB
	now     func() time.Time
	// base is how the server is reached from outside; "" when that was not said.
	base string
	// mail reads mail; nil where no account of it can be linked.
	mail *mailbox.Box
	// hookSecret is what messages to a webhook are signed with; nil where nobody is told of changes.
	hookSecret func(context.Context, calendar.Webhook) (string, error)
}

// tools are all tools there are, family by family.
func (b toolbox) tools() []tool {
	return slices.Concat(
		b.calendarTools(),
		b.shareTools(),
		b.eventTools(),
		b.batchTools(),
		b.invitationTools(),
		b.taskTools(),
		b.statusTools(),
		b.listTools(),
		b.changeTools(),
		b.searchTools(),
		b.busyTools(),
		b.findTools(),
		b.linkedTools(),
		b.webhookTools(),
	)
}

// named tells whether a name is the tool's.
func (t tool) named(name string) bool { return name == t.name || t.alias != "" && name == t.alias }

// open tells whether the caller's token has the tool's scope.
func (t tool) open(c calendar.Caller) bool { return c.Scopes&t.scope == t.scope }

// needs are the scopes that a call takes.
func (t tool) needs(asked map[string]json.RawMessage) calendar.Scope {
	if t.besides == nil {
		return t.scope
	}
	return t.scope | t.besides(asked)
}

// errClosed refuses a tool, or what is asked of it, that the caller's token has not all the scopes for.
func (t tool) errClosed(c calendar.Caller, needs calendar.Scope) error {
	so := ""
	if t.open(c) {
		so = " for that"
	}
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"this token may not use %s%s: it has the scopes %q and lacks %q", t.name, so, auth.ScopeList(c.Scopes), auth.ScopeList(needs&^c.Scopes))
	e.Hint = "tell the user that it takes another token"
	return e
}

// declare describes the tool to mcp-go.
func (t tool) declare(output json.RawMessage) mcpgo.Tool {
	return mcpgo.Tool{
		Name: t.name, Title: t.title, Description: t.description,
		RawInputSchema: inputSchema(t.begin().takes, "2025-06-18"), RawOutputSchema: output,
		Annotations: mcpgo.ToolAnnotation{
			Title: t.title, ReadOnlyHint: &t.hints.readOnly, DestructiveHint: &t.hints.destructive,
			IdempotentHint: &t.hints.idempotent, OpenWorldHint: &t.hints.openWorld,
		},
	}
}

// visibleTools leaves out of a list what the token has no scope for, and what the client's
// version has no word for. For a call it leaves out what the token is not for, as if there were no
// such tool, and lets the others through: runner refuses with a reason.
func (h *Handler) visibleTools(ctx context.Context, declared []mcpgo.Tool) []mcpgo.Tool {
	x := exchangeOf(ctx)
	if x.message.method != string(mcpgo.MethodToolsList) {
		return slices.DeleteFunc(declared, func(d mcpgo.Tool) bool { return !h.hasTool(x, d.Name) })
	}
	visible, rows := make([]mcpgo.Tool, 0, len(declared)), h.toolsOf(x)
	results := h.schemas.of(rows) // a tool that is not listed explains nothing to the others
	for _, t := range rows {
		for _, d := range declared {
			if d.Name != t.name {
				continue
			}
			d.RawOutputSchema = results[t.name]
			if x.version.plain() {
				d.Title, d.RawOutputSchema = "", nil
				d.RawInputSchema = h.firstInput(d.Name)
			}
			visible = append(visible, d)
		}
	}
	return visible
}

// firstInput is what a tool takes of clients of the first version.
func (h *Handler) firstInput(name string) json.RawMessage {
	i := slices.IndexFunc(h.tools, func(t tool) bool { return t.name == name })
	return inputSchema(h.tools[i].begin().takes, first)
}

// runner makes a tool one of mcp-go's. It never returns an error: mcp-go would send its text
// to the client, under -32603 whatever it is.
func (h *Handler) runner(t tool) server.ToolHandlerFunc {
	return func(ctx context.Context, _ mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		x := exchangeOf(ctx)
		c := &call{caller: x.caller, plain: x.version.plain(), consent: consent{asks: x.asks, opens: x.opens}}
		started := h.now()
		result, err := h.attempted(ctx, t, c, x)
		if t.mail {
			err = asMailError(err, h.box.linkPage())
		}
		h.logCall(ctx, t, c, err, h.now().Sub(started))
		if err == nil {
			x.ran = true
			return result, nil
		}
		if calendar.ReasonOf(err) == calendar.Internal && ctx.Err() == nil {
			h.logFault(x, service.ForLog(err))
		}
		refused := render(err, x.version, x.faultID, c.foreign...)
		if refused.err != nil {
			x.refused = &refused
			return &mcpgo.CallToolResult{}, nil // not sent
		}
		x.ran = true
		return refused.result, nil
	}
}

// answer runs the tool, if the token may, and packs what it returns.
func (h *Handler) answer(ctx context.Context, t tool, c *call, x *exchange) (result *mcpgo.CallToolResult, err error) {
	defer rescue(&err)
	if !t.open(c.caller) {
		return nil, t.errClosed(c.caller, t.scope)
	}
	w := t.begin()
	if err := c.resume(t.name, w.takes, x.call.Arguments); err != nil {
		return nil, err
	}
	if err := c.unpackEvent(w.takes); err != nil {
		return nil, err
	}
	if err := readArguments(t.name, w.takes, c.asked, c.plain); err != nil {
		return nil, err
	}
	if needs := t.needs(c.asked); c.caller.Scopes&needs != needs {
		return nil, t.errClosed(c.caller, needs)
	}
	leave, err := h.places.enter(ctx, ownerOf(x.caller))
	if err != nil {
		return nil, err
	}
	defer leave()
	c.meter = h.box.service.Meter(ctx, c.caller)
	defer c.meter.Close()
	a, err := w.do(ctx, c)
	if err != nil {
		return nil, err
	}
	return pack(a, x.version)
}

// pack makes an answer a result. MCP 2025-06-18 "Structured Content": the same is in the text.
func pack(a answer, v version) (*mcpgo.CallToolResult, error) {
	with, ok := a.text.(noted)
	if !ok {
		with.text = a.text
	}
	text, err := write(with.text)
	if err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	result := mcpgo.NewToolResultText(text)
	if with.note != "" {
		result.Content = append(result.Content, mcpgo.NewTextContent(visible(string(with.note))))
	}
	if !v.plain() {
		result.StructuredContent = a.structured
	}
	return result, nil
}

func write(value any) (string, error) {
	if text, ok := value.(prose); ok {
		return visible(string(text)), nil
	}
	data, err := encodeJSON(value)
	if isForeign(value) {
		return defusedJSON(value, data), err
	}
	return string(data), err
}

// logCall counts a call and writes its line: never what it said or what it was told.
func (h *Handler) logCall(ctx context.Context, t tool, c *call, err error, took time.Duration) {
	outcome := "ok"
	if err != nil {
		outcome = calendar.ReasonOf(err).String()
	}
	if c.consent.open {
		outcome = "asked"
	}
	if err != nil && ctx.Err() != nil {
		outcome = "cancelled" // and whatever failed, failed because of that
	}
	h.config.Called(t.name, outcome, took)
	h.config.Did(ctx, t.name, outcome, (t.mail || !t.hints.readOnly) && !c.consent.open) // that mail was read is a deed
	line := []slog.Attr{
		slog.String("tool", t.name), slog.String("user", c.caller.User.Name),
		slog.String("token", string(c.caller.Token)), slog.String("calendar", string(c.calendar)), slog.String("outcome", outcome), slog.Duration("duration", took),
	}
	h.log.LogAttrs(ctx, slog.LevelInfo, "tool called", append(line, c.noted...)...)
}

// logFault writes what a client is not told, under the id that it is told.
func (h *Handler) logFault(x *exchange, what string) {
	h.log.Error("tool failed", slog.String("request", x.faultID), slog.String("method", x.message.method),
		slog.String("tool", x.call.Name), slog.String("user", x.caller.User.Name), slog.String("error", what))
}
