package web

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/web/planner"
)

// SuggestionsPath is the page that lists suggestions.
const SuggestionsPath = root + "suggestions"

func (h *Handler) suggestionPages() []page {
	return []page{
		get("suggestions", people, showing("suggestions", suggestionPages.list)),
		post("suggestions", people, suggestionPages.decideAll),
		get("suggestions/{id}", people, suggestionPages.one),
		post("suggestions/{id}", people, suggestionPages.decide),
	}
}

// suggestionPages show the changes that assistants propose, and accept or decline them.
type suggestionPages struct{ *pageRequest }

// suggestion is a suggestion in a list.
type suggestion struct {
	ID         calendar.SuggestionID
	From, When string
	Texts      []suggestedText
}

// suggestedText is the suggested change of one object in words.
type suggestedText struct {
	Text string
	In   swatch
}

// open lists the visitor's open suggestions.
func (p suggestionPages) open() (all []suggestion, err error) {
	found, err := p.Service.Suggestions(p.r.Context(), p.caller())
	if err != nil {
		return nil, err
	}
	return p.openOf(found)
}

// openOf returns the open ones of suggestions.
func (p suggestionPages) openOf(found []calendar.Suggestion) (all []suggestion, err error) {
	c := p.clock()
	for _, s := range found {
		if s.State != calendar.SuggestionOpen {
			continue
		}
		changes, err := p.Service.SuggestedChanges(p.r.Context(), p.caller(), s)
		if err != nil {
			return nil, err
		}
		all = append(all, suggestion{s.ID, excerpt(s.Maker.Agent), c.Ago(s.Created), c.suggested(changes)})
	}
	return all, nil
}

// suggested puts changes into words.
func (c clock) suggested(changes []calendar.Change) (texts []suggestedText) {
	for _, one := range changes {
		texts = append(texts, suggestedText{
			sentenceCase(c.wording(excerpt).Change(one)), swatchOf(one.In),
		})
	}
	return texts
}

// suggestionsContent is the data of the page of all suggestions.
type suggestionsContent struct {
	// Bundles are the open suggestions of each conversation.
	Bundles [][]suggestion
	// These are set after the decision on a bundle, if not all could be decided: Accepted lists the accepted ones, Kept
	// the open ones with the reason. Ended is set if others had ended.
	Accepted []suggestion
	Kept     []suggestionContent
	Ended    bool
}

func (p suggestionPages) list() (content suggestionsContent, err error) {
	found, err := p.Service.Suggestions(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	for _, bundle := range calendar.SuggestionBundles(found) {
		open, err := p.openOf(bundle)
		if err != nil {
			return content, err
		}
		if len(open) > 0 {
			content.Bundles = append(content.Bundles, open)
		}
	}
	return content, nil
}

// suggestionContent is the data of the page of one suggestion.
type suggestionContent struct {
	suggestion
	// Decided is the id of a text about the user's decision, "" while it is open. A decided suggestion has only that
	// and Undo, the page for undoing the assistant's changes.
	Decided, Undo string
	// Expires is when it ends by itself.
	Expires string
	// Meanwhile is set if something has changed since the assistant saw it, Both names the properties that the
	// suggestion would overwrite.
	Meanwhile bool
	Both      string
	// Since lists the changes since then. Unmerged is set if the suggested text can also be set as it is, which takes
	// them back.
	Since    []string
	Unmerged bool
	// Details has old and new values.
	Details []string
	// Told names the people who get a message, Lost the answers that are lost.
	Told, Lost string
	// State identifies the shown texts; Failed explains why the suggestion cannot be accepted.
	State, Failed string
}

func (p suggestionPages) one() error {
	content, err := p.content(calendar.SuggestionID(p.r.PathValue("id")))
	if err != nil {
		return err
	}
	return p.show("suggestion", content)
}

func (p suggestionPages) content(id calendar.SuggestionID) (content suggestionContent, err error) {
	ctx := p.r.Context()
	m := p.Service.Meter(ctx, p.caller())
	defer m.Close()
	seen, failed := p.Service.Consider(ctx, p.caller(), m, id)
	if failed != nil && seen.ID == "" {
		return p.decided(id, failed)
	}
	c := p.clock()
	content.suggestion = suggestion{ID: id, From: excerpt(seen.Maker.Agent), When: c.Ago(seen.Created)}
	content.Expires, content.State = c.Moment(seen.Expires), seen.State
	if failed == nil {
		foreseen, err := seen.Foresee(ctx)
		failed = err
		content.Told = recipients(foreseen.Told)
		content.Lost = strings.Join(planner.LostAnswers(p.lang, foreseen.Lost), ", ")
	}
	if failed != nil {
		known, ok := errors.AsType[*calendar.Error](failed)
		if !ok || known.Reason == calendar.Internal {
			return content, failed
		}
		content.Failed = describe.Fault(p.lang, known)
		changes, err := p.Service.SuggestedChanges(ctx, p.caller(), seen.Suggestion)
		content.Texts = c.suggested(changes)
		return content, err
	}
	var both []string
	wording := c.wording(atLength)
	for _, change := range seen.Changes {
		content.Texts = append(content.Texts, c.suggested([]calendar.Change{change.Change})...)
		content.Meanwhile = content.Meanwhile || change.Meanwhile
		both = append(both, change.Both...)
		content.Since = append(content.Since, wording.Details(change.Since)...)
		content.Unmerged = content.Unmerged || change.Meanwhile && change.Change.Did != calendar.Deleted
		content.Details = append(content.Details, wording.Details(change.Change)...)
	}
	content.Both = wording.Properties(both)
	return content, nil
}

// decided returns the decision about a suggestion, so that old links in mails lead somewhere. If there was no such
// suggestion to this user, or it has ended, it returns the error.
func (p suggestionPages) decided(id calendar.SuggestionID, failed error) (content suggestionContent, err error) {
	all, err := p.Service.Suggestions(p.r.Context(), p.caller())
	if err != nil {
		return content, err
	}
	for _, one := range all {
		if one.ID != id || calendar.ReasonOf(failed) != calendar.NotFound {
			continue
		}
		content.suggestion = suggestion{ID: id, From: excerpt(one.Maker.Agent), When: p.clock().Ago(one.Created)}
		switch one.State {
		case calendar.SuggestionAccepted:
			content.Decided = "notice.suggestion-accepted"
			content.Undo = "journal?app=" + url.QueryEscape(string(one.Maker.Token))
			return content, nil
		case calendar.SuggestionDeclined:
			content.Decided = "notice.suggestion-declined"
			return content, nil
		case calendar.SuggestionOpen:
		}
	}
	return content, failed
}

// recipients names the people who get a message.
func recipients(told []calendar.Told) string {
	var names []string
	for _, one := range told {
		if name := excerpt(one.To); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func (p suggestionPages) decide() error {
	ctx, id := p.r.Context(), calendar.SuggestionID(p.r.PathValue("id"))
	accept, known := map[string]func(
		context.Context, calendar.Caller, *meter.Meter, calendar.SuggestionID, string,
	) ([]calendar.Told, error){
		"accept": p.Service.AcceptSuggestion, "unmerged": p.Service.AcceptUnmerged,
	}[p.field("answer")]
	var err error
	done := "suggestion-declined"
	if known {
		m := p.Service.Meter(ctx, p.caller())
		defer m.Close()
		done = "suggestion-accepted"
		_, err = accept(ctx, p.caller(), m, id, p.field("state"))
	} else {
		err = p.Service.EndSuggestion(ctx, p.caller(), id)
	}
	reason := calendar.ReasonOf(err)
	if reason == calendar.NotFound {
		return p.one() // it was decided on another page, or in an app
	}
	if reason != calendar.Stale {
		return p.after(err, "suggestions", done)
	}
	content, again := p.content(id)
	if again != nil {
		return again
	}
	return p.again("suggestion", content, err)
}

// decideAll decides the suggestions that the form names, one after the other. Its page showed these, and the assistant
// may have added others since. Each one succeeds or fails by itself.
func (p suggestionPages) decideAll() error {
	wanted, notice := calendar.SuggestionDeclined, "suggestion-declined"
	switch p.field("answer") {
	case "decline":
	case "accept":
		wanted, notice = calendar.SuggestionAccepted, "suggestion-accepted"
	default:
		return p.wrong("error.malformed")
	}
	found, err := p.Service.Suggestions(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	named := map[string]bool{}
	for _, id := range p.r.PostForm["id"] {
		named[id] = true
	}
	var did suggestionsContent
	decided := 0
	for _, one := range found {
		switch {
		case !named[string(one.ID)]:
			continue
		case one.State == wanted: // the button was pressed twice
			decided++
		case one.State == calendar.SuggestionOpen:
			done, err := p.decideListed(one, wanted, &did)
			if err != nil {
				return err
			}
			if !done {
				continue
			}
			decided++
		default:
			continue
		}
		delete(named, string(one.ID))
	}
	did.Ended = len(named) > len(did.Kept)
	switch {
	case len(named) == 0 && decided > 0:
		return p.done("suggestions", notice)
	case decided == 0 && len(did.Kept) == 0:
		return p.failed(calendar.NotFound, "fault.suggestion-ended")
	}
	content, err := p.list()
	if err != nil {
		return err
	}
	did.Bundles = content.Bundles
	return p.again("suggestions", did, p.failed(calendar.Stale, "suggestions.not-all"))
}

// decideListed decides a suggestion of a list. If that fails for a reason that people can understand, it is not done,
// and did has the reason, unless the suggestion has ended.
func (p suggestionPages) decideListed(
	one calendar.Suggestion, wanted calendar.SuggestionState, did *suggestionsContent,
) (done bool, err error) {
	ctx := p.r.Context()
	seen, err := p.openOf([]calendar.Suggestion{one})
	if err != nil {
		return false, err
	}
	if wanted == calendar.SuggestionDeclined {
		err = p.Service.EndSuggestion(ctx, p.caller(), one.ID)
	} else {
		m := p.Service.Meter(ctx, p.caller())
		err = p.Service.AcceptListed(ctx, p.caller(), m, one.ID)
		m.Close()
		if err == nil {
			did.Accepted = append(did.Accepted, seen...)
		}
	}
	if err == nil {
		return true, nil
	}
	known, ok := errors.AsType[*calendar.Error](err)
	if !ok || known.Reason == calendar.Internal {
		return false, err
	}
	kept, err := p.content(one.ID)
	if err != nil || kept.Decided != "" {
		if calendar.ReasonOf(err) == calendar.NotFound {
			err = nil // withdrawn at this moment, as the other case is decided at this moment
		}
		return false, err
	}
	if kept.Failed == "" && !kept.Meanwhile {
		kept.Failed = describe.Fault(p.lang, known)
	}
	did.Kept = append(did.Kept, kept)
	return false, nil
}
