package mcp

import (
	"context"
	"slices"

	"caldav-mcp-server/calendar"
)

// longestUser bounds the name of a user.
const longestUser = 200

// shareTools are the tools about who else has a calendar.
func (b toolbox) shareTools() []tool {
	return []tool{b.once(tool{
		name: "share_calendar", title: "Share calendar",
		description: "Shares the user's calendar with another user of this server, or changes what they may do. Ask first.",
		scope:       calendar.ScopeShare, hints: hints{idempotent: true},
		begin: within(b, b.shareCalendar), gives: sharedView{},
	}), b.once(tool{
		name: "unshare_calendar", title: "Stop sharing calendar",
		description: "Takes a shared calendar from another user; with the user's own name gives up one that is shared with them.",
		scope:       calendar.ScopeShare, hints: hints{destructive: true},
		begin: within(b, b.unshareCalendar), gives: unsharedView{},
	}), reading(tool{
		name: "list_shared_calendars", title: "List shared calendars",
		description: "Lists what others share with the user; list_calendars has these, too.",
		begin:       doing(b.listSharedCalendars), gives: calendarsView{},
	})}
}

// withUser is a calendar and somebody else.
type withUser struct {
	inCalendar
	user string
}

func (in *withUser) takes() []field {
	return append(in.inCalendar.takes(), textTo(&in.user, "username", "Login name or mail address.").needed().upTo(longestUser))
}

// newShare is what share_calendar takes.
type newShare struct {
	withUser
	permission string
}

func (in *newShare) takes() []field {
	return append(in.withUser.takes(), textTo(&in.permission, "permission", "free-busy: when the owner is busy, not with what.").
		needed().oneOf(sharePermissions()...))
}

// sharePermissions are the words for what a share gives.
func sharePermissions() []string {
	return permissions[calendar.FreeBusyAccess:calendar.OwnerAccess]
}

// sharedView is what share_calendar returns.
type sharedView struct {
	Calendar   calendar.CalendarID `json:"calendar_id"`
	Permission string              `json:"permission"`
	With       shown               `json:"shared_with"`
}

// unsharedView is what unshare_calendar returns.
type unsharedView struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	Unshared bool                `json:"unshared"`
	With     shown               `json:"username"`
}

func (b toolbox) shareCalendar(ctx context.Context, c *call, cal calendar.Calendar, in *newShare) (answer, error) {
	access := calendar.Access(slices.Index(permissions[:], in.permission))
	if err := c.confirmShare(cal, in.user, access); err != nil {
		return answer{}, err
	}
	share, err := b.service.Share(ctx, c.caller, cal.ID, in.user, access)
	if err != nil {
		return answer{}, err
	}
	view := sharedView{cal.ID, permissions[access], shown(share.User.Name)}
	note := prose("")
	if share.Status == calendar.SharePending {
		note = "This server asks first: they have no more than before until they accept."
	}
	return answer{noted{view, note}, view}, nil
}

func (b toolbox) unshareCalendar(ctx context.Context, c *call, cal calendar.Calendar, in *withUser) (answer, error) {
	if err := b.service.Unshare(ctx, c.caller, cal.ID, in.user); err != nil {
		return answer{}, err
	}
	return same(unsharedView{cal.ID, true, shown(in.user)})
}

func (b toolbox) listSharedCalendars(ctx context.Context, c *call, in *continued) (answer, error) {
	return b.showCalendars(ctx, c, in, b.service.SharedCalendars)
}
