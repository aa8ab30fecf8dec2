package mirror

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// accountsMost bounds the accounts and feeds of a user, calendarsMost the calendars of one account.
	accountsMost, calendarsMost = 100, 200
	// firstLook is the time limit of the first sync. The rest is fetched later.
	firstLook = 50 * time.Second
)

// NewAccount holds the data to link an account.
type NewAccount struct {
	Provider string
	// Name is the account's display name; empty for the name from the source.
	Name            string
	Secret          Secret
	Subject, Scopes string
	// Every is the interval between two syncs; 0 means the source's default.
	Every time.Duration
	// Choose links none of several calendars yet: the owner chooses with [Mirror.Choose]. Calendars that appear later
	// are not linked by themselves.
	Choose bool
	// note is the subscription, made by an app, that will show the feed; empty if there is none. See
	// [Mirror.FollowNote].
	note calendar.CalendarID
}

// Linked is an account with its calendars.
type Linked struct {
	calendar.Account
	// Kind is the display name of its protocol.
	Kind string
	// Mail is set if the account has mail and no calendars.
	Mail      bool
	Calendars []LinkedCalendar
	// Chooses is set if the owner can choose among its calendars. Unlinked are its other calendars.
	Chooses  bool
	Unlinked []calendar.ListedCalendar
}

// LinkedCalendar is a calendar that mirrors one of an account.
type LinkedCalendar struct {
	calendar.Calendar
	State calendar.Mirror
	// KeptOut are entries that cannot be shown, with the reasons; at most keptOutMost.
	KeptOut []calendar.Mirrored
}

// keptOutMost bounds the entries that are listed with the reason why they cannot be shown.
const keptOutMost = 20

// Offers reports whether accounts of this kind can be linked on this server.
func (m *Mirror) Offers(provider string) bool {
	_, ok := m.Providers[provider]
	return ok && m.Sealer != nil
}

// AddressOf returns the account's address in a form without secrets, to show to users.
func (m *Mirror) AddressOf(n NewAccount) string {
	p, ok := m.Providers[n.Provider]
	if !ok {
		return "an address"
	}
	return p.Address(n.Secret)
}

// Link links an account or a feed and syncs it for the first time. It fails if that first sync fails. If the owner has
// already linked the account, it gets the new secret and keeps its calendars.
func (m *Mirror) Link(ctx context.Context, c calendar.Caller, n NewAccount) (Linked, calendar.Arrived, error) {
	var none calendar.Arrived
	if err := c.MayOwn(calendar.CreateCalendars); err != nil {
		return Linked{}, none, err
	}
	p, ok := m.Providers[n.Provider]
	if !ok || m.Sealer == nil {
		return Linked{}, none, calendar.Errorf(calendar.Unsupported, "",
			"this server is not set up for accounts of the kind %q", n.Provider)
	}
	if n.Name = strings.TrimSpace(n.Name); len(n.Name) > calendar.MaxNameLength || strings.ContainsAny(n.Name, "\r\n") {
		return Linked{}, none, calendar.Errorf(calendar.Invalid, "", "a name has one line of at most %d bytes",
			calendar.MaxNameLength)
	}
	if n.Every < 0 || n.Every > 0 && n.Every < p.Least {
		return Linked{}, none, calendar.Errorf(calendar.Invalid, "", "the shortest interval between two syncs is %s",
			p.Least)
	}
	a := calendar.Account{
		ID: calendar.AccountID(m.NewID()), Owner: c.User.ID, Provider: n.Provider, Name: n.Name,
		Address: p.Address(n.Secret), Subject: n.Subject,
		Scopes: n.Scopes, Every: n.Every, Status: calendar.AccountGood, Created: m.Now(), Due: m.Now().Add(time.Hour),
		Maker: c.Maker(), LinksNew: !n.Choose,
	}
	if a.Name == "" {
		a.Name = a.Address
	}
	n.Secret.Agreed = a.Created
	if m.spent(a.Owner, m.Now(), p.Budget) {
		return Linked{}, none, errSpent
	}
	known, err := m.same(ctx, a, p, n.Secret)
	if err != nil {
		return Linked{}, none, err
	}
	if known.ID != "" {
		return m.renew(ctx, c, known, p, n)
	}
	if n.note == "" {
		if n.note, err = m.noteOf(ctx, c, p, n.Secret); err != nil {
			return Linked{}, none, err
		}
	}
	if a.Secret, a.Key, err = m.seal(a, n.Secret); err != nil {
		return Linked{}, none, err
	}
	if err := m.insert(ctx, a, p, n.Secret); err != nil {
		return Linked{}, none, err
	}
	if p.Mail {
		return m.linkMail(ctx, c, a, p)
	}
	arrived, err := m.first(ctx, c, a, p, n)
	if err != nil {
		return Linked{}, arrived, errors.Join(asked(err, a.Address), m.drop(context.WithoutCancel(ctx), c, a, false))
	}
	all, err := m.linked(ctx, c, a.ID)
	return all, arrived, err
}

// insert stores a new account. If a user links the same feed twice at the same time, it refuses one of them.
func (m *Mirror) insert(ctx context.Context, a calendar.Account, p Provider, s Secret) error {
	if !p.Feed {
		return m.Store.InsertAccount(ctx, a, accountsMost)
	}
	return m.once(ctx, a, s, func(held context.Context) error { return m.Store.InsertAccount(held, a, accountsMost) })
}

// first creates the calendars of a new account and fills them.
func (m *Mirror) first(
	ctx context.Context, c calendar.Caller, a calendar.Account, p Provider, n NewAccount,
) (calendar.Arrived, error) {
	within, cancel := context.WithTimeout(ctx, firstLook)
	defer cancel()
	leave, err := m.enter(a.Owner)
	if err != nil {
		return calendar.Arrived{}, err
	}
	defer leave()
	source, _, err := m.open(a)
	if err != nil {
		return calendar.Arrived{}, err
	}
	remotes, err := source.Calendars(within)
	if err != nil {
		return calendar.Arrived{}, err
	}
	if len(remotes) == 0 {
		return calendar.Arrived{}, Refusef("the account has no calendars")
	}
	if p.Feed && n.Name != "" {
		remotes[0].Name = n.Name
	}
	if p.Feed && n.Name == "" && remotes[0].Name != "" {
		a.Name = remotes[0].Name
		if err := m.Store.SetAccount(ctx, a.ID, calendar.AccountEdit{Name: a.Name}, a.Due); err != nil {
			return calendar.Arrived{}, err
		}
	}
	for _, r := range remotes[:min(len(remotes), calendarsMost)] {
		if n.Choose && len(remotes) > 1 {
			break
		}
		if err := m.place(within, c, a, r, n.note); err != nil {
			return calendar.Arrived{}, err
		}
	}
	if !p.Feed {
		if err := m.list(within, a, remotes); err != nil {
			return calendar.Arrived{}, err
		}
	}
	began := a
	a.Listed = m.Now()
	all, err := m.visitAll(within, source, a)
	m.spend(a.Owner, m.Now(), all, p.Feed)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		err = nil // one sync cannot fetch everything
		a.Due = m.Now()
	}
	if err != nil {
		return all.Arrived, err
	}
	due := a.Due
	m.plan(&a, p, all.wait, nil)
	if within.Err() != nil {
		a.Due = due
	}
	_, err = m.Store.SetAccountState(ctx, a, began)
	return all.Arrived, err
}

// show creates a calendar that mirrors a remote one.
func (m *Mirror) show(ctx context.Context, c calendar.Caller, a calendar.Account, r Remote) error {
	r.Name = nameOf(r.Name)
	props := calendar.Properties{Name: cmp.Or(r.Name, nameOf(a.Name)), Kinds: r.Kinds, Timezone: r.Zone}
	if len(props.Kinds) == 0 {
		props.Kinds = calendar.Kinds{calendar.Event}
	}
	if color, err := calendar.ParseColor(r.Color); err == nil {
		props.Color = &color
	}
	if r.Description != "" {
		props.Description = &r.Description
	}
	mirror := calendar.Mirror{Account: a.ID, Remote: r.ID, RemoteName: r.Name}
	_, err := m.ledger.CreateMirror(ctx, c, calendar.NewCalendar{Properties: props}, mirror, m.originOf(a, a.Name, r))
	return err
}

// originOf returns the origin of the calendar that shows a remote one, with the given name of the account.
func (m *Mirror) originOf(a calendar.Account, name string, r Remote) calendar.Origin {
	o := calendar.Origin{From: name, Writable: r.Writable, Address: strings.ToLower(r.Address), Own: r.Own}
	if p := m.Providers[a.Provider]; p.Notifies {
		o.Notifier = p.Title
	}
	return o
}

// nameOf cuts a remote name to the length that a calendar here allows.
func nameOf(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), calendar.MaxNameLength)], "")
}

// discover lists the calendars of an account and links the new ones, if its owner wants that. A feed always has exactly
// one. A calendar that was listed before without a mirror is not new: its owner did not choose it, or deleted it here.
func (m *Mirror) discover(ctx context.Context, source Source, a calendar.Account, p Provider) error {
	if p.Feed {
		return nil
	}
	remotes, err := source.Calendars(ctx)
	if err != nil {
		return err
	}
	mirrors, err := m.Store.Mirrors(ctx, a.ID)
	if err != nil {
		return err
	}
	before, err := m.Store.ListedCalendars(ctx, a.ID)
	if err != nil {
		return err
	}
	known, shown := map[string]bool{}, map[string]calendar.Mirror{}
	for _, one := range before {
		known[one.Remote] = true
	}
	for _, one := range mirrors {
		known[one.Remote], shown[one.Remote] = true, one
	}
	linked := len(shown)
	owner := calendar.Caller{
		User: calendar.User{ID: a.Owner}, Scopes: calendar.ScopeAll, Agent: calendar.SourceAgent(a.Name),
	}
	for _, r := range remotes {
		if one, here := shown[r.ID]; here {
			if err := m.follow(ctx, a, one, r); err != nil {
				return err
			}
		}
		if known[r.ID] || !a.LinksNew || linked >= calendarsMost {
			continue
		}
		known[r.ID] = true
		linked++
		if err := m.show(ctx, owner, a, r); err != nil && calendar.ReasonOf(err) != calendar.Exists {
			return err
		}
	}
	return m.list(ctx, a, remotes)
}

// follow applies the remote calendar's name, write permission and address.
func (m *Mirror) follow(ctx context.Context, a calendar.Account, one calendar.Mirror, r Remote) error {
	r.Name = nameOf(r.Name)
	cal, err := m.Store.Calendar(ctx, a.Owner, one.Calendar)
	if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
		return nil // it was deleted in the meantime
	}
	if err != nil {
		return err
	}
	from := m.originOf(a, cal.Origin.From, r)
	if cal.Origin == from && one.RemoteName == r.Name {
		return nil
	}
	return m.ledger.Follow(ctx, cal, one, r.Name, from)
}

// asked turns an error of a first sync into a message for the user who is linking the account.
func asked(err error, at string) error {
	if _, own := errors.AsType[*calendar.Error](err); own {
		return err
	}
	e := calendar.Errorf(calendar.Invalid, "", "%s cannot be linked: %s", at, why(err))
	if errors.Is(err, ErrSignIn) {
		e = calendar.Errorf(calendar.Invalid, "", "%s does not accept this name and password", at)
	}
	e.Cause = err
	return e
}

// LinkedAccounts returns the caller's accounts, with their calendars.
func (m *Mirror) LinkedAccounts(ctx context.Context, c calendar.Caller) ([]Linked, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return nil, err
	}
	accounts, err := m.Store.Accounts(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	all := make([]Linked, 0, len(accounts))
	for _, a := range accounts {
		one, err := m.with(ctx, c, a)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// LinkedAccount returns an account of the caller, with its calendars.
func (m *Mirror) LinkedAccount(ctx context.Context, c calendar.Caller, id calendar.AccountID) (Linked, error) {
	if err := c.MayOwn(calendar.ReadObjects); err != nil {
		return Linked{}, err
	}
	return m.linked(ctx, c, id)
}

func (m *Mirror) linked(ctx context.Context, c calendar.Caller, id calendar.AccountID) (Linked, error) {
	a, err := m.own(ctx, c, id)
	if err != nil {
		return Linked{}, err
	}
	return m.with(ctx, c, a)
}

// own finds an account of the caller.
func (m *Mirror) own(ctx context.Context, c calendar.Caller, id calendar.AccountID) (calendar.Account, error) {
	a, err := m.Store.Account(ctx, id)
	if err != nil && calendar.ReasonOf(err) != calendar.NotFound {
		return a, err
	}
	if err != nil || a.Owner != c.User.ID {
		return calendar.Account{}, calendar.Errorf(calendar.NotFound, "", "you have linked no account %q", string(id)).
			Advising("list the linked accounts, and take an id from there")
	}
	return a, nil
}

func (m *Mirror) with(ctx context.Context, c calendar.Caller, a calendar.Account) (Linked, error) {
	one := Linked{Account: a, Kind: a.Provider}
	if p, ok := m.Providers[a.Provider]; ok {
		one.Kind, one.Mail = p.Title, p.Mail
	}
	one.Secret = nil
	mirrors, err := m.Store.Mirrors(ctx, a.ID)
	if err != nil {
		return one, err
	}
	for _, state := range mirrors {
		cal, err := m.Store.Calendar(ctx, c.User.ID, state.Calendar)
		if err != nil && calendar.ReasonOf(err) == calendar.NotFound {
			continue
		}
		if err != nil {
			return one, err
		}
		state.Cursor = ""
		var faults []calendar.Mirrored
		if state.Faults > 0 {
			if faults, err = m.Store.MirrorFaulty(ctx, cal.ID, keptOutMost); err != nil {
				return one, err
			}
		}
		one.Calendars = append(one.Calendars, LinkedCalendar{cal, state, faults})
	}
	return one, m.chooses(ctx, &one)
}

// chooses adds the calendars of an account that are not linked.
func (m *Mirror) chooses(ctx context.Context, one *Linked) error {
	if p, ok := m.Providers[one.Provider]; !ok || p.Feed || p.Mail {
		return nil
	}
	listed, err := m.Store.ListedCalendars(ctx, one.ID)
	one.Chooses = true
	one.Unlinked = slices.DeleteFunc(listed, func(l calendar.ListedCalendar) bool {
		return l.Missing ||
			slices.ContainsFunc(one.Calendars, func(c LinkedCalendar) bool { return c.State.Remote == l.Remote })
	})
	return err
}

// Refresh syncs an account now.
func (m *Mirror) Refresh(ctx context.Context, c calendar.Caller, id calendar.AccountID) (calendar.Arrived, error) {
	if err := c.MayOwn(calendar.ArrangeCalendar); err != nil {
		return calendar.Arrived{}, err
	}
	a, err := m.own(ctx, c, id)
	if err != nil {
		return calendar.Arrived{}, err
	}
	arrived, err := m.visitShared(ctx, a)
	if err != nil {
		return arrived, notRefreshed(err, a.Name)
	}
	return arrived, nil
}

// notRefreshed turns the error of a sync into an error for the user who asked for it. It has the reason.
func notRefreshed(err error, name string) error {
	if _, own := errors.AsType[*calendar.Error](err); own {
		return err
	}
	e := calendar.Errorf(calendar.Unavailable, "", "%s was not refreshed: %s", name, why(err))
	e.Cause = errors.Join(calendar.ErrElsewhere, err)
	return e
}

// Unlink deletes an account and its secret. Its calendars become ordinary calendars of the caller, or go to the trash.
func (m *Mirror) Unlink(ctx context.Context, c calendar.Caller, id calendar.AccountID, keep bool) error {
	if err := c.MayOwn(calendar.DeleteCalendar); err != nil {
		return err
	}
	a, err := m.own(ctx, c, id)
	if err != nil {
		return err
	}
	return m.drop(ctx, c, a, keep)
}

func (m *Mirror) drop(ctx context.Context, c calendar.Caller, a calendar.Account, keep bool) error {
	mirrors, err := m.Store.Mirrors(ctx, a.ID)
	if err != nil {
		return err
	}
	for _, one := range mirrors {
		noted, err := m.empty(ctx, c, one)
		if err != nil {
			return err
		}
		if keep || noted {
			continue
		}
		if err := m.ledger.DeleteCalendar(ctx, c, one.Calendar); err != nil &&
			calendar.ReasonOf(err) != calendar.NotFound {
			return err
		}
	}
	return m.Store.DeleteAccount(ctx, a.ID)
}
