package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/mailbox"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/mcp/wire"
)

// tool is a row in the table of tools.
type tool struct {
	name, title, description string
	// scope is the scope that a token needs to list and to call the tool.
	scope calendar.Scope
	// besides returns additional scopes that a call needs, depending on its arguments; nil if there are none.
	besides func(asked map[string]json.RawMessage) calendar.Scope
	// unbound tools are hidden from tokens restricted to some calendars.
	unbound bool
	hints   toolHints
	// mail is set if the tool reads mail: only users with linked mail see it. alias is its name with a dot. It is
	// accepted but not listed, because not every host allows dots.
	mail  bool
	alias string
	// begin returns the parameters of a call and the function that runs it: see doing.
	begin func() job
	// gives is an empty structured result; its type determines the schema.
	gives any
}

// reading makes a tool read-only.
func reading(t tool) tool {
	t.scope, t.hints = calendar.ScopeRead, toolHints{readOnly: true, idempotent: true}
	return t
}

// changing is for a tool that reads and changes data, and has no further effect if the call is repeated.
func (b toolbox) changing(t tool) tool {
	t.scope, t.hints = calendar.ScopeRead|calendar.ScopeWrite, toolHints{destructive: true, idempotent: true}
	return b.once(t)
}

// sending is for a tool that may notify attendees or an organizer, also by mail.
func sending(t tool) tool {
	t.hints.openWorld = true
	return t
}

// job is one call of a tool: takes fill the arguments, then do runs.
type job struct {
	takes []field
	do    func(context.Context, *call) (answer, error)
}

// doing returns the begin function of a tool with arguments of type A.
func doing[A any, P interface {
	*A
	takes() []field
}](do func(context.Context, *call, P) (answer, error)) func() job {
	return func() job {
		in := P(new(A))
		return job{in.takes(), func(ctx context.Context, c *call) (answer, error) { return do(ctx, c, in) }}
	}
}

// withSubject is doing for a tool with an event or a task as its target, which find looks up: see toolbox.subject and
// toolbox.aim.
func withSubject[A any, P interface {
	*A
	takes() []field
	refers() reference
}](n noun, find func(context.Context, *call, noun, reference) (subject, error), do func(context.Context, *call, subject,
	P) (answer, error)) func() job {
	return doing(func(ctx context.Context, c *call, in P) (answer, error) {
		s, err := find(ctx, c, n, in.refers())
		if err != nil {
			return answer{}, err
		}
		return do(ctx, c, s, in)
	})
}

// within is doing for a tool that names a calendar.
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

// nothing holds the arguments of a tool without parameters.
type nothing struct{}

func (*nothing) takes() []field { return nil }

// toolHints tell a host how careful to be. They must be true, because hosts ask the user or not depending on them. All
// four are always sent: if one is missing, hosts assume the worst.
type toolHints struct{ readOnly, destructive, idempotent, openWorld bool }

// call is one call of a tool.
type call struct {
	caller calendar.Caller
	// meter counts the cost of the call.
	meter *meter.Meter
	// calendar is the call's calendar once it is found, for the log.
	calendar calendar.CalendarID
	// uid is the uid for a created object, or "" for any. See toolbox.once.
	uid calendar.UID
	// tool and asked are the query, at is the position of its cursor: see resume.
	tool  string
	asked map[string]json.RawMessage
	at    json.RawMessage
	// plain is set if the client gets only the text.
	plain bool
	// batch collects the changes, if the call is part of change_many.
	batch *ledger.Batch
	// consent is the state of the user's confirmation.
	consent consentState
	// foreign are the other authors of texts that the call is about: see marked.
	foreign []shown
	// noted are extra log attributes. They contain no user-supplied text.
	noted []slog.Attr
}

// changer changes events and tasks, immediately or in a batch.
type changer interface {
	CreateTelling(context.Context, calendar.Caller, calendar.Calendar, edit.Draft,
		calendar.Telling) (calendar.Saved, error)
	EditObject(context.Context, calendar.Caller, calendar.Calendar, calendar.UID, ledger.Edit) (ledger.Edited, error)
	CancelObject(context.Context, calendar.Caller, calendar.Calendar, calendar.UID,
		ledger.Cancellation) (ledger.Edited, error)
}

func (b toolbox) changer(c *call) changer {
	if c.batch != nil {
		return c.batch
	}
	return b.service
}

// answer is the outcome of a call: text in the format of the first version, and structured content for later ones.
type answer struct{ text, structured any }

// same is an answer whose text and structured content are the same.
func same(v any) (answer, error) { return answer{v, v}, nil }

// prose is an answer's text for reading. It is sent as it is, with hidden characters escaped; any other text is encoded
// as JSON.
type prose string

// noted is an answer's text in a format that the first version fixed, with further notes in a content block of their
// own.
type noted struct {
	text any
	note prose
}

// toolbox holds the dependencies of the tools. The type of each family of tools embeds it.
type toolbox struct {
	service *service.Service
	zones   *zone.DB
	now     func() time.Time
	// base is the server's public URL, or "" if it is unknown.
	base string
	// mail reads mail; nil if mail accounts cannot be linked.
	mail *mailbox.Box
	// hookSecret returns the key that signs messages to a webhook; nil if webhooks are not offered.
	hookSecret func(context.Context, calendar.Webhook) (string, error)
}

// named reports whether a name is the tool's.
func (t tool) named(name string) bool { return name == t.name || t.alias != "" && name == t.alias }

// open reports whether the caller's token has the tool's scope.
func (t tool) open(c calendar.Caller) bool { return c.Scopes&t.scope == t.scope }

// needs returns the scopes that a call needs.
func (t tool) needs(asked map[string]json.RawMessage) calendar.Scope {
	if t.besides == nil {
		return t.scope
	}
	return t.scope | t.besides(asked)
}

// errClosed refuses a tool or a call because the caller's token lacks scopes for it.
func (t tool) errClosed(c calendar.Caller, needs calendar.Scope) error {
	so := ""
	if t.open(c) {
		so = " for that"
	}
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"this token may not use %s%s: it has the scopes %q and lacks %q", t.name, so, auth.ScopeList(c.Scopes),
		auth.ScopeList(needs&^c.Scopes))
	e.Hint = "tell the user that a different token is needed"
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

// pack converts an answer to a result. MCP 2025-06-18 "Structured Content": the text contains the same.
func pack(a answer, v wire.Version) (*mcpgo.CallToolResult, error) {
	with, ok := a.text.(noted)
	if !ok {
		with.text = a.text
	}
	text, err := encodeText(with.text)
	if err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	result := mcpgo.NewToolResultText(text)
	if with.note != "" {
		result.Content = append(result.Content, mcpgo.NewTextContent(wire.Visible(string(with.note))))
	}
	if !v.Plain() {
		result.StructuredContent = a.structured
	}
	return result, nil
}

func encodeText(value any) (string, error) {
	if text, ok := value.(prose); ok {
		return wire.Visible(string(text)), nil
	}
	data, err := wire.EncodeJSON(value)
	if isForeign(value) {
		return defusedJSON(value, data), err
	}
	return string(data), err
}
