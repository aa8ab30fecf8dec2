package mcp

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/mcp/wire"
)

// calendarPatch holds the arguments of update_calendar.
type calendarPatch struct {
	inCalendar
	name, timezone     string
	description, color edit.Field[string]
	hidden             edit.Field[bool]
	isDefault, accept  bool
}

func (in *calendarPatch) takes() []field {
	return append(in.inCalendar.takes(),
		wordTo(&in.name, "name", "").upTo(longestName),
		fieldTo(&in.description, "description", "").upTo(longestText),
		fieldTo(&in.color, "color", "#RRGGBB."),
		wordTo(&in.timezone, "timezone", ""),
		yesFieldTo(&in.hidden, "hidden", ""),
		yesTo(&in.isDefault, "is_default", "true: new events go here."),
		yesTo(&in.accept, "accept", ""),
	)
}

// says reports whether the call changes a property.
func (in *calendarPatch) says() bool {
	return in.name != "" || in.timezone != "" || !in.description.Left() || !in.color.Left() || !in.hidden.Left() || in.isDefault
}

func (b toolbox) updateCalendar(ctx context.Context, c *call, in *calendarPatch) (answer, error) {
	switch {
	case in.accept && in.says():
		return answer{}, errArgument(`accept the calendar first, and change it in another call: use "accept" with "calendar_id" alone`)
	case in.accept:
		return b.acceptOffered(ctx, c, in.calendar)
	case !in.says():
		return answer{}, errArgument("nothing to change was given: give name, description, color, timezone, hidden, is_default true or accept true")
	}
	cal, err := b.calendarNamed(ctx, c, in.calendar)
	if err != nil {
		return answer{}, err
	}
	if in.timezone != "" {
		if err := b.checkPlace(in.timezone); err != nil {
			return answer{}, err
		}
		if cal.Access != calendar.OwnerAccess {
			return answer{}, errArgument(`only its owner sets the "timezone" of a calendar`)
		}
	}
	err = b.service.PatchCalendar(ctx, c.caller, cal.ID, func(p *calendar.Properties) ([]calendar.DeadProperty, error) { return nil, in.change(p) })
	if err != nil {
		return answer{}, err
	}
	if in.isDefault {
		err = b.service.PatchScheduling(ctx, c.caller, func(s *calendar.Scheduling) error {
			s.Default = cal.ID
			return nil
		})
		if err != nil {
			return answer{}, err
		}
	}
	if cal, err = b.service.Calendar(ctx, c.caller, cal.ID); err != nil {
		return answer{}, err
	}
	return b.showCalendar(ctx, c, cal)
}

// change applies the arguments to a calendar's properties.
func (in *calendarPatch) change(p *calendar.Properties) error {
	if in.name != "" {
		p.Name = in.name
	}
	if in.timezone != "" {
		p.Timezone, p.TimezoneData = in.timezone, nil
	}
	if text, given := in.description.Value(); given {
		p.Description = &text
	} else if in.description.Cleared() {
		p.Description = nil
	}
	if text, given := in.color.Value(); given {
		color, err := calendar.ParseColor(text)
		if err != nil {
			return err
		}
		p.Color = &color
	} else if in.color.Cleared() {
		p.Color = nil
	}
	if hidden, given := in.hidden.Value(); given {
		p.Hidden = hidden
	}
	return nil
}

// checkPlace refuses a name that is not a geographic time zone.
func (b toolbox) checkPlace(name string) error {
	z, err := b.zones.Ask(name)
	if err != nil {
		return errArgument("%s", err)
	}
	if z.Bare() {
		return errArgument(`"timezone" %s is only an offset, without daylight saving time: name the zone, such as Europe/Berlin`, wire.Quote(name))
	}
	return nil
}
