package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const trashDetails = `
Deleted calendars and objects are kept for JOURNAL_DAYS. They block no address, name or UID in the meantime.
  trash list            lists deleted calendars, and deleted objects of existing calendars
  trash restore ITEM    restores one; ITEM is its id in the list, or an object's name. If its place is taken, --as gives
                        it another address (a calendar) or name (an object). A restored calendar invites attendees to
                        its meetings again, and keeps their responses
  trash empty           deletes all of it for good; it asks for the user's name, unless --yes skips the question
Without --user, list shows the trash of all users.
`

// trashOptions are the flags of trash.
type trashOptions struct {
	owner, calendar, as string
	yes                 bool
}

// TrashCommand is the command trash.
func TrashCommand() command.Command {
	var o trashOptions
	return command.Command{
		Name: "trash", Operands: []string{"list|restore|empty"}, Optional: []string{"ITEM"},
		Settings: settings.StoreGroup | settings.PostGroup, JSON: true,
		Summary: "list, restore or purge deleted calendars and objects", Details: trashDetails, Flags: o.declare,
		Check: o.check,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			return trashActions[operands[0]].do(&trashBin{d, o}, ctx, operands[1:])
		},
	}
}

func (o *trashOptions) declare(f *flag.FlagSet) {
	f.StringVar(&o.owner, "user", "", "`NAME` of the owner (needed by restore and empty)")
	f.StringVar(&o.calendar, "calendar", "", "only objects of this `CALENDAR`, by name, address or id")
	f.StringVar(&o.as, "as", "", "another `NAME` or address for the restored item")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
}

var trashActions = map[string]struct {
	do       func(b *trashBin, ctx context.Context, items []string) error
	items    int
	needUser bool
}{
	"list": {(*trashBin).list, 0, false}, "restore": {(*trashBin).restore, 1, true},
	"empty": {(*trashBin).empty, 0, true},
}

// check validates the action and its arguments.
func (o *trashOptions) check(_ *command.Context, operands []string) error {
	action, known := trashActions[operands[0]]
	switch {
	case !known:
		return fmt.Errorf("there is no %q: use list, restore or empty", operands[0])
	case len(operands)-1 < action.items:
		return fmt.Errorf("%s needs an ITEM, as list shows it", operands[0])
	case len(operands)-1 > action.items:
		return fmt.Errorf("%q is one argument too many", operands[1])
	case action.needUser && o.owner == "":
		return fmt.Errorf("%s needs --user", operands[0])
	case o.as != "" && operands[0] != "restore":
		return errors.New("--as is for restore")
	}
	return nil
}

// trashBin is the trash of one user, or of all.
type trashBin struct {
	*command.Context
	trashOptions
}

// discarded is an item in the trash, in the list and in JSON.
type discarded struct {
	Type string `json:"type"` // "calendar" or "object"
	// Item is the argument for restore: a calendar's id, an object's UID.
	Item     string              `json:"item"`
	Owner    string              `json:"owner"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	// Place is the calendar's address or, for an object, the name of its calendar.
	Place   string              `json:"place"`
	Name    calendar.ObjectName `json:"name,omitempty"`
	Kind    calendar.Kind       `json:"kind,omitempty"`
	Title   string              `json:"title"`
	Objects *int64              `json:"objects,omitempty"`
	Deleted *time.Time          `json:"deleted"`
	Agent   string              `json:"deleted_by,omitempty"`
	// Damaged is set if the item cannot be restored.
	Damaged bool `json:"damaged,omitempty"`
	// in is the calendar of an object.
	in calendar.Calendar
}

func (d discarded) row() []string {
	what := strings.ToLower(strings.TrimPrefix(string(d.Kind), "V"))
	if d.Objects != nil {
		what = fmt.Sprintf("calendar of %d", *d.Objects)
	}
	if d.Damaged {
		what = "damaged"
	}
	return []string{console.ShownTime(*d.Deleted), d.Owner, what, d.Title, d.Place, d.brief()}
}

// brief is the short form of Item. A calendar's id can be shortened; the UID of an object is from a client.
func (d discarded) brief() string {
	if d.Type == "calendar" {
		return console.BriefID(d.Item)
	}
	return d.Item
}

func (b *trashBin) list(ctx context.Context, _ []string) error {
	users, err := b.users(ctx)
	if err != nil {
		return err
	}
	all := []discarded{}
	for _, u := range users {
		theirs, err := b.of(ctx, u)
		if err != nil {
			return err
		}
		all = append(all, theirs...)
	}
	slices.SortStableFunc(all, func(a, b discarded) int { return b.Deleted.Compare(*a.Deleted) })
	if b.JSON {
		return b.PrintJSON(all)
	}
	return b.PrintTable([]string{"DELETED", "OWNER", "WHAT", "TITLE", "WAS IN", "ITEM"},
		console.Each(all, discarded.row))
}

func (b *trashBin) users(ctx context.Context) ([]calendar.User, error) {
	if b.owner == "" {
		return b.Auth.Users(ctx)
	}
	u, err := b.Auth.User(ctx, b.owner)
	return []calendar.User{u}, err
}

// of returns the items in a user's trash. With --calendar these are only objects.
func (b *trashBin) of(ctx context.Context, u calendar.User) ([]discarded, error) {
	var all []discarded
	if b.calendar == "" {
		trashed, err := b.Calendars.TrashedCalendars(ctx, app.Caller(u))
		if err != nil {
			return nil, err
		}
		all = console.Each(trashed, discardedCalendar)
	}
	cals, err := b.sources(ctx, u)
	if err != nil {
		return nil, err
	}
	for _, cal := range cals {
		for o, err := range b.Calendars.TrashedObjects(ctx, app.Caller(u), cal) {
			if err != nil {
				return nil, err
			}
			all = append(all, discardedObject(cal, o))
		}
	}
	return all, nil
}

// sources returns the calendars whose deleted objects are listed.
func (b *trashBin) sources(ctx context.Context, u calendar.User) ([]calendar.Calendar, error) {
	if b.calendar == "" {
		return b.OwnCalendars(ctx, u)
	}
	cal, err := b.FindCalendar(ctx, u, b.calendar)
	return []calendar.Calendar{cal}, err
}

func discardedCalendar(t calendar.TrashedCalendar) discarded {
	return discarded{
		Type: "calendar", Item: string(t.ID), Owner: t.OwnerName, Calendar: t.ID, Place: string(t.Segment),
		Title: t.Name, Objects: &t.Objects, Deleted: console.JSONTime(t.Trashed),
	}
}

func discardedObject(cal calendar.Calendar, o calendar.Change) discarded {
	return discarded{
		Type: "object", Item: string(o.UID), Owner: cal.OwnerName, Calendar: cal.ID, Place: cal.Name, Name: o.Object,
		Kind: o.Kind, Title: o.Summary, Deleted: console.JSONTime(o.At), Agent: o.Agent, Damaged: o.Unreadable, in: cal,
	}
}

func (b *trashBin) restore(ctx context.Context, items []string) error {
	u, err := b.Auth.User(ctx, b.owner)
	if err != nil {
		return err
	}
	d, err := b.find(ctx, u, items[0])
	if err != nil {
		return err
	}
	at, more, err := b.bringBack(ctx, u, d)
	if calendar.ReasonOf(err) == calendar.Exists && calendar.RuleOf(err) != calendar.RuleUIDConflict {
		return fmt.Errorf("%w with --as", err)
	}
	if err != nil {
		return err
	}
	return b.Done(struct {
		discarded
		URL string `json:"path"`
	}{d, at}, "restored the %s %q to %s%s\n", d.Type, console.Shown(d.Title), at, more)
}

// bringBack restores an item, and returns its path and a note for the output.
func (b *trashBin) bringBack(ctx context.Context, u calendar.User, d discarded) (path, more string, err error) {
	if d.Type == "calendar" {
		cal, err := b.Calendars.RestoreCalendar(ctx, app.Caller(u), d.Calendar, calendar.Segment(b.as))
		if more = toldOf(cal.Told, "on again"); cal.Left > 0 {
			more += fmt.Sprintf("; %d of its meetings could not be restored, and stay in its trash", cal.Left)
		}
		return fmt.Sprintf("/dav/calendars/%s/%s/", u.Name, cal.Segment), more, err
	}
	saved, err := b.Calendars.RestoreObject(ctx, app.Caller(u), d.in, calendar.UID(d.Item), calendar.ObjectName(b.as))
	return fmt.Sprintf("/dav/calendars/%s/%s/%s", u.Name, d.in.Address(), saved.Object.Name), "", err
}

// find finds an item in the trash by the word that the user typed.
func (b *trashBin) find(ctx context.Context, u calendar.User, word string) (discarded, error) {
	all, err := b.of(ctx, u)
	if err != nil {
		return discarded{}, err
	}
	all = slices.DeleteFunc(all, func(d discarded) bool {
		return d.Item != word && d.brief() != strings.TrimSuffix(word, "…") && string(d.Name) != word &&
			(d.Type != "calendar" || d.Place != word)
	})
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		return discarded{}, fmt.Errorf("there is no %q in the trash of %s (see %s trash list --user %s)", word, u.Name,
			console.Program, u.Name)
	}
	words := console.Each(all, func(d discarded) string {
		return fmt.Sprintf("the %s %q of %s (%s)", d.Type, console.Shown(d.Title), console.Shown(d.Place), d.Item)
	})
	return discarded{},
		fmt.Errorf("several items are called %q; give the ITEM, or use --calendar: %s", word, strings.Join(words, ", "))
}

func (b *trashBin) empty(ctx context.Context, _ []string) error {
	u, err := b.Auth.User(ctx, b.owner)
	if err != nil {
		return err
	}
	all, err := b.of(ctx, u)
	if err != nil {
		return err
	}
	if !b.yes && len(all) > 0 {
		if err := b.Confirm(ctx, fmt.Sprintf("this deletes %d items in the trash of %s, for good", len(all), u.Name),
			u.Name); err != nil {
			return err
		}
	}
	if err := b.forget(ctx, u, all); err != nil {
		return err
	}
	return b.Done(map[string]int{"forgotten": len(all)}, "purged %d items\n", len(all))
}

func (b *trashBin) forget(ctx context.Context, u calendar.User, all []discarded) error {
	for _, d := range all {
		if d.Type == "calendar" {
			if err := b.Calendars.ForgetCalendar(ctx, app.Caller(u), d.Calendar); err != nil {
				return err
			}
		}
	}
	cals, err := b.sources(ctx, u)
	if err != nil {
		return err
	}
	for _, cal := range cals {
		if err := b.Calendars.ForgetObjects(ctx, app.Caller(u), cal); err != nil {
			return err
		}
	}
	return nil
}
