package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
)

func (h *Handler) peoplePages() []page {
	return []page{
		get("people", admins, showing("people", userPages.peopleContent)),
		// Not below people/: a user may have that name.
		get("invite", provenAdmins, userPages.inviteForm),
		post("invite", provenAdmins, userPages.invite),
		get("import-users", provenAdmins, showing("importusers", userPages.importUsersContent)),
		{
			method: http.MethodPost, path: "import-users", who: provenAdmins, body: maxUserList + maxForm,
			serve: serving(userPages.importUsers),
		},
		get("defaults", admins, defaultPages.form),
		post("defaults", provenAdmins, defaultPages.save),
		get("audit", admins, showing("audit", userPages.audit)),
		get("people/{name}", admins, showing("person", userPages.wantedPerson)),
		post("people/{name}", provenAdmins, userPages.changePerson),
	}
}

// Passlinks mails invite and reset links.
type Passlinks interface {
	// Send mails a link to the user's main address; reset is set if they have had a password before.
	Send(ctx context.Context, u calendar.User, reset bool, link string, until time.Time) error
	// SendForgotten mails a link that a stranger requested on the sign-in page.
	SendForgotten(ctx context.Context, u calendar.User, link string, until time.Time) error
}

// Health is the server's state, for administrators: each fact with its name.
type Health []struct{ Name, Value string }

// peopleContent is the data of the page of all users, for administrators.
type peopleContent struct {
	People []personRow
	// Search is the text that was searched for. Found counts the matching users, First and Last are the first and the
	// last of them on this page.
	Search             string
	Found, First, Last int
	// Earlier and Later are the addresses of the neighbouring pages; "" if there are none.
	Earlier, Later string
	Groups         []auth.Group
	// Group is the form for a new group with the values entered so far.
	Group  newGroupForm
	Health Health
}

// personRow is a user in the list.
type personRow struct {
	calendar.User
	// Waits is when a pending invitation or reset expires.
	Waits string
	// Seen is when the user last came by a browser, a token or an app password; "" if unknown.
	Seen string
}

// waitTexts say that a link waits.
var waitTexts = map[auth.PasswordLinkKind]string{
	auth.Invitation: "people.invitation-until", auth.Reset: "people.reset-until",
}

// peoplePage is the number of users on a page.
const peoplePage = 50

// userPages manage users, for administrators.
type userPages struct{ *pageRequest }

func (p userPages) peopleContent() (content peopleContent, err error) {
	users, err := p.Auth.Users(p.r.Context())
	if err != nil {
		return content, err
	}
	waiting, err := p.Auth.WaitingLinks(p.r.Context())
	if err != nil {
		return content, err
	}
	seen, err := p.Auth.LastSeen(p.r.Context())
	if err != nil {
		return content, err
	}
	c := p.clock()
	content.Health = p.health()
	for _, u := range content.choose(users, p.r.URL.Query()) {
		row := personRow{User: u}
		if at, ok := seen[u.ID]; ok {
			row.Seen = c.Ago(at)
		}
		if link, ok := waiting[u.ID]; ok {
			row.Waits = p.lang.Text(waitTexts[link.Kind], "until", c.Moment(link.Expires))
		}
		content.People = append(content.People, row)
	}
	content.Groups, err = p.Auth.Groups(p.r.Context())
	return content, err
}

// choose returns the users of the requested page, without rooms, which have their own. A user is found if the name,
// display name or address contains every word of the search.
func (c *peopleContent) choose(users []calendar.User, query url.Values) []calendar.User {
	c.Search = strings.TrimSpace(query.Get("q"))
	words := strings.Fields(strings.ToLower(c.Search))
	found := slices.DeleteFunc(users, func(u calendar.User) bool {
		text := strings.ToLower(u.Name + "\n" + u.DisplayName + "\n" + u.Email)
		return u.Room.Bookable() ||
			slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
	c.Found = len(found)
	pages := max(1, (c.Found+peoplePage-1)/peoplePage)
	number, _ := strconv.Atoi(query.Get("page")) // without a number, the first page
	number = min(max(number, 1), pages)
	address := func(number int) string {
		return "people?" + url.Values{"q": {c.Search}, "page": {strconv.Itoa(number)}}.Encode()
	}
	if number > 1 {
		c.Earlier = address(number - 1)
	}
	if number < pages {
		c.Later = address(number + 1)
	}
	from := (number - 1) * peoplePage
	to := min(from+peoplePage, c.Found)
	c.First, c.Last = min(from+1, to), to
	return found[from:to]
}

func (p userPages) health() Health {
	facts := Health{{"Version", p.Version}}
	if p.Facts == nil {
		return facts
	}
	return append(facts, p.Facts(p.r.Context())...)
}

// inviteContent is the data of the invitation page; the link is shown once.
type inviteContent struct {
	Name, DisplayName, Email string
	Admin                    bool
	// Timezone is the new user's zone, Places are the zones to choose from.
	Timezone string
	Places   []string
	// Languages are the languages to choose from.
	Languages []choice
	// Calendars are the inviter's own, to share with the new user.
	Calendars []sharedAtOnce
	// Unshared says which calendars could not be shared.
	Unshared string
	issued
}

// sharedAtOnce is a calendar in the form of an invitation, with the access that the new user gets.
type sharedAtOnce struct {
	ID     calendar.CalendarID
	Name   string
	Access string
}

func (p userPages) inviteForm() error {
	content, err := p.inviteContent()
	if err != nil {
		return err
	}
	return p.show("invite", content)
}

// inviteContent returns the form as it was sent, or with the defaults of new users.
func (p userPages) inviteContent() (inviteContent, error) {
	d, _, err := p.Defaults(p.r.Context())
	if err != nil {
		return inviteContent{}, err
	}
	content := inviteContent{
		Timezone: cmp.Or(d.Timezone, p.user().Timezone),
		Name:     p.field("name"), DisplayName: p.field("display-name"), Email: p.field("email"),
		Admin: p.field("admin") != "", Places: zone.Places(),
		Languages: p.languagesFor(cmp.Or(p.field("language"), d.Language)),
	}
	if d.Language != "" {
		content.Languages = content.Languages[1:] // without the browser's, which the default replaces
	}
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	for _, cal := range all {
		if cal.Access == calendar.OwnerAccess && !cal.Subscribed() {
			content.Calendars = append(content.Calendars, sharedAtOnce{
				cal.ID, calendarName(cal), p.field("share-" + string(cal.ID)),
			})
		}
	}
	return content, err
}

// languagesFor returns the languages for another user.
func (p userPages) languagesFor(chosen string) []choice {
	return append([]choice{{"", p.lang.Text("invite.language-browser"), chosen == ""}},
		languageChoices(p.languages, chosen)...)
}

// shareAtOnce offers the selected calendars to a new user, and returns the names of calendars that it could not share.
func (p userPages) shareAtOnce(u calendar.User, all []sharedAtOnce) string {
	var failed []string
	for _, one := range all {
		access, ok := shareChoices[one.Access]
		if !ok {
			continue
		}
		if _, err := p.Service.Share(p.r.Context(), p.caller(), one.ID, u.Name, access); err != nil {
			_, text := p.explain(err)
			failed = append(failed, excerpt(one.Name)+" ("+text+")")
		}
	}
	return strings.Join(failed, ", ")
}

func (p userPages) invite() error {
	content, err := p.inviteContent()
	if err != nil {
		return err
	}
	timezone, err := p.timezone()
	content.Timezone = timezone
	if err != nil {
		return p.again("invite", content, err)
	}
	u, err := p.NewUser(p.r.Context(), auth.NewUser{
		Name: content.Name, DisplayName: content.DisplayName, Email: content.Email, Admin: content.Admin, Invited: true,
		Timezone: cmp.Or(timezone, p.user().Timezone), Language: p.field("language"), BrowserLanguage: p.lang.Tag(),
	})
	if err != nil {
		return p.again("invite", content, err)
	}
	p.did("invite", u.Name)
	if u.Admin {
		p.details("", "admin=true")
	}
	content.Name, content.Unshared = u.Name, p.shareAtOnce(u, content.Calendars)
	if content.issued, err = p.vouch(u, auth.Invitation); err != nil {
		return err
	}
	return p.showIssued("invite", content, content.issued)
}

// issued is an invite or reset link, which is shown once.
type issued struct {
	Link, Until string
	// Mailed is the address that it was mailed to, Unsent the reason why it was not mailed.
	Mailed, Unsent string
}

// vouch makes an invite or reset link, and mails it if possible.
func (p userPages) vouch(u calendar.User, kind auth.PasswordLinkKind) (issued, error) {
	link, secret, err := p.Auth.CreatePasswordLink(p.r.Context(), u.Name, kind)
	if err != nil {
		return issued{}, err
	}
	one := issued{Link: p.passwordLinkAddress(secret), Until: p.clock().Moment(link.Expires)}
	if p.Passlinks == nil || u.Email == "" {
		return one, nil
	}
	if err := p.Passlinks.Send(p.r.Context(), u, kind == auth.Reset, one.Link, link.Expires); err != nil {
		p.Logger.WarnContext(p.r.Context(), "a link could not be mailed", "to", u.Name, "error", err)
		_, one.Unsent = p.explain(err)
		return one, nil
	}
	one.Mailed = u.Email
	return one, nil
}

// passwordLinkAddress returns the address of an invite or reset link.
func (p *pageRequest) passwordLinkAddress(secret auth.Secret) string {
	return p.address().JoinPath(root, "key", string(secret)).String()
}

// showIssued shows a page with a link. A link that was not mailed can be handed over by other means.
func (p userPages) showIssued(name string, content any, one issued) error {
	return p.write(http.StatusOK, name, content, one.Unsent)
}

// personContent is the data of the page of one user, for administrators.
type personContent struct {
	User      calendar.User
	Factors   auth.Factors
	Addresses []auth.Address
	// Self is set for the visitor, who cannot lock themselves out. Invited is set while the user has no way to sign in.
	Self, Invited bool
	Bounds        []boundRow
	// DisplayName, Email and Timezone are the form's values, Places the time zones to choose from.
	DisplayName, Email, Timezone string
	Places                       []string
	// Seen is as in personRow.
	Seen string
	// Leaves, Successor and Tell are the form to delete the user; Names are the users to choose from.
	Leaves, Successor string
	Tell              bool
	Names             []calendar.User
	// DeletedLater is set if the server deletes the user when their mails are sent.
	DeletedLater bool
	issued
}

// wantedPerson returns the user that the path names.
func (p userPages) wantedPerson() (c personContent, err error) {
	if c.User, err = p.Auth.User(p.r.Context(), p.r.PathValue("name")); err != nil {
		return c, errMissing()
	}
	if c.DeletedLater, err = p.IsDeletedLater(p.r.Context(), c.User); err != nil {
		return c, err
	}
	c.Self = c.User.ID == p.user().ID
	c.DisplayName, c.Email, c.Timezone, c.Places = c.User.DisplayName, c.User.Email, c.User.Timezone, zone.Places()
	c.Leaves, c.Successor, c.Tell = p.field("calendars"), p.field("successor"), p.field("tell") != ""
	if c.Names, err = p.Auth.UserNames(p.r.Context()); err != nil {
		return c, err
	}
	seen, err := p.Auth.LastSeen(p.r.Context())
	if err != nil {
		return c, err
	}
	if at, ok := seen[c.User.ID]; ok {
		c.Seen = p.clock().Ago(at)
	}
	if c.Factors, err = p.Auth.Factors(p.r.Context(), c.User); err != nil {
		return c, err
	}
	c.Invited = c.Factors.PasswordLinkKind() == auth.Invitation
	if c.Bounds, err = p.bounds(c.User); err != nil {
		return c, err
	}
	c.Addresses, err = p.Auth.Addresses(p.r.Context(), c.User)
	return c, err
}

// personDeeds are the actions on a user, by the name of their button.
var personDeeds = map[string]func(p userPages, u calendar.User) error{
	"disable": func(p userPages, u calendar.User) error { return p.edit(u, auth.UserEdit{Disabled: new(true)}) },
	"enable":  func(p userPages, u calendar.User) error { return p.edit(u, auth.UserEdit{Disabled: new(false)}) },
	"admin":   func(p userPages, u calendar.User) error { return p.edit(u, auth.UserEdit{Admin: new(true)}) },
	"plain":   func(p userPages, u calendar.User) error { return p.edit(u, auth.UserEdit{Admin: new(false)}) },
	"sign-out": func(p userPages, u calendar.User) error {
		return p.Auth.EndSessions(p.r.Context(), u, "")
	},
	"end-access": func(p userPages, u calendar.User) error { return p.Auth.EndAccess(p.r.Context(), u) },
	"factors":    func(p userPages, u calendar.User) error { return p.Auth.DropFactors(p.r.Context(), u.Name) },
	"verify": func(p userPages, u calendar.User) error {
		return p.Auth.VerifyAddress(p.r.Context(), u, p.field("address"))
	},
	"drop-address": func(p userPages, u calendar.User) error {
		return p.Auth.DropAddress(p.r.Context(), u, p.field("address"))
	},
	"bounds":    userPages.setBounds,
	"profile":   userPages.setProfile,
	"take-back": func(p userPages, u calendar.User) error { return p.Auth.DropPasswordLinks(p.r.Context(), u) },
}

// setProfile changes a user's name, main address and time zone.
func (p userPages) setProfile(u calendar.User) error {
	timezone, err := p.timezone()
	if err != nil {
		return err
	}
	name, email := p.field("display-name"), p.field("email")
	_, err = p.ChangeUser(p.r.Context(), u.Name, auth.UserEdit{
		DisplayName: &name, Email: &email, Timezone: &timezone,
	})
	return err
}

// deletePerson deletes a user, if their name was typed. It reports whether that happens later, when mails are sent.
func (p userPages) deletePerson(c personContent) (later bool, err error) {
	how := calendar.UserDeletion{Tell: c.Tell}
	if c.Leaves == "give" {
		how.Successor = c.Successor
	}
	switch {
	case c.Self:
		return false, p.wrong("person.delete-own")
	case p.field("name") != c.User.Name:
		return false, p.wrong("person.delete-typed", "name", c.User.Name)
	case how.Successor == "" && c.Leaves != "delete":
		return false, p.wrong("person.delete-successor-missing")
	}
	if later, err = p.DeleteUser(p.r.Context(), c.User, how); err != nil {
		return later, err
	}
	if how.Successor != "" {
		p.did("people/delete", c.User.Name, how.Successor)
		p.details("", "successor=%s", how.Successor)
	}
	return later, nil
}

// wrong is an error in a form, with a text of the catalog.
func (p *pageRequest) wrong(id string, pairs ...any) error {
	return p.failed(calendar.Invalid, id, pairs...)
}

// edit changes a user. It refuses changes that would lock out the visitor or all administrators.
func (p userPages) edit(u calendar.User, e auth.UserEdit) error {
	if u.ID == p.user().ID {
		return p.wrong("person.self")
	}
	_, err := p.ChangeUser(p.r.Context(), u.Name, e)
	return err
}

func (p userPages) changePerson() error {
	c, err := p.wantedPerson()
	if err != nil {
		return err
	}
	deed := p.field("do")
	if _, ok := personDeeds[deed]; ok || deed == "reset" || deed == "invite" || deed == "delete" {
		p.did("people/"+deed, c.User.Name)
	}
	if deed == "bounds" {
		p.did("people/quota", c.User.Name)
	}
	if deed == "delete" {
		later, err := p.deletePerson(c)
		if err != nil {
			return p.again("person", c, err)
		}
		if later {
			return p.done("people/"+c.User.Name, "user-deleted-later")
		}
		return p.done("people", "user-deleted")
	}
	if deed == "reset" || deed == "invite" {
		if c.issued, err = p.vouch(c.User, c.Factors.PasswordLinkKind()); err != nil {
			return err
		}
		return p.showIssued("person", c, c.issued)
	}
	do, ok := personDeeds[deed]
	if !ok {
		return errMissing()
	}
	if err := do(p, c.User); err != nil {
		if deed == "profile" {
			c.DisplayName, c.Email, c.Timezone = p.field("display-name"), p.field("email"), p.field("timezone")
		}
		return p.again("person", c, err)
	}
	return p.done("people/"+c.User.Name, "saved")
}

// defaultsContent is the data of the page with the defaults of new users.
type defaultsContent struct {
	auth.Defaults
	Places                                []string
	Languages, WeekStarts, Clocks, Before []choice
	// Fixed names the settings that can only change where the server is started.
	Fixed string
}

// defaultPages show and change the defaults of new users, for administrators.
type defaultPages struct{ *pageRequest }

func (p defaultPages) content(d auth.Defaults, fixed []string) defaultsContent {
	settings := settingsPages(p)
	c := defaultsContent{
		Defaults: d, Places: zone.Places(), Languages: userPages(p).languagesFor(d.Language),
		WeekStarts: settings.dayChoices(cmp.Or(d.WeekStart, "mon")), Fixed: strings.Join(fixed, ", "),
		Clocks: settings.viewContent(calendar.ViewSettings{Clock: d.Clock}).Clocks,
	}
	for _, minutes := range befores {
		c.Before = append(c.Before, choice{
			strconv.FormatInt(minutes, 10), notificationPages(p).before(minutes), minutes == d.Reminder,
		})
	}
	return c
}

func (p defaultPages) form() error {
	d, fixed, err := p.Defaults(p.r.Context())
	if err != nil {
		return err
	}
	return p.show("defaults", p.content(d, fixed))
}

func (p defaultPages) save() error {
	_, fixed, err := p.Defaults(p.r.Context())
	if err != nil {
		return err
	}
	timezone, err := p.timezone()
	d := auth.Defaults{
		Timezone: timezone, Language: p.field("language"), WeekStart: p.field("week-start"), Clock: p.field("clock"),
		WeekNumbersOff: p.field("week-numbers") == "", Reminder: calendar.NoReminder,
	}
	if before, failed := strconv.ParseInt(p.field("reminder"), 10, 64); failed == nil {
		d.Reminder = before
	}
	switch {
	case err != nil:
	case len(fixed) > 0:
		err = p.wrong("defaults.fixed", "settings", strings.Join(fixed, ", "))
	default:
		err = p.SetDefaults(p.r.Context(), d)
	}
	if err != nil {
		return p.again("defaults", p.content(d, fixed), err)
	}
	return p.done("defaults", "saved")
}
