package admin

import (
	"context"
	"flag"
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const addDelegateDetails = `
A delegate uses all calendars that the user owns, at the user's own addresses. PERMISSION is read or read-write; a
delegate with read-write also answers invitations for the user. Adding the same delegate again changes it.
  caldav-mcp-server add-delegate --user alice --permission read-write bob
`

const removeDelegateDetails = `
The delegate loses access at once.
  caldav-mcp-server remove-delegate --user alice bob
`

// delegator is the usage of --user for commands about a user's delegates.
const delegator = "`NAME` of the user who owns the calendars"

// listedDelegate is a delegation in JSON.
type listedDelegate struct {
	User       string     `json:"user"`
	Delegate   string     `json:"delegate"`
	Permission string     `json:"permission"`
	Created    *time.Time `json:"created"`
}

func delegateLine(owner calendar.User, d calendar.Delegation) listedDelegate {
	return listedDelegate{owner.Name, d.Delegate.Name, d.Access.Word(), console.JSONTime(d.Created)}
}

// AddDelegateCommand is the command add-delegate.
func AddDelegateCommand() command.Command {
	var permission string
	var access calendar.Access
	return command.Command{
		Name: "add-delegate", User: delegator, Operands: []string{"DELEGATE"}, Settings: settings.StoreGroup,
		JSON: true, Summary: "let a user use all calendars of another user", Details: addDelegateDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&permission, "permission", "read", "`PERMISSION` to give: read or read-write")
		},
		Check: func(*command.Context, []string) error {
			access = calendar.ParseAccess(permission)
			if access != calendar.ReadAccess && access != calendar.WriteAccess {
				return fmt.Errorf("--permission: %q is neither read nor read-write", permission)
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			added, err := d.Calendars.AddDelegate(ctx, d.Caller(), operands[0], access)
			if err != nil {
				return err
			}
			return d.Done(delegateLine(d.Who, added), "%s is now a delegate of %s: %s\n", added.Delegate.Name,
				d.Who.Name, permission)
		},
	}
}

// RemoveDelegateCommand is the command remove-delegate.
func RemoveDelegateCommand() command.Command {
	return command.Command{
		Name: "remove-delegate", User: delegator, Operands: []string{"DELEGATE"}, Settings: settings.StoreGroup,
		JSON: true, Summary: "end a delegation", Details: removeDelegateDetails,
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			if err := d.Calendars.RemoveDelegate(ctx, d.Caller(), operands[0]); err != nil {
				return err
			}
			return d.Done(listedDelegate{User: d.Who.Name, Delegate: operands[0], Permission: calendar.NoAccess.Word()},
				"%s is no longer a delegate of %s\n", operands[0], d.Who.Name)
		},
	}
}

// delegatesOf returns the delegates of a user, or of all users if user is "".
func delegatesOf(ctx context.Context, h *app.App, user string) ([]listedDelegate, error) {
	owners, err := h.Auth.Users(ctx)
	if user != "" {
		owners = make([]calendar.User, 1)
		owners[0], err = h.Auth.User(ctx, user)
	}
	list := []listedDelegate{}
	for _, owner := range owners {
		if err != nil {
			break
		}
		var all []calendar.Delegation
		all, err = h.Calendars.Delegates(ctx, app.Caller(owner))
		for _, d := range all {
			list = append(list, delegateLine(owner, d))
		}
	}
	return list, err
}

// ListDelegatesCommand is the command list-delegates.
func ListDelegatesCommand() command.Command {
	var user string
	return command.Listing[listedDelegate, listedDelegate]{
		Command: command.Command{
			Name: "list-delegates", Summary: "list delegates",
			Flags: func(f *flag.FlagSet) {
				f.StringVar(&user, "user", "", "only delegates of the user `NAME`")
			},
		},
		Find:  func(ctx context.Context, h *app.App) ([]listedDelegate, error) { return delegatesOf(ctx, h, user) },
		JSON:  func(d listedDelegate) listedDelegate { return d },
		Heads: []string{"USER", "DELEGATE", "PERMISSION"},
		Row: func(d listedDelegate, _ time.Time) []string {
			return []string{d.User, d.Delegate, d.Permission}
		},
	}.AsCommand()
}
