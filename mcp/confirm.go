package mcp

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/calendar/ledger"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/recur"
	"caldav-mcp-server/calendar/schedule"
	"caldav-mcp-server/ical"
	"caldav-mcp-server/mcp/wire"
)

// If the client supports elicitation (MCP "Elicitation"), the user confirms calls with effects that they may not
// expect. The tool first returns a question as an error and changes nothing. Once the user agrees, the tool runs again
// from the start. The agreement is for that exact question, because the data may have changed in the meantime. Clients
// without elicitation skip the question: their changes can be undone. See docs/decisions/0057-confirmation.md.

// elicitation returns the request's parameters. The form is empty: accepting it means agreement. Accepting a page only
// means that the user opens it; it says nothing about their actions there.
func (q *question) elicitation(id string) mcpgo.ElicitationParams {
	if q.page != "" {
		return mcpgo.ElicitationParams{
			Mode: mcpgo.ElicitationModeURL, Message: wire.Visible(q.text), URL: q.page,
			ElicitationID: id,
		}
	}
	return mcpgo.ElicitationParams{
		Mode: mcpgo.ElicitationModeForm, Message: wire.Visible(q.text),
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
	}
}

// ask sends a question to a client of an earlier version and waits for the user's agreement.
func (h *Handler) ask(ctx context.Context, x *wire.Exchange, q *question) error {
	action, err := h.endpoint.Ask(ctx, x, wire.Elicitation{Digest: q.digest(), Params: q.elicitation})
	if full, is := errors.AsType[*wire.NotAskedError](err); is {
		return calendar.Errorf(calendar.TooLarge, "", "%s: nothing was changed", full.Why).Advising(full.Hint)
	}
	switch {
	case err != nil:
		return err
	case action != wire.Accepted:
		return errUnconfirmed(action)
	case h.config.Good == nil:
		return nil
	}
	err = h.config.Good(ctx, callerOf(x)) // the token may have been revoked while the call waited
	if errors.Is(err, auth.ErrUnauthorized) {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
			"the token became invalid while the user was asked: nothing was changed")
	}
	return err
}

// inputRequired asks clients of 2026-07-28 and later, which repeat the call with the response (MCP "Multi Round-Trip
// Requests").
func (h *Handler) inputRequired(c *call, q *question) *mcpgo.CallToolResult {
	c.consent.open = true
	return server.NewInputRequestBuilder(h.sealConsent(c, q)).Elicit(confirmName, q.elicitation("")).ToolResult()
}

// sealConsent returns the state that a client sends back with the response: its expiry and the digest of the question,
// sealed for this token, tool and arguments. Earlier questions of the call that the user agreed to come first.
//
// "1767258000." hex(digest of a question) *( "+" digest ) "." base64url(HMAC(key, caller, call, the same))
func (h *Handler) sealConsent(c *call, q *question) string {
	digests := strings.Join(append(slices.Clone(c.consent.agreed), q.digest()), "+")
	text := strconv.FormatInt(h.now().Add(wire.AnswerAge).Unix(), 10) + "." + digests
	return text + "." + wire.Base64(h.consentSeal(c, text))
}

func (h *Handler) consentSeal(c *call, text string) []byte {
	call, _ := digestOf(c.tool, c.asked) // the arguments were read from JSON, so they marshal
	return h.endpoint.Seal(fmt.Appendf(nil, "mcp consent %q %q %q %q", c.caller.User.ID, c.caller.Token, call, text))
}

// recall reads the state and the response that a client of 2026-07-28 sent back. A state of another call is ignored,
// and the question is asked again.
func (h *Handler) recall(c *call, x *wire.Exchange) error {
	response, answered := x.Call.InputResponses[confirmName]
	if !answered || !x.Version.Modern() || !c.consent.asks && !c.consent.opens {
		return nil
	}
	c.tool, c.asked = x.Call.Name, x.Call.Arguments
	until, rest, _ := strings.Cut(x.Call.RequestState, ".")
	digests, seal, ok := strings.Cut(rest, ".")
	end, unread := strconv.ParseInt(until, 10, 64)
	if ok && unread == nil && h.now().Unix() <= end &&
		hmac.Equal([]byte(seal), []byte(wire.Base64(h.consentSeal(c, until+"."+digests)))) {
		c.consent.agreed = strings.Split(digests, "+")
	}
	if action := wire.ActionIn(response); action != wire.Accepted && c.consent.offered() == "" {
		c.consent.agreed = nil
		return errUnconfirmed(action)
	}
	return nil
}

// Calls that the user has to confirm: see confirm. The questions use the user's words, not the model's.

const (
	// mostUnasked is the highest number of changes in one call without a confirmation.
	mostUnasked = 5
	// mostInQuestion limits the changes that a question lists, mostCounted the objects that it counts.
	mostInQuestion, mostCounted = 20, 1000
)

// confirm returns the question as an error, unless the client cannot ask or the user has agreed.
func (c *call) confirm(q question) error {
	if !c.consent.asks || c.consent.agrees(q) {
		return nil
	}
	return errAsk(q)
}

func errAsk(q question) error {
	e := calendar.Errorf(calendar.Invalid, "", "the user must confirm this first")
	e.Cause = &q
	return e
}

// lead asks the user to open a page, if the client supports that and they have not been asked yet.
func (c *call) lead(q question) error {
	if !c.consent.opens || c.consent.agrees(q) {
		return nil
	}
	return errAsk(q)
}

// errUnconfirmed ends a call that the user did not agree to.
func errUnconfirmed(action string) error {
	e := calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
		"the user was asked and did not respond: nothing was changed")
	e.Hint = "ask the user before you try again"
	if action == wire.Declined {
		e.Message, e.Hint = "the user was asked and declined: nothing was changed",
			"do not try again, not even in another way, unless the user asks for it"
	}
	return e
}

// confirmDeletion asks before a calendar is deleted with all its content.
func (b toolbox) confirmDeletion(ctx context.Context, c *call, cal calendar.Calendar) error {
	if !c.consent.asks || cal.Access != calendar.OwnerAccess {
		return nil // other users' calendars are refused anyway
	}
	people, err := b.service.DeletionAudience(ctx, c.caller, cal.ID, c.telling())
	if err != nil {
		return err
	}
	n := 0
	for _, err := range b.service.Objects(ctx, c.meter, c.caller, cal, calendar.ObjectQuery{Kinds: cal.Kinds}) {
		if n++; err != nil || n > mostCounted {
			break
		}
	}
	holds := fmt.Sprintf("%d events, tasks and notes", n)
	switch {
	case n == 0:
		holds = "nothing"
	case n == 1:
		holds = "one event, task or note"
	case n > mostCounted:
		holds = fmt.Sprintf("more than %d events, tasks and notes", mostCounted)
	}
	deeds := []string{"deleted the calendar " + quotedShort(cal.Name) + ", for all users who have it, with " +
		holds + " in it"}
	if people.People > 0 {
		deeds = append(deeds, "told "+people.String()+" that their meetings in it are cancelled or declined")
	}
	return c.confirm(question{
		text:  willHave(deeds...) + "An administrator can restore it for some time.",
		state: stateOf(cal),
	})
}

// stateOf is the state of a calendar in a question. Its version grows with every change to an object or a share.
// Consent to delete the old content does not cover newer content.
func stateOf(cal calendar.Calendar) string {
	return string(cal.ID) + " " + strconv.FormatInt(int64(cal.Version), 10)
}

// willHave lists the actions that follow if the user accepts.
func willHave(deeds ...string) string {
	return "If you accept, your assistant will have\n- " + strings.Join(deeds, "\n- ") + "\n\n"
}

// confirmShare asks before another user gets access to a calendar.
func (c *call) confirmShare(cal calendar.Calendar, with string, access calendar.Access) error {
	if !c.consent.asks || cal.Access != calendar.OwnerAccess {
		return nil
	}
	share := calendar.Change{Did: calendar.Created, In: cal, Whom: calendar.UserID(with), WhomName: with, Given: access}
	return c.confirm(question{
		text: willHave(describe.English(time.UTC, quotedShort).Change(share)) +
			"unshare_calendar ends the share; anything seen until then stays known.",
		state: stateOf(cal),
	})
}

// confirmAccept asks before the user accepts a calendar that another user offers.
func (c *call) confirmAccept(o calendar.Offer) error {
	return c.confirm(question{
		text: willHave(fmt.Sprintf("accepted the calendar %s, which %s shares with you (%s)", quotedShort(o.Name()),
			quotedShort(o.From.OwnerName), permissions[o.Access])) +
			"unshare_calendar removes it again.",
		state: string(o.Calendar),
	})
}

// confirmSeries asks before a series, or an instance and all that follow it, is deleted or moved. To describe the
// effect, it plans the change in a batch that is never committed.
func (b toolbox) confirmSeries(
	ctx context.Context, c *call, s subject, plan func(changer) (ledger.Edited, error),
) error {
	if c.consent.parts != nil {
		*c.consent.parts = true
		return nil
	}
	if !c.consent.asks {
		return nil
	}
	batch := b.service.NewBatch(c.caller, c.meter, calendar.TellNobody)
	planned, err := plan(batch)
	if err != nil {
		return nil // the real attempt will be refused with a better message
	}
	wording := describe.English(s.zone.Location(), quotedShort)
	deed, about := wording.Change(batch.Last()), "This is about the whole series"
	if s.scope == edit.Following {
		deed, about = b.deedFrom(ctx, c, s, planned), "This is about that one and all that follow"
	}
	return c.confirm(question{
		text: willHave(deed+", in the calendar "+quotedShort(s.cal.Name)) + about + "; times are in " +
			s.zone.Name() + ".",
		state: string(s.found.Object.ETag) + " " + string(s.scope) + " " + stamp(s.found.RecurrenceID),
	})
}

// deedFrom describes the effect on an instance and all that follow it. A diff of the whole series would describe its
// start instead.
func (b toolbox) deedFrom(ctx context.Context, c *call, s subject, planned ledger.Edited) string {
	at := func(m recur.Moment) string {
		local, weekday := s.zone.local(m)
		return dayText(weekday, local)
	}
	from := fmt.Sprintf("%s from %s on", quotedShort(s.found.Object.Summary), at(s.found.Start))
	if planned.Split == nil {
		return "removed " + from
	}
	now, err := b.after(ctx, c, s, planned, nil)
	if err != nil || now.Start.Time.Equal(s.found.Start.Time) && now.End.Time.Equal(s.found.End.Time) {
		return "changed the length or recurrence of " + from
	}
	return fmt.Sprintf("moved %s to %s, until %s", from, at(now.Start), at(now.End))
}

// confirmUndo asks before many changes are undone.
func (c *call) confirmUndo(would calendar.Undone) error {
	var deeds, state []string
	n := 0
	for i, s := range would.Steps {
		n += len(s.Undoes)
		state = append(state, fmt.Sprint(s.In.ID, s.Undoes))
		if i < mostInQuestion {
			deeds = append(deeds, fmt.Sprintf("undone %s: %s in %s %s", calendar.Counted(len(s.Undoes), "change"),
				quotedShort(s.Summary), quotedShort(s.In.Name), undoneWords[s.Did]))
		}
	}
	if n <= mostUnasked {
		return nil
	}
	if more := len(would.Steps) - len(deeds); more > 0 {
		deeds = append(deeds, fmt.Sprintf("undone changes to %d more", more))
	}
	return c.confirm(question{
		text:  willHave(deeds...) + "That is " + calendar.Counted(n, "change") + " in all.",
		state: strings.Join(state, " "),
	})
}

// confirmCarry asks before a series is moved to another calendar.
func (c *call) confirmCarry(s subject, to calendar.Calendar) error {
	return c.confirm(question{
		text: willHave(fmt.Sprintf("moved %s, with all its instances, from the calendar %s to %s",
			quotedShort(s.found.Object.Summary), quotedShort(s.cal.Name), quotedShort(to.Name))) +
			"This is about the whole series.",
		state: string(s.found.Object.ETag) + " " + string(to.ID),
	})
}

// A message to an address that the user has never written to could leak data to the author of a text that a model has
// read. Therefore the user must confirm such a message, if the client can ask. The change runs until its recipients are
// known, and is rolled back. If the user knows all of them, or agrees, it runs again. See
// docs/decisions/0099-strangers-by-mail.md.

// recipientsError aborts a change whose recipients were not cleared yet.
type recipientsError struct{ all []calendar.Recipient }

// Error implements error.
func (e *recipientsError) Error() string { return "the recipients are not checked yet" }

// checkRecipients accepts a change that writes to cleared recipients only.
func (c *call) checkRecipients(all []calendar.Recipient) error {
	if slices.Equal(all, c.consent.cleared) {
		return nil
	}
	e := calendar.Errorf(calendar.Invalid, "", "the recipients of this change differed when it was repeated: "+
		"nothing was changed").Advising("try it again")
	e.Cause = &recipientsError{all}
	return e
}

// confirmStrangers asks the user to confirm a first message to any of the addresses: one question for all of them.
func (b toolbox) confirmStrangers(ctx context.Context, c *call, all []calendar.Recipient) error {
	c.meter = b.service.Meter(ctx, c.caller)
	defer c.meter.Close()
	var strangers, shown []string
	for _, r := range all {
		known, err := b.hasWritten(ctx, c, r)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		strangers = append(strangers, string(r.To))
		if len(shown) < mostInQuestion {
			shown = append(shown, quotedShort(string(r.To)))
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	if more := len(strangers) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return c.confirm(question{
		text: willHave("sent a message about an event to "+strings.Join(shown, ", ")) +
			"You have never written to these addresses before. They get the event with its title, time, " +
			"place and notes.",
		state: strings.Join(strangers, " "),
	})
}

// mostRecalled limits the earlier events with an address that are checked.
const mostRecalled = 50

// hasWritten reports whether the user has written to an address: the server has mailed it in their name, or it is an
// attendee of a meeting that they organize in a calendar of their own. Calendars that others fill, such as feeds, prove
// nothing.
func (b toolbox) hasWritten(ctx context.Context, c *call, r calendar.Recipient) (bool, error) {
	wrote, err := b.service.WroteTo(ctx, r)
	if err != nil || wrote {
		return wrote, err
	}
	own, err := b.service.Calendars(ctx, c.caller)
	own = slices.DeleteFunc(own, func(cal calendar.Calendar) bool {
		return cal.Access != calendar.OwnerAccess || cal.Origin.Mirrors() && !cal.Origin.Writable ||
			!cal.Kinds.Has(calendar.Event)
	})
	if len(own) == 0 || err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return false, nil // the token may not read
	}
	if err != nil {
		return false, err
	}
	found, err := b.service.SearchEvents(ctx, c.caller, query.EventSearch{
		Text: string(r.To), Calendars: own,
		Past: true, Limit: mostRecalled, Meter: c.meter,
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Forbidden {
		return false, nil
	}
	return slices.ContainsFunc(found.Occurrences, func(o query.Occurrence) bool {
		return invitedBy(c.caller, o, r.To)
	}), err
}

// invitedBy reports whether a user invited an address to an event. A cancelled event does not count, nor does one that
// sends the address no messages. The organizer of an event in a linked calendar may be the account.
func invitedBy(who calendar.Caller, o query.Occurrence, to calendar.MailAddress) bool {
	organizer := o.Component.Property("ORGANIZER")
	if organizer == nil || !lookup.IsUser(who, organizer.Value()) &&
		!o.Calendar.Origin.Has(schedule.AddressOf(organizer.Value()).Mail()) {
		return false
	}
	if content.WordOf(o.Component, "STATUS") == string(edit.Cancelled) {
		return false
	}
	return slices.ContainsFunc(o.Component.All("ATTENDEE"), func(p *ical.Property) bool {
		agent, _ := p.Param("SCHEDULE-AGENT")
		return !strings.EqualFold(agent, "NONE") && strings.EqualFold(schedule.AddressOf(p.Value()).Mail(), string(to))
	})
}
