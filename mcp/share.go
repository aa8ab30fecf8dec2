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
	username := field{name: "username", kind: text, doc: "The name that the other user logs in with, or their mail address.", longest: longestUser}
	return []tool{b.once(tool{
		name: "share_calendar", title: "Share calendar",
		description: "Lets another user of this server have a calendar that the user owns; if they have it already, changes what they may do. Ask the user first.",
		scope:       calendar.ScopeShare,
		hints:       hints{idempotent: true},
		takes: []field{calendarID, username, {
			name: "permission", kind: text, words: sharePermissions(),
			doc: "What they may do: free-busy (see when the owner is busy, not with what), read, or read-write.",
		}},
		gives: sharedView{},
		run:   b.shareCalendar,
	}), b.once(tool{
		name: "unshare_calendar", title: "Stop sharing calendar",
		description: "Takes a calendar that the user owns away from another user; with the user's own name it gives up a calendar that somebody shares with them.",
		scope:       calendar.ScopeShare,
		hints:       hints{destructive: true},
		takes:       []field{calendarID, username},
		gives:       unsharedView{},
		run:         b.unshareCalendar,
	}), {
		name: "list_shared_calendars", title: "List shared calendars",
		description: "Lists the calendars that others share with the user, and what may be done with each.",
		scope:       calendar.ScopeRead,
		hints:       hints{readOnly: true, idempotent: true},
		takes:       []field{takesCursor},
		gives:       calendarsView{},
		run:         b.listSharedCalendars,
	}}
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
	// Status is pending where this server asks the other user first: until they accept they have no more than
	// before.
	Status calendar.ShareStatus `json:"status"`
}

// unsharedView is what unshare_calendar returns.
type unsharedView struct {
	Calendar calendar.CalendarID `json:"calendar_id"`
	Unshared bool                `json:"unshared"`
	With     shown               `json:"username"`
}

func (b toolbox) shareCalendar(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	access := calendar.Access(slices.Index(permissions[:], c.args.text("permission")))
	share, err := b.service.Share(ctx, c.caller, cal.ID, c.args.text("username"), access)
	if err != nil {
		return answer{}, err
	}
	v := sharedView{cal.ID, permissions[access], shown(share.User.Name), share.Status}
	return answer{v, v}, nil
}

func (b toolbox) unshareCalendar(ctx context.Context, c *call) (answer, error) {
	cal, err := b.calendarOf(ctx, c)
	if err != nil {
		return answer{}, err
	}
	if err := b.service.Unshare(ctx, c.caller, cal.ID, c.args.text("username")); err != nil {
		return answer{}, err
	}
	v := unsharedView{cal.ID, true, shown(c.args.text("username"))}
	return answer{v, v}, nil
}

func (b toolbox) listSharedCalendars(ctx context.Context, c *call) (answer, error) {
	found, err := b.service.SharedCalendars(ctx, c.caller)
	if err != nil {
		return answer{}, err
	}
	return showCalendars(c, found)
}
