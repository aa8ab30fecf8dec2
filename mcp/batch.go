package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/describe"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/mcp/views"
	"caldav-mcp-server/mcp/wire"
)

// mostTogether is the highest number of changes in one call.
const mostTogether = 50

// together lists the tools that change_many can call.
var together = []string{
	"create_event", "patch_event", "update_event", "move_event", "delete_event", "create_task",
	"update_task", "delete_task",
}

// manyName is the name of the tool that makes several changes.
const manyName = "change_many"

// batchTools returns the tool that makes several changes in one call.
func (b toolbox) batchTools() []tool {
	return []tool{sending(b.once(tool{
		name: manyName, title: "Make several changes",
		description: "Makes up to 50 changes, all or none; undo_change undoes them together.",
		scope:       calendar.ScopeRead | calendar.ScopeWrite, hints: toolHints{destructive: true},
		begin: doing(b.changeMany), gives: manyView{}, view: views.Review,
	}))}
}

// manyChanges holds the arguments of change_many.
type manyChanges struct {
	changes []map[string]json.RawMessage
	preview bool
	// single is set for the only change of another tool.
	single bool
}

func (in *manyChanges) takes() []field {
	changes := bindList(wire.Group, "changes", "A tool and its arguments each.", "a list of objects",
		readGroup, func(field, map[string]json.RawMessage) string { return "" },
		func(list []map[string]json.RawMessage) { in.changes = list })
	changes.group = wire.ObjectSchema(
		wire.Members{}.With("tool", wire.Typed(wire.Text).With("enum", together)), []string{"tool"})
	return []field{changes.needed().items(mostTogether), yesTo(&in.preview, "preview", "Preview only.")}
}

func readGroup(raw json.RawMessage) (group map[string]json.RawMessage, ok bool) {
	err := json.Unmarshal(raw, &group)
	return group, err == nil && group != nil
}

// oneOfMany summarizes one of several changes.
type oneOfMany struct {
	Tool         string              `json:"tool"`
	Calendar     calendar.CalendarID `json:"calendar_id"`
	UID          shown               `json:"uid"`
	RecurrenceID string              `json:"recurrence_id,omitempty"`
	Title        shown               `json:"title"`
	StartLocal   string              `json:"start_local,omitempty"`
	StartWeekday string              `json:"start_weekday,omitempty"`
	What         shown               `json:"what"`
	Conflicts    []shown             `json:"conflicts,omitempty"`
	Declined     []shown             `json:"declined,omitempty" doc:"Rooms that this does not book, and why."`
	Warnings     []string            `json:"warnings,omitempty"`
	ETag         calendar.ETag       `json:"etag,omitempty"`
	Untrusted    shown               `json:"untrusted_text_by,omitempty" once:"true"`
	// compared is set if the change gives times, whose conflicts are listed; only if it is of one instance.
	compared, only bool
}

// manyView is the result of change_many.
type manyView struct {
	Preview bool        `json:"preview"`
	Changes []oneOfMany `json:"changes"`
	zoneView
	toldView
}

func (b toolbox) changeMany(ctx context.Context, c *call, in *manyChanges) (answer, error) {
	if len(in.changes) == 0 {
		return answer{}, errArgument(`"changes" is empty: give one object for each change`)
	}
	z := b.usualZone(c, calendar.Calendar{})
	c.batch, c.consent.parts = b.service.NewBatch(c.caller, c.meter, c.telling()), new(bool)
	v := manyView{Preview: in.preview, zoneView: z.view()}
	for i, sent := range in.changes {
		one, err := b.oneChange(ctx, c, z, i, sent)
		switch {
		case err != nil && in.single:
			return answer{}, err
		case err != nil:
			return answer{}, errOf(i, one.Tool, c.sameOwner(err))
		}
		v.Changes = append(v.Changes, one)
	}
	if in.preview || c.caller.Proposes {
		b.foresee(ctx, c, z, v.Changes)
	}
	done := !in.preview && !c.caller.Proposes
	c.show(z, func(m views.Maker) any { return m.Review([]views.Bundle{{Changes: v.inView(c, in)}}, done) })
	if c.caller.Proposes && !in.preview {
		return b.suggested(ctx, c, z, v)
	}
	if !in.preview {
		if err := c.confirmMany(v); err != nil {
			return answer{}, err
		}
		told, err := c.batch.Commit(ctx)
		if err != nil {
			return answer{}, v.errCommit(err)
		}
		for i, one := range v.Changes {
			v.Changes[i].ETag = c.batch.Stored(one.Calendar, calendar.UID(one.UID))
		}
		v.toldView = toldTo(b.finish(ctx, c, z, v.Changes, told).accepted(told))
	}
	return answer{v.prose(), v}, nil
}

// inView returns the changes for a view. The user can make the changes of a preview there, if the token may write.
func (v manyView) inView(c *call, in *manyChanges) (list []views.Change) {
	for i, one := range v.Changes {
		change := views.Change{
			What: wire.Visible(string(one.What)), Start: one.StartLocal, Warnings: one.Warnings,
			Conflicts: each(texts(one.Conflicts), wire.Visible), Declined: each(texts(one.Declined), wire.Visible),
		}
		if in.preview && !c.caller.Proposes {
			change.Call, _ = wire.EncodeJSON(in.changes[i]) // it was JSON before
			if base := c.batch.Base(one.Calendar, calendar.UID(one.UID)); base != nil {
				change.Object, change.ETag = string(base.Calendar)+" "+string(base.UID), string(base.ETag)
			}
		}
		list = append(list, change)
	}
	return list
}

// oneChange plans one of several changes.
func (b toolbox) oneChange(
	ctx context.Context, c *call, z zoned, i int, sent map[string]json.RawMessage,
) (oneOfMany, error) {
	name, _ := readText(sent["tool"])
	one := oneOfMany{Tool: name}
	t, err := b.partOf(c, name)
	if err != nil {
		return one, err
	}
	asked := make(map[string]json.RawMessage, len(sent))
	for key, value := range sent {
		if key != "tool" {
			asked[key] = value
		}
	}
	for _, key := range [...]string{keyName, "to_calendar_id"} {
		if isGiven(asked[key]) {
			return one, errArgument("%q is not allowed in a list of changes", key)
		}
	}
	part := &call{
		caller: c.caller, meter: c.meter, tool: t.name, asked: asked, batch: c.batch, consent: c.consent,
		comparing: &one.compared,
	}
	scope, _ := readText(asked["scope"])
	one.only = edit.Scope(scope) == edit.This
	defer func() { c.foreign = append(c.foreign, part.foreign...) }()
	if local, _, ok := strings.Cut(string(c.uid), "@"); ok {
		part.uid = calendar.UID(fmt.Sprintf("%s-%d@caldav-server", local, i+1))
	}
	w := t.begin()
	if err := part.unpackEvent(w.takes); err != nil {
		return one, err
	}
	if err := readArguments(t.name, w.takes, part.asked, false); err != nil {
		return one, err
	}
	a, err := w.do(ctx, part)
	if err != nil {
		return one, err
	}
	c.calendar = part.calendar
	return one.of(a, c, z)
}

// partOf finds the tool of one of several changes, and checks that the caller's token allows it.
func (b toolbox) partOf(c *call, name string) (tool, error) {
	if name == "" {
		return tool{}, errArgument(`"tool" is missing: it must be one of %s`, strings.Join(together, ", "))
	}
	if !slices.Contains(together, name) {
		return tool{}, errArgument(`"tool" is %s: it must be one of %s`, wire.Quote(name), strings.Join(together, ", "))
	}
	all := b.tools()
	t := all[slices.IndexFunc(all, func(t tool) bool { return t.name == name })]
	if !t.offered(c.caller) {
		return t, calendar.Errorf(calendar.Forbidden, calendar.RulePrivileges,
			"this token may only use certain tools, and %s is not one of them", name).
			Advising("tell the user that a different token is needed")
	}
	if !t.open(c.caller) {
		return t, t.errClosed(c.caller, t.scope)
	}
	return t, nil
}

// of fills in the result of a change, or of its preview.
func (one oneOfMany) of(a answer, c *call, z zoned) (oneOfMany, error) {
	data, err := wire.EncodeJSON(a.structured)
	if err != nil {
		return one, err
	}
	var said struct{ oneOfMany }
	if err := json.Unmarshal(data, &said); err != nil {
		return one, fmt.Errorf("reading the result of a change: %w", err)
	}
	last := c.batch.Last()
	said.oneOfMany.Tool, said.oneOfMany.ETag, said.oneOfMany.UID = one.Tool, "", shown(last.UID)
	said.oneOfMany.What = shown(describe.English(z.Location(), func(s string) string {
		return wire.Quoted(short(s, longestTold))
	}).Change(last))
	said.compared, said.only = one.compared, one.only
	return said.oneOfMany, nil
}

// errOf says which of several changes was refused, and that none was made.
func errOf(i int, name string, err error) error {
	of := ""
	if name != "" {
		of = fmt.Sprintf(" (%s)", wire.Visible(short(name, longestListedTitle)))
	}
	return noneMade(fmt.Sprintf("change %d%s: ", i+1, of), err)
}

// errCommit says that none of the changes was made, or which of them stand at the sources of linked calendars.
func (v manyView) errCommit(err error) error {
	e, ok := errors.AsType[*calendar.Error](err)
	partly, some := errors.AsType[*calendar.PartlyError](err)
	if !ok || !some {
		return noneMade("", err)
	}
	var made, not []string
	for i, one := range v.Changes {
		stands := slices.ContainsFunc(partly.Stored, func(o calendar.Outgoing) bool {
			return o.Calendar == one.Calendar && o.UID == calendar.UID(one.UID)
		})
		if number := strconv.Itoa(i + 1); stands {
			made = append(made, number)
		} else {
			not = append(not, number)
		}
	}
	told := *e
	told.Message += fmt.Sprintf(" (made: change %s; not made: change %s)", strings.Join(made, ", "),
		cmp.Or(strings.Join(not, ", "), "none"))
	told.Cause = err
	return &told
}

// sameOwner explains why a calendar is not found if the call changes those of several owners.
func (c *call) sameOwner(err error) error {
	e, ok := errors.AsType[*calendar.Error](err)
	if !ok || calendar.ReasonOf(err) != calendar.NotFound || !c.caller.ActsFor() && c.caller.MayActFor() != nil {
		return err
	}
	told := *e
	told.Hint = strings.TrimPrefix(told.Hint+"; all changes of one call must be in calendars of the same owner", "; ")
	return &told
}

func noneMade(where string, err error) error {
	e, ok := errors.AsType[*calendar.Error](err)
	if !ok || calendar.ReasonOf(err) == calendar.Internal || errors.Is(err, calendar.ErrPartly) {
		return err
	}
	told := *e
	told.Message = where + e.Message + " (none of the changes was made)"
	told.Cause = err
	return &told
}

// prose writes the result as text.
func (v manyView) prose() prose {
	var b strings.Builder
	heading := "Made %s (times in %s; undo_change undoes all at once):\n\n"
	if v.Preview {
		heading = "Nothing was changed. This would make %s (times in %s):\n\n"
	}
	fmt.Fprintf(&b, heading, calendar.Counted(len(v.Changes), "change"), v.Timezone)
	b.WriteString(v.list(v.Preview))
	v.toldView.write(&b, v.Preview)
	return prose(strings.TrimSpace(b.String()))
}

// list writes the changes as text. They are not made yet if planned is set.
func (v manyView) list(planned bool) string {
	var b strings.Builder
	for i, one := range v.Changes {
		fmt.Fprintf(&b, "%d. %s", i+1, defused(string(one.What)))
		if one.StartLocal != "" {
			fmt.Fprintf(&b, " (%s)", dayText(one.StartWeekday, one.StartLocal))
		}
		fmt.Fprintf(&b, ", calendar_id %s, uid %s", one.Calendar, quotedUID(calendar.UID(one.UID)))
		if one.RecurrenceID != "" {
			b.WriteString(" recurrence_id " + one.RecurrenceID)
		}
		if one.ETag != "" {
			fmt.Fprintf(&b, ", etag %s", one.ETag)
		}
		b.WriteString(one.Untrusted.mark())
		b.WriteString("\n")
		if one.Declined != nil {
			word := "Declined"
			if planned {
				word = "Would decline"
			}
			fmt.Fprintf(&b, "   %s: %s\n", word, defused(strings.Join(texts(one.Declined), "; ")))
		}
		if one.Warnings != nil {
			fmt.Fprintf(&b, "   Tell the user: %s\n", strings.Join(one.Warnings, "; "))
		}
		if one.Conflicts != nil {
			fmt.Fprintf(&b, "   At the same time: %s\n", defused(strings.Join(texts(one.Conflicts), "; ")))
		}
	}
	return b.String()
}

// confirmMany asks before many changes at once, or one that needs a confirmation on its own.
func (c *call) confirmMany(v manyView) error {
	if len(v.Changes) <= mostUnasked && !*c.consent.parts {
		return nil
	}
	var deeds []string
	for i, one := range v.Changes {
		if i == mostInQuestion {
			deeds = append(deeds, fmt.Sprintf("made %s more", calendar.Counted(len(v.Changes)-i, "change")))
			break
		}
		deeds = append(deeds, string(one.What))
	}
	return c.confirm(question{text: willHave(deeds...) + "Times are in " + v.Timezone + ".", state: c.batch.State()})
}
