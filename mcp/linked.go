package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/mcp/wire"
)

// accountTools are the tools for linked accounts.
type accountTools struct{ toolbox }

// rows returns the tools for linked calendars. calendar_auth_status lists the accounts and their status. Users
// link accounts on a web page, so that no password passes through a conversation.
func (b accountTools) rows() []tool {
	return []tool{b.once(tool{
		name: "subscribe_calendar", title: "Subscribe to calendar",
		description: "Adds a published .ics calendar, read-only, by an address that the user gave.",
		scope:       calendar.ScopeWrite, unbound: true, hints: toolHints{openWorld: true},
		begin: doing(b.subscribeCalendar), gives: subscribedView{},
	}), b.once(tool{
		name: "update_linked_account", title: "Refresh or unlink account",
		description: "Refreshes or unlinks a linked account or feed; unlink_drop deletes its copies.",
		scope:       calendar.ScopeRead | calendar.ScopeWrite, besides: unlinking, unbound: true,
		hints: toolHints{destructive: true, openWorld: true},
		begin: doing(b.updateLinkedAccount), gives: lookedView{},
	})}
}

const longestAddress = 2000

// subscription holds the arguments of subscribe_calendar.
type subscription struct {
	url, name string
	alarms    bool
}

func (in *subscription) takes() []field {
	return []field{
		wordTo(&in.url, "url", "Or a followed_by_apps id.").needed().upTo(longestAddress),
		wordTo(&in.name, "name", "Its name.").upTo(longestName),
		yesTo(&in.alarms, "alarms", "Keep its reminders."),
	}
}

// The actions of update_linked_account.
const (
	refreshAccount = "refresh"
	unlinkKeep     = "unlink_keep"
	unlinkDrop     = "unlink_drop"
)

// linkedChange holds the arguments of update_linked_account.
type linkedChange struct{ account, action string }

func (in *linkedChange) takes() []field {
	account := wordTo(&in.account, "account", "Its id or name.").needed().upTo(longestName)
	account.names = true
	action := textTo(&in.action, "action", "What to do.").needed().oneOf(refreshAccount, unlinkKeep, unlinkDrop)
	return []field{account, action}
}

// unlinking requires the scope to delete, because calendars are deleted or no longer updated.
func unlinking(asked map[string]json.RawMessage) calendar.Scope {
	if action, _ := readText(asked["action"]); action == unlinkKeep || action == unlinkDrop {
		return calendar.ScopeDelete
	}
	return 0
}

// arrivedView counts the changes that a refresh imported.
type arrivedView struct {
	Created  int `json:"created,omitempty"`
	Modified int `json:"modified,omitempty"`
	Deleted  int `json:"deleted,omitempty"`
	Refused  int `json:"refused,omitempty" doc:"Number that cannot be shown."`
	Missing  int `json:"missing,omitempty" doc:"Not listed there."`
}

// subscribedView is the result of subscribe_calendar.
type subscribedView struct {
	Account  calendar.AccountID  `json:"account_id"`
	Calendar calendar.CalendarID `json:"calendar_id"`
	Name     shown               `json:"name"`
	// Untrusted covers the name.
	Untrusted shown `json:"untrusted_text_by,omitempty" once:"true"`
	arrivedView
}

func (v subscribedView) foreign() bool { return v.Untrusted != "" }

// lookedView is the result of update_linked_account.
type lookedView struct {
	Account calendar.AccountID `json:"account_id"`
	Done    string             `json:"done"`
	arrivedView
}

// accountView is a linked account in calendar_auth_status.
type accountView struct {
	ID        calendar.AccountID `json:"id"`
	Name      shown              `json:"name"`
	Kind      string             `json:"kind"`
	Status    string             `json:"status"`
	Error     shown              `json:"error,omitempty"`
	Checked   string             `json:"checked,omitempty"`
	Calendars int                `json:"calendars"`
	// Untrusted covers the name and the error.
	Untrusted shown `json:"untrusted_text_by" once:"true"`
}

// unseenView is a feed that only the user's apps follow.
type unseenView struct {
	ID   calendar.CalendarID `json:"id"`
	Name shown               `json:"name"`
	// Untrusted covers the name.
	Untrusted shown `json:"untrusted_text_by" once:"true"`
}

// linkedView lists the linked accounts in calendar_auth_status.
type linkedView struct {
	Unseen []unseenView  `json:"followed_by_apps,omitempty"`
	Linked []accountView `json:"linked,omitempty"`
	LinkAt string        `json:"link_at,omitempty" doc:"Where the user links others, or signs in again."`
}

// linkedOf lists the linked accounts, if the token may see them.
func (b toolbox) linkedOf(ctx context.Context, c *call, z zoned) (linkedView, error) {
	var v linkedView
	if may := c.caller.MayOwn(calendar.ReadObjects) == nil; !may {
		return v, nil
	}
	all, err := b.accounts(ctx, c)
	if err != nil {
		return v, err
	}
	for _, a := range all {
		v.Linked = append(v.Linked, accountView{
			ID: a.ID, Name: shown(short(a.Name, longestListedTitle)), Kind: a.Kind, Status: string(a.Status),
			Error: shown(short(a.Error, longestListedTitle)), Checked: z.momentOf(a.Checked),
			Calendars: len(a.Calendars),
			Untrusted: shown(short(cmp.Or(a.Address, a.Name), longestListedTitle)),
		})
	}
	notes, err := b.service.Mirrors.Notes(ctx, c.caller)
	if err != nil {
		return v, err
	}
	for _, n := range notes {
		v.Unseen = append(v.Unseen, unseenView{
			n.ID, shown(short(n.Name, longestListedTitle)),
			shown(short(cmp.Or(n.Shown, n.Name), longestListedTitle)),
		})
	}
	if len(b.service.Mirrors.Providers) > 0 {
		v.LinkAt = b.linkPage()
	}
	return v, nil
}

// page is the URL of a page in the user's account, or "" if the base URL is unknown.
func (b toolbox) page(name string) string {
	if b.base == "" {
		return ""
	}
	return strings.TrimSuffix(b.base, "/") + "/account/" + name
}

// linkPage is the URL of the page where users link accounts.
func (b toolbox) linkPage() string { return b.page("linked") }

// withLinkPage adds the page where the user links an account again to an error that asks for that.
func (b toolbox) withLinkPage(err error) error {
	e, ok := errors.AsType[*calendar.Error](err)
	if !ok || !errors.Is(err, mirror.ErrSignIn) || b.linkPage() == "" {
		return err
	}
	hint := "the user must open " + b.linkPage() + ", sign in here and link it again"
	if e.Hint != "" {
		hint = e.Hint + "; " + hint
	}
	return e.Advising(hint)
}

// accounts returns the user's linked accounts. Mail accounts need the mail scope.
func (b toolbox) accounts(ctx context.Context, c *call) ([]mirror.Linked, error) {
	all, err := b.service.Mirrors.LinkedAccounts(ctx, c.caller)
	return slices.DeleteFunc(all, func(a mirror.Linked) bool {
		return a.Mail &&
			c.caller.Scopes&calendar.ScopeMail == 0
	}), err
}

// prose writes the list as text. Names and errors come from outside.
func (v linkedView) prose() string {
	var b strings.Builder
	if len(v.Linked) > 0 {
		b.WriteString("\nLinked accounts and feeds, whose calendars are among the user's:")
	}
	for _, a := range v.Linked {
		fmt.Fprintf(&b, "\n- %s (%s), id %s: %s", wire.Quote(defused(string(a.Name))), a.Kind, a.ID, a.Status)
		if a.Error != "" {
			fmt.Fprintf(&b, ", %s", wire.Quote(defused(string(a.Error))))
		}
		b.WriteString(a.Untrusted.mark())
		fmt.Fprintf(&b, "; %d calendars", a.Calendars)
		if a.Checked != "" {
			fmt.Fprintf(&b, ", last checked %s", a.Checked)
		}
	}
	if len(v.Unseen) > 0 {
		b.WriteString("\nFollowed only by the user's apps; to see them here, call subscribe_calendar with the id:")
	}
	for _, n := range v.Unseen {
		fmt.Fprintf(&b, "\n- %s, id %s%s", wire.Quote(defused(string(n.Name))), n.ID, n.Untrusted.mark())
	}
	if v.LinkAt != "" {
		fmt.Fprintf(&b, "\nTo link other calendars or sign in to them again, the user opens %s", v.LinkAt)
	}
	return b.String()
}

func (b accountTools) subscribeCalendar(ctx context.Context, c *call, in *subscription) (answer, error) {
	n := mirror.NewAccount{Provider: "ics", Name: in.name, Secret: mirror.Secret{URL: in.url, Alarms: in.alarms}}
	at, link := b.service.Mirrors.AddressOf(n),
		func() (mirror.Linked, calendar.Arrived, error) { return b.service.Mirrors.Link(ctx, c.caller, n) }
	notes, err := b.service.Mirrors.Notes(ctx, c.caller)
	// a token without the read scope must give an address
	if err != nil && calendar.ReasonOf(err) != calendar.Forbidden {
		return answer{}, err
	}
	for _, one := range notes {
		if string(one.ID) == in.url {
			at, link = one.Shown, func() (mirror.Linked, calendar.Arrived, error) {
				return b.service.Mirrors.FollowNote(ctx, c.caller, one.ID, in.alarms)
			}
		}
	}
	err = c.confirm(question{
		text: willHave("this server fetch a calendar regularly from "+quotedShort(at)+", and show it with yours") +
			"Its publisher can change its content at any time.",
		state: in.url,
	})
	if err != nil {
		return answer{}, err
	}
	linked, arrived, err := link()
	if err != nil {
		c.about(unknownAuthor) // the refusal may name a feed that is here already
		return answer{}, err
	}
	cal := linked.Calendars[0].Calendar
	c.calendar = cal.ID
	return same(subscribedView{
		linked.ID, cal.ID, shown(short(cal.Name, longestListedTitle)), authorOf(c.caller, cal),
		arrivedView(arrived),
	})
}

// accountNamed finds an account by its id or by a unique name.
func (b accountTools) accountNamed(ctx context.Context, c *call, word string) (mirror.Linked, error) {
	all, err := b.accounts(ctx, c)
	if err != nil {
		return mirror.Linked{}, err
	}
	var named []mirror.Linked
	for _, a := range all {
		if string(a.ID) == word {
			return a, nil
		}
		if strings.EqualFold(a.Name, word) || wire.Visible(short(a.Name, longestListedTitle)) == word {
			named = append(named, a)
		}
	}
	if len(named) == 1 {
		return named[0], nil
	}
	e := calendar.Errorf(calendar.NotFound, "", "the user has linked no account %s", wire.Quote(word))
	if len(named) > 1 {
		e = calendar.Errorf(calendar.Invalid, "", "the user has linked %d accounts %s", len(named), wire.Quote(word))
	}
	e.Hint = "copy an id from calendar_auth_status"
	return mirror.Linked{}, e
}

func (b accountTools) updateLinkedAccount(ctx context.Context, c *call, in *linkedChange) (answer, error) {
	a, err := b.accountNamed(ctx, c, in.account)
	if err != nil {
		return answer{}, err
	}
	v := lookedView{Account: a.ID, Done: in.action}
	if in.action == refreshAccount {
		arrived, err := b.service.Mirrors.Refresh(ctx, c.caller, a.ID)
		v.arrivedView = arrivedView(arrived)
		if errors.Is(err, mirror.ErrSignIn) && b.linkPage() != "" {
			asked := c.lead(question{
				text: quotedShort(a.Name) +
					" no longer accepts this server's access. Open the page, sign in here, and link it again.",
				page: b.linkPage(),
			})
			err = cmp.Or(asked, err)
		}
		if err != nil {
			return answer{}, err
		}
		return same(v)
	}
	if err := c.confirmUnlinking(a, in.action == unlinkKeep); err != nil {
		return answer{}, err
	}
	if err := b.service.Mirrors.Unlink(ctx, c.caller, a.ID, in.action == unlinkKeep); err != nil {
		return answer{}, err
	}
	return same(v)
}

// confirmUnlinking asks the user to confirm before an account is unlinked.
func (c *call) confirmUnlinking(a mirror.Linked, keep bool) error {
	what := fmt.Sprintf("unlinked %s; its %d calendars stay here as copies", quotedShort(a.Name), len(a.Calendars))
	if !keep {
		what = fmt.Sprintf("unlinked %s, and deleted its %d calendars here, for all users who have them",
			quotedShort(a.Name), len(a.Calendars))
	}
	return c.confirm(question{text: willHave(what) + "The account itself does not change. To link it again, you " +
		"need its password or its owner's consent.", state: string(a.ID)})
}
