package admin

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// ownedAccount is a linked account and its owner.
type ownedAccount struct {
	mirror.Linked
	user calendar.User
}

// listedAccount is a linked account in JSON.
type listedAccount struct {
	ID        calendar.AccountID `json:"id"`
	User      string             `json:"user"`
	Provider  string             `json:"provider"`
	Name      string             `json:"name"`
	Address   string             `json:"address"`
	Status    string             `json:"status"`
	Error     string             `json:"error,omitempty"`
	Checked   *time.Time         `json:"checked"`
	Due       *time.Time         `json:"due"`
	Calendars []listedMirror     `json:"calendars"`
	Unlinked  []listedRemote     `json:"not_linked,omitempty"`
}

// listedRemote is a calendar of an account that is not linked.
type listedRemote struct {
	Remote   string `json:"remote"`
	Name     string `json:"name"`
	Writable bool   `json:"writable"`
}

type listedMirror struct {
	ID       calendar.CalendarID `json:"id"`
	Remote   string              `json:"remote"`
	Name     string              `json:"name"`
	Writable bool                `json:"writable"`
	Refused  int64               `json:"kept_out,omitempty"`
	KeptOut  []listedFault       `json:"kept_out_entries,omitempty"`
	Error    string              `json:"error,omitempty"`
}

// listedFault is an entry that cannot be shown, and the reason.
type listedFault struct {
	UID    calendar.UID `json:"uid"`
	Reason string       `json:"reason"`
}

func accountJSON(a ownedAccount) listedAccount {
	all := make([]listedMirror, 0, len(a.Calendars))
	for _, c := range a.Calendars {
		var faults []listedFault
		for _, f := range c.KeptOut {
			faults = append(faults, listedFault{f.UID, f.Fault})
		}
		all = append(all, listedMirror{
			c.ID, c.State.Remote, c.Name, c.Origin.Writable, c.State.Faults, faults, c.State.Error,
		})
	}
	var unlinked []listedRemote
	for _, c := range a.Unlinked {
		unlinked = append(unlinked, listedRemote{c.Remote, c.Name, c.Writable})
	}
	return listedAccount{
		a.ID, a.user.Name, a.Provider, a.Name, a.Address, string(a.Status), a.Error, console.JSONTime(a.Checked),
		console.JSONTime(a.Due), all, unlinked,
	}
}

// ListAccountsCommand is the command list-accounts.
func ListAccountsCommand() command.Command {
	var user string
	return command.Listing[ownedAccount, listedAccount]{
		Command: command.Command{
			Name: "list-accounts", Summary: "list linked accounts and feeds, and their status",
			Flags: func(f *flag.FlagSet) { f.StringVar(&user, "user", "", "only accounts of the user `NAME`") },
		},
		Find:  func(ctx context.Context, h *app.App) ([]ownedAccount, error) { return linkedOf(ctx, h, user) },
		JSON:  accountJSON,
		Heads: []string{"ID", "USER", "NAME", "CHECKED", "CALENDARS", "STATUS"},
		Row:   accountRow,
	}.AsCommand()
}

func accountRow(a ownedAccount, _ time.Time) []string {
	refused := int64(0)
	for _, c := range a.Calendars {
		refused += c.State.Faults
	}
	state := string(a.Status)
	if a.Error != "" {
		state += ": " + a.Error
	}
	if refused > 0 {
		state += fmt.Sprintf(" (%d skipped)", refused)
	}
	return []string{
		console.BriefID(a.ID), a.user.Name, a.Name, console.ShownTime(a.Checked), strconv.Itoa(len(a.Calendars)), state,
	}
}

// linkedOf returns the linked accounts of a user, or of all users.
func linkedOf(ctx context.Context, h *app.App, user string) ([]ownedAccount, error) {
	users, err := h.Auth.Users(ctx)
	if err != nil {
		return nil, err
	}
	if user != "" {
		u, err := h.Auth.User(ctx, user)
		if err != nil {
			return nil, err
		}
		users = append(users[:0], u)
	}
	var all []ownedAccount
	for _, u := range users {
		theirs, err := h.Calendars.Mirrors.LinkedAccounts(ctx, app.Caller(u))
		if err != nil {
			return nil, err
		}
		for _, l := range theirs {
			all = append(all, ownedAccount{l, u})
		}
	}
	return all, nil
}
