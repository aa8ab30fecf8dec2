package ledger

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/describe"
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
	if err != nil || !c.Assistant {
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
	if err == nil && c.Assistant && one.Maker.Token != c.Token {
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
		all = append(all, describe.Suggested(one, part, cal))
	}
	return all, nil
}

// EndSuggestion declines a suggestion for its user, or withdraws it for its assistant.
func (s *Suggester) EndSuggestion(ctx context.Context, c calendar.Caller, id calendar.SuggestionID) error {
	if _, err := s.suggestion(ctx, c, id); err != nil {
		return err
	}
	if !c.Assistant {
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
	// Since is the change of the object since then; zero if there was none.
	Since calendar.Change
}

// Consider applies a suggestion to the present state of its objects, without changing anything. It fails if the user
// may no longer change one of them, or if one is gone.
func (s *Suggester) Consider(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID,
) (Considered, error) {
	return s.consider(ctx, c, m, id, manner{})
}

// manner is how a suggestion is accepted.
type manner struct {
	// into and name are the place for the new object, if the suggestion is only that. Each is "" for the suggested one.
	into calendar.CalendarID
	name calendar.ObjectName
	// unmerged sets the suggested text as it is, and takes back later changes except answers of attendees.
	unmerged bool
}

func (s *Suggester) consider(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID, how manner,
) (Considered, error) {
	one, err := s.suggestion(ctx, c, id)
	if err != nil {
		return Considered{}, err
	}
	if how.into != "" && len(one.Parts) == 1 && one.Parts[0].Before == nil {
		one.Parts[0].Calendar, one.Parts[0].Name = how.into, cmp.Or(how.name, one.Parts[0].Name)
	}
	// The journal names the assistant, and the user can undo all that it did.
	as := c
	as.Token, as.Agent, as.Assistant = one.Maker.Token, one.Maker.Agent, true
	seen := Considered{Suggestion: one, batch: s.ledger.NewBatch(as, m, calendar.TellAll)}
	var state []string
	for _, part := range one.Parts {
		change, err := seen.batch.consider(ctx, part, how.unmerged)
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
func (b *Batch) consider(
	ctx context.Context, part calendar.SuggestedPart, unmerged bool,
) (ConsideredChange, error) {
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
		if seen.Meanwhile = string(now.Data) != string(part.Before); seen.Meanwhile {
			seen.Since = calendar.Change{
				Calendar: cal.ID, Object: now.Name, UID: now.UID, Did: calendar.Modified, At: now.Modified,
				Kind: now.Kind, Before: part.Before, After: now.Data, In: cal,
			}
		}
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
		if unmerged && seen.Meanwhile {
			if text, err = content.WithAnswers(part.After, before); err != nil {
				return seen, err
			}
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
// accept suggestions, never an assistant. Their app needs the rights for the change itself.
func (s *Suggester) AcceptSuggestion(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID, state string,
) ([]calendar.Told, error) {
	return s.acceptSeen(ctx, c, m, id, state, manner{})
}

// AcceptUnmerged is AcceptSuggestion with the suggested texts as they are: it takes back later changes of the objects,
// except answers of attendees.
func (s *Suggester) AcceptUnmerged(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID, state string,
) ([]calendar.Told, error) {
	return s.acceptSeen(ctx, c, m, id, state, manner{unmerged: true})
}

func (s *Suggester) acceptSeen(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID, state string, how manner,
) ([]calendar.Told, error) {
	if err := mayAccept(c); err != nil {
		return nil, err
	}
	seen, err := s.consider(ctx, c, m, id, how)
	if err != nil {
		return nil, err
	}
	if seen.State != state {
		return nil, calendar.Errorf(calendar.Stale, "",
			"the calendar has changed while you looked at this: compare again, then accept or decline")
	}
	return seen.accept(ctx)
}

// AcceptListed accepts a suggestion whose user saw it in a list, and so has not compared it with the present state of
// its objects. Stale if it would overwrite values that have changed since it was made.
func (s *Suggester) AcceptListed(
	ctx context.Context, c calendar.Caller, m *meter.Meter, id calendar.SuggestionID,
) error {
	if err := mayAccept(c); err != nil {
		return err
	}
	seen, err := s.consider(ctx, c, m, id, manner{})
	if err != nil {
		return err
	}
	return seen.acceptListed(ctx)
}

func (c Considered) acceptListed(ctx context.Context) error {
	for _, change := range c.Changes {
		if len(change.Both) > 0 || change.Meanwhile && change.Change.Did == calendar.Deleted {
			return calendar.Errorf(calendar.Stale, "",
				"the event has changed since the suggestion was made: nothing was accepted").
				Advising("compare both on the pages, under Suggestions")
		}
	}
	_, err := c.accept(ctx)
	return err
}

func mayAccept(c calendar.Caller) error {
	if c.Assistant || c.ActsFor() {
		return calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges, "only the user accepts a proposal").
			Advising("the user accepts it on the pages, under Suggestions")
	}
	return nil
}

// accept makes the change.
func (c Considered) accept(ctx context.Context) ([]calendar.Told, error) {
	return c.batch.commit(ctx, func(ctx context.Context, w *work) error {
		return w.Tx.AcceptSuggestion(ctx, c.User, c.ID)
	})
}

// AcceptMoved accepts a suggestion whose event an app moved from the calendar "Proposed" into another one. shown is the
// text of the event. moved is the text that the app stores, or nil if it moves the event as it is. A new event goes
// into that calendar, under the name as, which the app chose: Thunderbird reads the object that it stored. Without one,
// the server chooses. The name is returned. Any other change happens where it was suggested, and returns no name.
//
// Nothing is lost silently: an event that was changed in the app is refused, and so is a suggestion that would
// overwrite values that have changed since. If the suggestion was accepted before, nothing happens, because apps repeat
// requests.
func (s *Suggester) AcceptMoved(
	ctx context.Context, c calendar.Caller, m *meter.Meter, uid calendar.UID, shown, moved []byte,
	into calendar.Calendar, as calendar.ObjectName,
) (made calendar.ObjectName, err error) {
	id := calendar.SuggestionOf(uid)
	if err := mayAccept(c); err != nil {
		return "", err
	}
	if state, err := s.stateOf(ctx, c, id); err != nil || state == calendar.SuggestionAccepted {
		return "", err
	}
	if err := c.May(calendar.WriteObjects, into); err != nil {
		return "", err
	}
	if moved != nil && !sameShown(shown, moved) {
		return "", calendar.Errorf(calendar.Forbidden, "",
			"this event shows a suggestion, and was changed: nothing was accepted").
			Advising("move it unchanged, then change the event; or decide on the pages, under Suggestions")
	}
	seen, err := s.consider(ctx, c, m, id, manner{into: into.ID, name: as})
	if err != nil {
		return "", err
	}
	if err := seen.acceptListed(ctx); err != nil {
		return "", err
	}
	if p := seen.batch.plans[0]; p.before == nil && len(seen.batch.plans) == 1 {
		made = p.now.Name
	}
	return made, nil
}

// DeclineMoved declines the suggestion whose event an app deletes from the calendar "Proposed". A suggestion that is
// decided stays as it is: apps delete an event after they moved it.
func (s *Suggester) DeclineMoved(ctx context.Context, c calendar.Caller, uid calendar.UID) error {
	if err := mayAccept(c); err != nil {
		return err
	}
	state, err := s.stateOf(ctx, c, calendar.SuggestionOf(uid))
	if err != nil || state != calendar.SuggestionOpen {
		return err
	}
	if err := c.MayOwn(calendar.ChangeCalendar); err != nil {
		return err
	}
	return s.EndSuggestion(ctx, c, calendar.SuggestionOf(uid))
}

// stateOf returns the state of a suggestion to the caller, or NotFound.
func (s *Suggester) stateOf(
	ctx context.Context, c calendar.Caller, id calendar.SuggestionID,
) (calendar.SuggestionState, error) {
	all, err := s.Suggestions(ctx, c)
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if one.ID == id {
			return one.State, nil
		}
	}
	return "", calendar.Errorf(calendar.NotFound, "", "this suggestion has ended, or was withdrawn")
}

// sameShown reports whether an app kept the parts of a proposed event that people see. Apps add properties of their
// own.
func sameShown(shown, moved []byte) bool {
	var texts [2]string
	for i, data := range [...][]byte{shown, moved} {
		o, err := content.Read(data, ical.Limits{})
		if err != nil || o.Master == nil {
			return false
		}
		for _, name := range [...]string{"SUMMARY", "LOCATION", "DESCRIPTION"} {
			texts[i] += strings.Join(strings.Fields(content.TextOf(o.Master, name)), " ") + "\n"
		}
		for _, name := range [...]string{"DTSTART", "DTEND", "RRULE"} {
			for _, p := range o.Master.All(name) {
				texts[i] += p.Value() + "\n"
			}
		}
		texts[i] += strconv.Itoa(len(o.Master.All("ATTENDEE")))
	}
	return texts[0] == texts[1]
}
