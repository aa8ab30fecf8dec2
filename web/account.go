package web

import (
	"archive/zip"
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
)

func (h *Handler) accountPages() []page {
	return []page{
		get("settings", people, settingsPages.settings),
		post("settings", people, settingsPages.saveSettings),
		get(viewSettings, people, settingsPages.view),
		post(viewSettings, people, settingsPages.saveView),
		postBack("settings/addresses", people, "settings", addressPages.addAddress),
		postBack("settings/addresses/main", people, "settings", addressPages.chooseAddress),
		postBack("settings/addresses/remove", people, "settings", addressPages.removeAddress),
		get("export", proven, accountPages.exportAll),
		get("delete", proven, showing("delete", accountPages.deleteContent)),
		post("delete", proven, accountPages.deleteAccount),
	}
}

// settingsContent is the data of the settings page.
type settingsContent struct {
	User calendar.User
	// Places are the time zones to choose from.
	Places    []string
	WeekStart []choice
	// Languages begins with the browser's.
	Languages []choice
	Days      []choice
	// Opens and Closes are the working hours.
	Opens, Closes string
	Addresses     []auth.Address
	// Proofs is set if the server can send a verification link to an address.
	Proofs bool
	// Notifications is set if there is a page for them.
	Notifications bool
	// Digest holds the digest settings; nil if the server sends no digests.
	Digest *digestContent
}

// dayChoices returns the weekdays as choices, with the given ones ticked.
func (p settingsPages) dayChoices(chosen ...string) []choice {
	var all []choice
	for i, day := range auth.Weekdays() {
		all = append(all, choice{day, p.lang.Weekday(time.Weekday((i + 1) % 7)), slices.Contains(chosen, day)})
	}
	return all
}

// settingsPages are the settings of a user: name, time zone, working hours, daily mail.
type settingsPages struct{ *pageRequest }

func (p settingsPages) settingsContent(u calendar.User) (settingsContent, error) {
	addresses, err := p.Auth.Addresses(p.r.Context(), u)
	if err != nil {
		return settingsContent{}, err
	}
	digest, err := p.digestContent(u)
	opens, closes, _ := strings.Cut(u.WorkingHours, "-")
	return settingsContent{
		User: u, Places: zone.Places(), WeekStart: p.dayChoices(cmp.Or(u.WeekStart, "mon")),
		Addresses: addresses, Proofs: p.Proofs != nil, Digest: digest,
		Notifications: p.Notifications != nil, Languages: p.languageChoices(u),
		Days:  p.dayChoices(strings.Fields(cmp.Or(u.WorkingDays, "mon tue wed thu fri"))...),
		Opens: cmp.Or(opens, "09:00"), Closes: cmp.Or(closes, "17:00"),
	}, err
}

// languageChoices returns the browser's language, and all others.
func (p settingsPages) languageChoices(u calendar.User) []choice {
	browser := p.lang.Text("settings.language-browser", "name", p.browserLanguage().Name())
	return append([]choice{{"", browser, u.Language == ""}}, languageChoices(p.languages, u.Language)...)
}

// languageChoices returns all languages in their own names.
func languageChoices(languages *locale.Catalogs, chosen string) (all []choice) {
	for _, l := range languages.Languages() {
		all = append(all, choice{l.Tag(), l.Name(), l.Tag() == chosen})
	}
	return all
}

func (p settingsPages) settings() error { return p.showSettings(p.user(), nil) }

// showSettings shows the page, with an error if there is one.
func (p settingsPages) showSettings(u calendar.User, wrong error) error {
	content, err := p.settingsContent(u)
	if err != nil {
		return err
	}
	if wrong != nil {
		return p.again("settings", content, wrong)
	}
	return p.show("settings", content)
}

func (p settingsPages) saveSettings() error {
	u := p.user()
	var err error
	u.DisplayName, u.WeekStart = p.field("display-name"), p.field("week-start")
	u.Language = p.field("language")
	u.WorkingDays = strings.Join(p.r.PostForm["day"], " ")
	u.WorkingHours = p.field("opens") + "-" + p.field("closes")
	if u.Timezone, err = p.timezone(); err != nil {
		return p.showSettings(u, err)
	}
	_, err = p.ChangeUser(p.r.Context(), u.Name, auth.UserEdit{
		DisplayName: &u.DisplayName, Timezone: &u.Timezone, WeekStart: &u.WeekStart, WorkingDays: &u.WorkingDays,
		WorkingHours: &u.WorkingHours, Language: &u.Language,
	})
	if err != nil {
		return p.showSettings(u, err)
	}
	return p.done("settings", "saved")
}

// viewSettings is the page with the settings of the calendar pages.
const viewSettings = "settings/view"

// viewSettingsContent is its data.
type viewSettingsContent struct {
	calendar.ViewSettings
	Places []string
	Clocks []choice
}

func (p settingsPages) viewContent(v calendar.ViewSettings) viewSettingsContent {
	c := viewSettingsContent{ViewSettings: v, Places: zone.Places()}
	labels := map[string]string{"": "view.clock-language", "12": "view.clock-12", "24": "view.clock-24"}
	for value, label := range labels {
		example := p.lang.Time(time.Date(2000, 1, 1, 15, 30, 0, 0, time.UTC), value)
		c.Clocks = append(c.Clocks, choice{value, p.lang.Text(label, "example", example), value == v.Clock})
	}
	slices.SortFunc(c.Clocks, func(a, b choice) int { return strings.Compare(a.Value, b.Value) })
	return c
}

func (p settingsPages) view() error { return p.show("viewsettings", p.viewContent(p.user().View)) }

func (p settingsPages) saveView() error {
	second, err := p.timezone()
	v := calendar.ViewSettings{
		SecondZone: second, Clock: p.field("clock"), WeekNumbersOff: p.field("week-numbers") == "",
		WorkingHoursOff: p.field("working-hours") == "", ShortcutsOff: p.field("shortcuts") == "",
	}
	if err == nil {
		_, err = p.ChangeUser(p.r.Context(), p.user().Name, auth.UserEdit{View: &v})
	}
	if err != nil {
		return p.again("viewsettings", p.viewContent(v), err)
	}
	return p.done(viewSettings, "saved")
}

// addressPages add, verify and remove a user's mail addresses.
type addressPages struct{ *pageRequest }

func (p addressPages) addAddress() error {
	address := strings.ToLower(p.field("address"))
	err := p.Auth.AddAddress(p.r.Context(), p.user(), address)
	if err != nil || p.Proofs == nil {
		return settingsPages(p).settled(err, "address-added")
	}
	return settingsPages(p).settled(p.sendProofTo(address), "proof-sent")
}

func (p addressPages) chooseAddress() error {
	return settingsPages(p).settled(p.Auth.MainAddress(p.r.Context(), p.user(), p.field("address")), "saved")
}

func (p addressPages) removeAddress() error {
	return settingsPages(p).settled(p.Auth.DropAddress(p.r.Context(), p.user(), p.field("address")), "saved")
}

// settled redirects to the settings with a notice, or shows them with the error.
func (p settingsPages) settled(err error, notice string) error {
	if err != nil {
		return p.showSettings(p.user(), err)
	}
	return p.done("settings", notice)
}

// accountPages export all calendars of a user, and delete the account.
type accountPages struct{ *pageRequest }

// ownCalendars returns the calendars that are deleted with the account.
func (p accountPages) ownCalendars() ([]calendar.Calendar, error) {
	all, err := p.Service.CalendarsInHome(p.r.Context(), p.caller())
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return cal.Access != calendar.OwnerAccess || cal.Subscribed()
	}), err
}

// exportAll sends all of the visitor's own calendars, one file each. It streams, so an error midway cuts the
// connection: a partial export must not look complete.
func (p accountPages) exportAll() error {
	own, err := p.ownCalendars()
	if err != nil {
		return err
	}
	p.w.Header().Set("Content-Type", "application/zip")
	p.w.Header().Set("Content-Disposition", `attachment; filename="calendars.zip"`)
	archive := zip.NewWriter(p.w)
	for _, cal := range own {
		file, err := archive.Create(string(cal.Segment) + ".ics")
		if err == nil {
			_, err = p.Service.Backup(p.r.Context(), p.caller(), cal, file, func(calendar.Object, error) {})
		}
		p.orBreak(err)
	}
	p.orBreak(archive.Close())
	return nil
}

// orBreak cuts the connection of a response that cannot be completed.
func (p *pageRequest) orBreak(err error) {
	if err != nil {
		p.Logger.WarnContext(p.r.Context(), "an export ended early", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// deleteContent lists everything that is deleted with the account.
type deleteContent struct {
	Calendars []calendar.Calendar
	Apps      int
}

func (p accountPages) deleteContent() (deleteContent, error) {
	own, err := p.ownCalendars()
	if err != nil {
		return deleteContent{}, err
	}
	tokens, err := p.Auth.Tokens(p.r.Context(), p.user().Name)
	return deleteContent{own, len(tokens)}, err
}

func (p accountPages) deleteAccount() error {
	later, err := false, p.wrong("error.delete-name", "name", p.user().Name)
	if p.field("name") == p.user().Name {
		later, err = p.DeleteUser(p.r.Context(), p.user(), calendar.UserDeletion{Tell: p.field("tell") != ""})
	}
	if err != nil {
		return showAgain(p.pageRequest, "delete", p.deleteContent, err)
	}
	p.dropCookie(sessionCookie)
	if later {
		return p.done("sign-in", "deleted-later")
	}
	return p.done("sign-in", "deleted")
}
