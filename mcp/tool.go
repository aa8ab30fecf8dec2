package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
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
	"caldav-mcp-server/mcp/views"
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
	// mail is set if the tool needs linked mail: only users who have it see the tool, unless unlinked is set. alias is
	// its name with a dot. It is accepted but not listed, because not every host allows dots.
	mail, unlinked bool
	alias          string
	// view is the page that hosts show with the result, "" for none.
	view string
	// proposes is set in the list for a caller who may only propose the tool's changes.
	proposes bool
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

// nothing holds the arguments of a tool without parameters.
type nothing struct{}

func (*nothing) takes() []field { return nil }

// toolHints tell a host how careful to be. They must be true, because hosts ask the user or not depending on them. All
// four are always sent: if one is missing, hosts assume the worst.
type toolHints struct{ readOnly, destructive, idempotent, openWorld bool }

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
	// bookings are the booking pages; nil if they are not offered.
	bookings BookingPages
}

// named reports whether a name is the tool's.
func (t tool) named(name string) bool { return name == t.name || t.alias != "" && name == t.alias }

// open reports whether the caller's token has the tool's scope, or may propose its changes.
func (t tool) open(c calendar.Caller) bool {
	return c.Scopes&t.scope == t.scope || t.suggestible() && c.MayPropose(t.scope)
}

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
		Annotations: t.annotations(),
	}
}

func (t tool) annotations() mcpgo.ToolAnnotation {
	return mcpgo.ToolAnnotation{
		Title: t.title, ReadOnlyHint: &t.hints.readOnly, DestructiveHint: &t.hints.destructive,
		IdempotentHint: &t.hints.idempotent, OpenWorldHint: &t.hints.openWorld,
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
	// instants are the relative times of the query: see fixed.
	instants map[string]time.Time
	// plain is set if the client gets only the text.
	plain bool
	// batch collects the changes, if the call is part of change_many.
	batch *ledger.Batch
	// comparing is set within change_many. It becomes true if the call looks for conflicts.
	comparing *bool
	// consent is the state of the user's confirmation.
	consent consentState
	// foreign are the other authors of texts that the call is about: see marked.
	foreign []shown
	// views prepares the data of the tool's view, nil if the client shows none. shows is that data.
	views *views.Maker
	shows any
	// noted are extra log attributes. They contain no user-supplied text.
	noted []slog.Attr
}

// show sets the data of the tool's view, with times in a zone, if the client shows views.
func (c *call) show(z zoned, data func(views.Maker) any) {
	if c.views != nil {
		c.shows = data(c.views.In(z.Location()))
	}
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

// question is a question for the user. As an error it aborts the call before anything has changed.
type question struct {
	text string
	// state is the version of the data that the text describes: an etag.
	state string
	// page is the URL of a page for the user to open, or "" for a question that is answered in the client.
	page string
	// suggestion is set if the page shows a suggestion.
	suggestion calendar.SuggestionID
}

// Error implements error.
func (q *question) Error() string { return "the user must confirm this first" }

// digest identifies the question.
func (q *question) digest() string {
	if q.suggestion != "" {
		return suggestionMark + string(q.suggestion)
	}
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
	// offer is the page of the suggestion that the call stored, for a client that can open it.
	offer *question
	// parts is set within change_many, whose changes are confirmed together. It becomes true once one of them would
	// need a confirmation on its own.
	parts *bool
}

// agrees reports whether the user agreed to a question.
func (c consentState) agrees(q question) bool { return slices.Contains(c.agreed, q.digest()) }

// askedOf returns the question that aborted a call.
func askedOf(err error) (*question, bool) { return errors.AsType[*question](err) }

// confirmName is the name of the only input that we request.
const confirmName = "confirm"

// problem is the structured content of an error result.
type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Wait is the number of seconds after which the call can be repeated.
	Wait int `json:"retry_after,omitempty"`
	// Untrusted covers the text in quotation marks.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
}

// coreTools are the tools for everyday work. Models get lost in long lists: an assistant with only these tools picks
// the right one more often. None of them clears omitted fields, as update_event does, and all their changes can be
// undone.
var coreTools = [...]calendar.ToolName{
	"list_calendars", "calendar_auth_status",
	"list_events", "search_events", "get_event",
	"create_event", "patch_event", "move_event", "delete_event",
	"find_time", "get_free_busy",
	"list_tasks", "create_task", "update_task",
	"undo_change",
}

// toolAlternatives describes data that the server also returns outside of tool calls. Each row lists alternative tools:
// a caller with one tool of each row could get the same data by calling them.
type toolAlternatives [][]calendar.ToolName

// The data that a token restricted to some tools may get without calling one.
var (
	listOfCalendars = toolAlternatives{{"list_calendars"}}
	eventIDs        = toolAlternatives{{"list_events", "query_events"}}
	wholeEvents     = toolAlternatives{{"get_event"}}
	listOfTasks     = toolAlternatives{{"list_tasks"}}
	wholeTasks      = toolAlternatives{{"get_task"}}
	allEvents       = slices.Concat(listOfCalendars, eventIDs, wholeEvents)
)

// to reports whether the caller's tools would return the data too. A token for all tools may always get it, within its
// scopes.
func (b toolAlternatives) to(c calendar.Caller) bool {
	return c.Tools == nil || !slices.ContainsFunc(b, func(either []calendar.ToolName) bool {
		return !slices.ContainsFunc(either, func(name calendar.ToolName) bool { return slices.Contains(c.Tools, name) })
	})
}

// check refuses the data to callers whose tools do not return it.
func (b toolAlternatives) check(c calendar.Caller) error {
	if b.to(c) {
		return nil
	}
	return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"this token may only use certain tools, and none of them returns this resource").
		Advising("use the listed tools, or tell the user that a different token is needed")
}

// kindsGiven returns the component types that the caller may read in full outside of tool calls, or nil for all. No
// tool returns the full stored text of a task.
func kindsGiven(c calendar.Caller) calendar.Kinds {
	if c.Tools == nil {
		return nil
	}
	return calendar.Kinds{calendar.Event}
}

// offered reports whether the caller's token includes the tool; otherwise the tool does not exist for it.
func (t tool) offered(c calendar.Caller) bool {
	return c.Tools == nil || slices.Contains(c.Tools, calendar.ToolName(t.name))
}
