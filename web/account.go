package web

import (
	"archive/zip"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) accountPages() []page {
	return []page{
		get("settings", people, (*visit).settings),
		post("settings", people, (*visit).saveSettings),
		postBack("settings/addresses", people, "settings", (*visit).addAddress),
		postBack("settings/addresses/main", people, "settings", (*visit).chooseAddress),
		postBack("settings/addresses/remove", people, "settings", (*visit).removeAddress),
		get("export", proven, (*visit).exportAll),
		get("delete", proven, showing("delete", (*visit).deleteContent)),
		post("delete", proven, (*visit).deleteAccount),
	}
}

// settingsContent is the data of the settings page.
type settingsContent struct {
	User      calendar.User
	WeekStart []choice
	Days      []choice
	// Opens and Closes are the working hours.
	Opens, Closes string
	Addresses     []auth.Address
	// Proofs is set if the server can send a verification link to an address.
	Proofs bool
	// Digest holds the digest settings; nil if the server sends no digests.
	Digest *digestContent
}

// dayNames are the names of the weekdays, in the order of [auth.Weekdays].
var dayNames = []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}

// dayChoices returns the weekdays as choices, with the given ones ticked.
func dayChoices(chosen ...string) []choice {
	var all []choice
	for i, day := range auth.Weekdays() {
		all = append(all, choice{day, dayNames[i], slices.Contains(chosen, day)})
	}
	return all
}

func (v *visit) settingsContent(u calendar.User) (settingsContent, error) {
	addresses, err := v.Auth.Addresses(v.r.Context(), u)
	if err != nil {
		return settingsContent{}, err
	}
	digest, err := v.digestContent(u)
	opens, closes, _ := strings.Cut(u.WorkingHours, "-")
	return settingsContent{
		User: u, WeekStart: dayChoices(cmp.Or(u.WeekStart, "mon")), Addresses: addresses, Proofs: v.Proofs != nil, Digest: digest,
		Days: dayChoices(strings.Fields(cmp.Or(u.WorkingDays, "mon tue wed thu fri"))...), Opens: cmp.Or(opens, "09:00"), Closes: cmp.Or(closes, "17:00"),
	}, err
}

func (v *visit) settings() error { return v.showSettings(v.user(), nil) }

// showSettings shows the page, with an error if there is one.
func (v *visit) showSettings(u calendar.User, wrong error) error {
	content, err := v.settingsContent(u)
	if err != nil {
		return err
	}
	if wrong != nil {
		return v.again("settings", content, wrong)
	}
	return v.show("settings", content)
}

func (v *visit) saveSettings() error {
	u := v.user()
	u.DisplayName, u.Timezone, u.WeekStart = v.field("display-name"), v.field("timezone"), v.field("week-start")
	u.WorkingDays = strings.Join(v.r.PostForm["day"], " ")
	u.WorkingHours = v.field("opens") + "-" + v.field("closes")
	_, err := v.ChangeUser(v.r.Context(), u.Name, auth.UserEdit{
		DisplayName: &u.DisplayName, Timezone: &u.Timezone, WeekStart: &u.WeekStart, WorkingDays: &u.WorkingDays, WorkingHours: &u.WorkingHours,
	})
	if err != nil {
		return v.showSettings(u, err)
	}
	return v.done("settings", "saved")
}

func (v *visit) addAddress() error {
	address := strings.ToLower(v.field("address"))
	err := v.Auth.AddAddress(v.r.Context(), v.user(), address)
	if err != nil || v.Proofs == nil {
		return v.settled(err, "address-added")
	}
	return v.settled(v.sendProofTo(address), "proof-sent")
}

func (v *visit) chooseAddress() error {
	return v.settled(v.Auth.MainAddress(v.r.Context(), v.user(), v.field("address")), "saved")
}

func (v *visit) removeAddress() error {
	return v.settled(v.Auth.DropAddress(v.r.Context(), v.user(), v.field("address")), "saved")
}

// settled redirects to the settings with a notice, or shows them with the error.
func (v *visit) settled(err error, notice string) error {
	if err != nil {
		return v.showSettings(v.user(), err)
	}
	return v.done("settings", notice)
}

// ownCalendars returns the calendars that are deleted with the account.
func (v *visit) ownCalendars() ([]calendar.Calendar, error) {
	all, err := v.Service.CalendarsInHome(v.r.Context(), v.caller())
	return slices.DeleteFunc(all, func(cal calendar.Calendar) bool {
		return cal.Access != calendar.OwnerAccess || cal.Subscribed()
	}), err
}

// exportAll sends all of the visitor's own calendars, one file each. It streams, so an error midway cuts the
// connection: a partial export must not look complete.
func (v *visit) exportAll() error {
	own, err := v.ownCalendars()
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", "application/zip")
	v.w.Header().Set("Content-Disposition", `attachment; filename="calendars.zip"`)
	archive := zip.NewWriter(v.w)
	for _, cal := range own {
		file, err := archive.Create(string(cal.Segment) + ".ics")
		if err == nil {
			_, err = v.Service.Backup(v.r.Context(), v.caller(), cal, file, func(calendar.Object, error) {})
		}
		v.orBreak(err)
	}
	v.orBreak(archive.Close())
	return nil
}

// orBreak cuts the connection of a response that cannot be completed.
func (v *visit) orBreak(err error) {
	if err != nil {
		v.Logger.WarnContext(v.r.Context(), "an export ended early", "error", err)
		panic(http.ErrAbortHandler)
	}
}

// deleteContent lists everything that is deleted with the account.
type deleteContent struct {
	Calendars []calendar.Calendar
	Apps      int
}

func (v *visit) deleteContent() (deleteContent, error) {
	own, err := v.ownCalendars()
	if err != nil {
		return deleteContent{}, err
	}
	tokens, err := v.Auth.Tokens(v.r.Context(), v.user().Name)
	return deleteContent{own, len(tokens)}, err
}

func (v *visit) deleteAccount() error {
	var err error = calendar.Errorf(calendar.Invalid, "", "type your user name, %s, to say that you mean it", v.user().Name)
	if v.field("name") == v.user().Name {
		err = v.Auth.DeleteUser(v.r.Context(), v.user().Name)
	}
	if err != nil {
		return showAgain(v, "delete", (*visit).deleteContent, err)
	}
	v.dropCookie(sessionCookie)
	return v.done("sign-in", "deleted")
}
