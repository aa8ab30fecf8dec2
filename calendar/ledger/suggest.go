package ledger

import (
	"context"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/ical"
)

// suggestionAge is how long a suggestion stays open.
const suggestionAge = 30 * 24 * time.Hour

// suggestionLimits limit the open suggestions of an assistant and of a user.
var suggestionLimits = calendar.SuggestionLimits{Number: 200, Bytes: 4 << 20}

// Suggester stores the changes that assistants propose, and makes them when users accept. See
// docs/decisions/0122-suggestions.md.
type Suggester struct{ ledger *Ledger }

// Suggest stores the changes of the batch as a suggestion, instead of making them. A batch that changes nothing leaves
// none: its id is empty.
func (b *Batch) Suggest(ctx context.Context) (calendar.Suggestion, error) {
	now := b.now().UTC().Truncate(time.Second)
	s := calendar.Suggestion{
		ID: calendar.SuggestionID(b.newID()), User: b.caller.User.ID, Maker: b.caller.Maker(),
		State: calendar.SuggestionOpen, Created: now,
		Expires: now.Add(suggestionAge),
	}
	for _, p := range b.plans {
		if p.idle() {
			continue
		}
		part := calendar.SuggestedPart{
			Calendar: p.cal.ID, Name: p.now.Name, UID: p.now.UID, Kind: p.now.Kind, From: p.from, Comment: p.comment,
		}
		if p.before != nil {
			part.Before = p.before.Data
		}
		if !p.now.Deleted {
			part.After = p.now.Data
		}
		s.Parts = append(s.Parts, part)
	}
	if len(s.Parts) == 0 {
		s.ID = ""
		return s, nil
	}
	return s, b.store.InsertSuggestion(ctx, s, suggestionLimits)
}

// Suggestions lists the suggestions to a user, the oldest first. An assistant gets only its own.
func (s *Suggester) Suggestions(ctx context.Context, c calendar.Caller) ([]calendar.Suggestion, error) {
	all, err := s.ledger.store.Suggestions(ctx, c.User.ID, s.ledger.now())
	if err != nil || c.Token == "" {
		return all, err
	}
	var own []calendar.Suggestion
	for _, one := range all {
		if one.Maker.Token == c.Token {
			own = append(own, one)
		}
	}
	return own, nil
}

// suggestion returns an open suggestion of the caller.
func (s *Suggester) suggestion(
	ctx context.Context, c calendar.Caller, id calendar.SuggestionID,
) (calendar.Suggestion, error) {
	one, err := s.ledger.store.Suggestion(ctx, c.User.ID, id, s.ledger.now())
	if err == nil && c.Token != "" && one.Maker.Token != c.Token {
		err = calendar.Errorf(calendar.NotFound, "", "no proposal %q", string(id))
	}
	return one, err
}

// SuggestedChanges describes a suggestion in the form of the journal, as it was made. It leaves out calendars that the
// caller may no longer read.
func (s *Suggester) SuggestedChanges(
	ctx context.Context, c calendar.Caller, one calendar.Suggestion,
) (all []calendar.Change, err error) {
	for _, part := range one.Parts {
		cal, err := s.ledger.Calendar(ctx, c, part.Calendar)
		if calendar.ReasonOf(err) == calendar.NotFound || err == nil && c.May(calendar.ReadObjects, cal) != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		change := calendar.Change{
			Calendar: cal.ID, Object: part.Name, UID: part.UID, Did: calendar.Modified, At: one.Created,
			Kind: part.Kind, Before: part.Before, After: part.After, In: cal, User: c.User.ID,
		}
		text := part.After
		switch {
		case part.After == nil:
			change.Did, text = calendar.Deleted, part.Before
		case part.Before == nil:
			change.Did = calendar.Created
		}
		if o, err := content.Read(text, ical.Limits{}); err == nil {
			change.Summary = o.Summary()
		}
		all = append(all, change)
	}
	return all, nil
}

// EndSuggestion declines a suggestion for its user, or withdraws it for its assistant.
func (s *Suggester) EndSuggestion(ctx context.Context, c calendar.Caller, id calendar.SuggestionID) error {
	if _, err := s.suggestion(ctx, c, id); err != nil {
		return err
	}
	if c.Token == "" {
		return s.ledger.store.DeclineSuggestion(ctx, c.User.ID, id)
	}
	return s.ledger.store.DeleteSuggestion(ctx, c.User.ID, id)
}

// Considered is a suggestion applied to the present state of its objects.
type Considered struct {
	calendar.Suggestion
	Changes []ConsideredChange
	// State identifies the present state.
	State string
	batch *Batch
}

// ConsideredChange is the suggested change of one object.
type ConsideredChange struct {
	// Change has the text before and after, as in the journal.
	Change calendar.Change
	// Meanwhile is set if the object has changed since the assistant read it. Both names the properties that were
	// changed then and that the suggestion changes as well: it overwrites them.
	Meanwhile bool
	Both      []string
}

// Consider applies a suggestion to the present state of its objects, without changing anything. It fails if the user
// may no longer change one of them, or if one is gone.
func (s *Suggester) Consider(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID,
) (Considered, error) {
	one, err := s.suggestion(ctx, c, id)
	if err != nil {
		return Considered{}, err
	}
	// The journal names the assistant, and the user can undo all that it did.
	as := c
	as.Token, as.Agent, as.Assistant = one.Maker.Token, one.Maker.Agent, true
	seen := Considered{Suggestion: one, batch: s.ledger.NewBatch(as, m, calendar.TellAll)}
	var state []string
	for _, part := range one.Parts {
		change, err := seen.batch.consider(ctx, part)
		if err != nil {
			return seen, err
		}
		seen.Changes = append(seen.Changes, change)
		if p := seen.batch.plans[len(seen.batch.plans)-1]; p.before != nil {
			state = append(state, string(p.before.ETag))
		}
	}
	seen.State = strings.Join(state, " ")
	return seen, nil
}

// consider plans the suggested change of one object.
func (b *Batch) consider(ctx context.Context, part calendar.SuggestedPart) (ConsideredChange, error) {
	cal, err := b.Calendar(ctx, b.caller, part.Calendar)
	if err != nil {
		return ConsideredChange{}, err
	}
	action := calendar.WriteObjects
	if part.After == nil {
		action = calendar.DeleteObjects
	}
	if err := b.caller.May(action, cal); err != nil {
		return ConsideredChange{}, err
	}
	p := &plan{
		cal: cal, now: calendar.Object{Calendar: cal.ID, Name: part.Name},
		from: part.From, comment: part.Comment,
	}
	var seen ConsideredChange
	if part.Before != nil {
		now, err := b.SeenByUID(ctx, b.meter, b.caller, cal, part.UID)
		if err != nil {
			return seen, err
		}
		if err := lookup.Weigh(b.meter, now); err != nil {
			return seen, err
		}
		p.before, p.now = &now, now
		seen.Meanwhile = string(now.Data) != string(part.Before)
	}
	b.plans = append(b.plans, p)
	if part.After == nil {
		p.now.Deleted = true
		b.note(p, calendar.Deleted, p.before.Data)
		seen.Change = b.Last()
		return seen, nil
	}
	text, did := part.After, calendar.Created
	var before []byte
	if p.before != nil {
		before, did = p.before.Data, calendar.Modified
		if text, seen.Both, err = content.Rebase(part.Before, part.After, before); err != nil {
			return seen, err
		}
	}
	doc, err := ical.Parse(text, ical.Limits{})
	if err != nil {
		return seen, err
	}
	if err := b.become(ctx, p, doc); err != nil {
		return seen, err
	}
	b.note(p, did, before)
	seen.Change = b.Last()
	return seen, nil
}

// Foresee returns the consequences of accepting the suggestion.
func (c Considered) Foresee(ctx context.Context) (Foreseen, error) { return c.batch.Foresee(ctx) }

// AcceptSuggestion makes a suggested change as its user, who has seen the suggestion in the given state. Only users
// accept suggestions, never an assistant.
func (s *Suggester) AcceptSuggestion(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID, state string,
) ([]calendar.Told, error) {
	if c.Token != "" || c.ActsFor() {
		return nil, calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "only the user accepts a proposal").
			Advising("the user accepts it on the pages, under Suggestions")
	}
	seen, err := s.Consider(ctx, c, m, id)
	if err != nil {
		return nil, err
	}
	if seen.State != state {
		return nil, calendar.Errorf(calendar.Stale, "",
			"the calendar has changed while you looked at this: compare again, then accept or decline")
	}
	return seen.batch.commit(ctx, func(ctx context.Context, w *work) error {
		return w.Tx.AcceptSuggestion(ctx, c.User.ID, id)
	})
}
