package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

// A token with the scope propose may call the tools that change events and tasks. Instead of a change they leave a
// suggestion, which the user accepts or declines. In code it is a suggestion, because a proposal is a time that a guest
// proposes. See docs/decisions/0122-suggestions.md.

// suggestTools follow the caller's own suggestions.
type suggestTools struct{ toolbox }

func (b suggestTools) rows() []tool {
	list := reading(tool{
		name: "list_proposals", title: "List proposals",
		description: "Lists the changes that you proposed, and whether the user accepted or declined them.",
		begin:       doing(b.list), gives: suggestionsView{}, view: views.Review,
	})
	list.scope |= calendar.ScopePropose
	return []tool{list, b.withdrawing()}
}

func (b suggestTools) withdrawing() tool {
	return b.once(tool{
		name: "withdraw_proposal", title: "Withdraw proposal",
		description: "Withdraws a change that you proposed and that is still open.",
		scope:       calendar.ScopePropose, begin: doing(b.withdraw), gives: withdrawnView{},
	})
}

// inView returns an open suggestion for a view, which links to its page: only there can the user accept. The view may
// withdraw it if the caller may.
func (b suggestTools) inView(c *call, id calendar.SuggestionID, title string, changes []views.Change) views.Bundle {
	shown := views.Bundle{Title: title, Changes: changes, Link: b.page("suggestions/" + string(id))}
	if t := b.withdrawing(); t.offered(c.caller) && t.open(c.caller) {
		shown.Withdraw = string(id)
	}
	return shown
}

// suggestible reports whether the tool can propose its changes.
func (t tool) suggestible() bool { return t.name == manyName || slices.Contains(together, t.name) }

// suggesting returns the tool as it proposes changes.
func (t tool) suggesting() tool {
	t.proposes, t.gives, t.hints.destructive, t.hints.openWorld = true, suggestedView{}, false, false
	t.description = "Proposes this to the user, who accepts or declines it. " + t.description
	return t
}

// suggestingSomewhere returns the tool for a caller who may only propose in some calendars. Its results have the fields
// of both kinds; no schema requires or forbids one.
func (t tool) suggestingSomewhere() tool {
	t.proposes = true
	t.description += " In calendars with the permission propose, it proposes this to the user instead."
	return t
}

// suggestedView is the result of a tool that proposes changes.
type suggestedView struct {
	Proposed bool                  `json:"proposed" doc:"Nothing was changed yet."`
	ID       calendar.SuggestionID `json:"id,omitempty" doc:"None if nothing would change."`
	Expires  string                `json:"expires,omitempty"`
	Page     string                `json:"page,omitempty"`
	manyView
}

// unlessSuggested runs a tool, or lets it propose if a calendar allows only that. A call with several changes is
// proposed as a whole.
func (b toolbox) unlessSuggested(ctx context.Context, c *call, t tool, w job) (answer, error) {
	a, err := w.do(ctx, c)
	if !errors.Is(err, calendar.ErrMayPropose) {
		return a, err
	}
	c.batch, c.foreign, c.consent.parts, c.shows = nil, nil, nil, nil
	return b.suggest(ctx, c, t, w)
}

// suggest runs a tool as the only change of change_many, for a caller who may only propose it.
func (b toolbox) suggest(ctx context.Context, c *call, t tool, w job) (answer, error) {
	c.caller = c.caller.Proposing()
	c.consent = consentState{opens: c.consent.opens} // the user decides later
	if t.name == manyName {
		return w.do(ctx, c)
	}
	asked := maps.Clone(c.asked)
	delete(asked, keyName)
	asked["tool"], _ = json.Marshal(t.name) // a string always marshals
	run := func(ctx context.Context, c *call) (answer, error) {
		return b.changeMany(ctx, c, &manyChanges{changes: []map[string]json.RawMessage{asked}, single: true})
	}
	if key, _ := readText(c.asked[keyName]); key != "" {
		return b.attempt(ctx, c, key, run)
	}
	return run(ctx, c)
}

// suggested stores the planned changes of a call as a suggestion.
func (b toolbox) suggested(ctx context.Context, c *call, z zoned, v manyView) (answer, error) {
	made, err := c.batch.Suggest(ctx)
	if err != nil {
		return answer{}, err
	}
	s := suggestedView{Proposed: made.ID != "", ID: made.ID, manyView: v}
	if !s.Proposed {
		return answer{prose("Nothing was proposed: it is like that already."), s}, nil
	}
	s.Expires = z.momentOf(made.Expires)
	c.show(z, func(m views.Maker) any {
		return m.Review([]views.Bundle{
			suggestTools{b}.inView(c, made.ID, "", v.inView(c, &manyChanges{})),
		}, false)
	})
	where := ""
	if s.Page = b.page("suggestions/" + string(s.ID)); s.Page != "" {
		where = " on " + s.Page
		if c.consent.opens && c.shows == nil { // a view has the link
			c.consent.offer = &question{
				text: "Your assistant suggests a change of your calendars. Open the page to compare, then accept or " +
					"decline.",
				page: s.Page, suggestion: s.ID,
			}
		}
	}
	return answer{prose(fmt.Sprintf("Proposed, not made: the user decides%s. id %s; withdraw_proposal takes it back; "+
		"it ends %s.\n\n%s", where, s.ID, z.readable(made.Expires), v.list(true))), s}, nil
}

// A client that can open pages (elicitation of mode "url") shows its user the page of a new suggestion. Its answer says
// nothing about the decision, because the client is the program that may not decide. Only the page accepts, for the
// user who is signed in there. So the result of the call does not depend on the answer of the client.

// suggestionMark begins the digest of a question that leads to the page of a suggestion.
const suggestionMark = "suggestion-"

// offered returns the suggestion whose page the user was shown before a client of 2026-07-28 repeated its call.
func (c consentState) offered() calendar.SuggestionID {
	for _, digest := range c.agreed {
		if id, is := strings.CutPrefix(digest, suggestionMark); is {
			return calendar.SuggestionID(id)
		}
	}
	return ""
}

// offer shows the user the page of the call's suggestion. Any failure leaves the suggestion as it is.
func (h *Handler) offer(ctx context.Context, c *call, x *wire.Exchange, result *mcpgo.CallToolResult,
) (*mcpgo.CallToolResult, error) {
	q := c.consent.offer
	if q == nil {
		return result, nil
	}
	if x.Version.Modern() {
		return h.inputRequired(c, q), nil
	}
	_, _ = h.endpoint.Ask(ctx, x, wire.Elicitation{Digest: q.digest(), Params: q.elicitation})
	return result, ctx.Err()
}

// again returns the result of a call whose suggestion the user was shown.
func (b toolbox) again(ctx context.Context, c *call, id calendar.SuggestionID) (answer, error) {
	all, err := b.service.Suggestions(ctx, c.caller)
	if err != nil {
		return answer{}, err
	}
	i := slices.IndexFunc(all, func(s calendar.Suggestion) bool { return s.ID == id })
	if i < 0 {
		return answer{}, noSuggestion(id, calendar.Errorf(calendar.NotFound, "", "no proposal %q", string(id)))
	}
	z := b.usualZone(c, calendar.Calendar{})
	s := suggestedView{
		Proposed: true, ID: id, Expires: z.momentOf(all[i].Expires), Page: b.page("suggestions/" + string(id)),
		manyView: manyView{Changes: []oneOfMany{}, zoneView: z.view()},
	}
	said := fmt.Sprintf("Proposed, not made: the user decides on %s. id %s; it is %s so far; list_proposals shows the "+
		"decision; it ends %s.", s.Page, id, all[i].State, z.readable(all[i].Expires))
	return answer{prose(said), s}, nil
}

// suggestionView is a suggestion in a list.
type suggestionView struct {
	ID      calendar.SuggestionID    `json:"id"`
	State   calendar.SuggestionState `json:"state" doc:"open, accepted or declined"`
	Created string                   `json:"created"`
	Expires string                   `json:"expires"`
	Changes []suggestedChangeView    `json:"changes,omitempty" doc:"While it is open."`
}

type suggestedChangeView struct {
	What      shown               `json:"what"`
	Calendar  calendar.CalendarID `json:"calendar_id"`
	UID       shown               `json:"uid"`
	Untrusted shown               `json:"untrusted_text_by,omitempty" once:"true"`
}

// suggestionsView is the result of list_proposals.
type suggestionsView struct {
	Proposals []suggestionView `json:"proposals"`
	zoneView
}

func (b suggestTools) list(ctx context.Context, c *call, _ *nothing) (answer, error) {
	all, err := b.service.Suggestions(ctx, c.caller)
	if err != nil {
		return answer{}, err
	}
	z := b.usualZone(c, calendar.Calendar{})
	wording := describe.English(z.Location(), func(s string) string {
		return wire.Quoted(defused(short(s, longestTold)))
	})
	v := suggestionsView{Proposals: []suggestionView{}, zoneView: z.view()}
	for _, s := range all {
		one := suggestionView{
			ID: s.ID, State: s.State, Created: z.momentOf(s.Created), Expires: z.momentOf(s.Expires),
		}
		changes, err := b.service.SuggestedChanges(ctx, c.caller, s)
		if err != nil {
			return answer{}, err
		}
		for _, change := range changes {
			one.Changes = append(one.Changes, suggestedChangeView{
				shown(wording.Change(change)), change.Calendar, shown(change.UID),
				changeTools(b).writerOf(ctx, c, change),
			})
		}
		v.Proposals = append(v.Proposals, one)
	}
	c.show(z, func(m views.Maker) any { return m.Review(b.listInView(c, m, z, v, all), false) })
	return answer{v.prose(z), v}, nil
}

// listInView returns suggestions for a view.
func (b suggestTools) listInView(
	c *call, m views.Maker, z zoned, v suggestionsView, all []calendar.Suggestion,
) (list []views.Bundle) {
	for i, s := range all {
		title := m.Moment(s.Created.In(z.Location()))
		changes := each(v.Proposals[i].Changes, func(change suggestedChangeView) views.Change {
			return views.Change{What: wire.Visible(string(change.What))}
		})
		switch s.State {
		case calendar.SuggestionOpen:
			list = append(list, b.inView(c, s.ID, title, changes))
		case calendar.SuggestionAccepted:
			list = append(list, views.Bundle{Title: title + ": " + m.Text("notice.suggestion-accepted")})
		case calendar.SuggestionDeclined:
			list = append(list, views.Bundle{Title: title + ": " + m.Text("notice.suggestion-declined")})
		}
	}
	return list
}

func (v suggestionsView) prose(z zoned) prose {
	if len(v.Proposals) == 0 {
		return "There are no proposals."
	}
	var b strings.Builder
	for _, s := range v.Proposals {
		created, _ := time.Parse(time.RFC3339, s.Created)
		fmt.Fprintf(&b, "- id %s: %s, of %s\n", s.ID, s.State, z.readable(created))
		for _, c := range s.Changes {
			fmt.Fprintf(&b, "  - %s, calendar_id %s, uid %s%s\n", c.What, c.Calendar, quotedUID(calendar.UID(c.UID)),
				c.Untrusted.mark())
		}
	}
	return prose(strings.TrimSpace(b.String()))
}

// withdrawal holds the arguments of withdraw_proposal.
type withdrawal struct{ id calendar.SuggestionID }

func (in *withdrawal) takes() []field {
	return []field{wordTo(&in.id, "id", "As proposed or listed.").upTo(longestID).needed()}
}

type withdrawnView struct {
	ID        calendar.SuggestionID `json:"id"`
	Withdrawn bool                  `json:"withdrawn"`
}

func (b suggestTools) withdraw(ctx context.Context, c *call, in *withdrawal) (answer, error) {
	if err := b.service.EndSuggestion(ctx, c.caller, in.id); err != nil {
		return answer{}, cmp.Or(noSuggestion(in.id, err), err)
	}
	return answer{prose("Withdrawn."), withdrawnView{in.id, true}}, nil
}

// noSuggestion returns what to do if there is no such suggestion, or nil for another error.
func noSuggestion(id calendar.SuggestionID, err error) error {
	if calendar.ReasonOf(err) != calendar.NotFound {
		return nil
	}
	return calendar.Errorf(calendar.NotFound, "", "no open proposal %s", wire.Quote(string(id))).
		Advising("list_proposals shows yours: the user may have decided it already")
}
