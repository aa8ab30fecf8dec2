package auth

import (
	"context"
	"fmt"
	"net/mail"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/locale"
)

// NewUser describes a new user. Only Name and Password are required.
type NewUser struct {
	Name, DisplayName, Email string
	// Timezone is an IANA name.
	Timezone string
	// Language is the language of pages and mails; "" is the browser's. BrowserLanguage is for mails before the first
	// sign-in.
	Language, BrowserLanguage string
	Password                  string
	// WeekStart and View are as in [UserEdit].
	WeekStart string
	View      calendar.ViewSettings
	// Invited creates a user without a password: they choose one through a link, or sign in elsewhere.
	Invited bool
	Admin   bool
	// Room creates a room or a resource, which cannot sign in.
	Room calendar.Room
}

// userName is the syntax of user names. They appear in URLs and in Basic credentials: no colon (RFC 7617 §2), no slash,
// and no character that clients encode differently.
var userName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@-]{0,63}$`)

const (
	maxTitle = 200
	maxEmail = 254 // RFC 5321 §4.5.3.1.3, without the angle brackets
)

// CanonicalName returns the stored, lower-case form of a user name: people type theirs with a capital, and phones add
// one.
func CanonicalName(name string) (string, error) {
	lower := strings.ToLower(name)
	if !userName.MatchString(lower) {
		return "", invalid("%q is no user name: use 1 to 64 letters a-z, digits, '.', '_', '@' or '-', beginning "+
			"with a letter or a digit",
			shortened(name, maxTitle))
	}
	return lower, nil
}

// CreateUser creates a user.
func (s *Directory) CreateUser(ctx context.Context, n NewUser) (calendar.User, error) {
	name, err := CanonicalName(n.Name)
	if err != nil {
		return calendar.User{}, err
	}
	if err := n.validate(); err != nil {
		return calendar.User{}, err
	}
	if err := s.CheckAddress(ctx, calendar.User{Name: name}, n.Email); err != nil {
		return calendar.User{}, err
	}
	var h Hash
	if !n.Invited {
		if h, err = s.verifier.hash(ctx, n.Password); err != nil {
			return calendar.User{}, err
		}
	}
	u := calendar.User{
		ID: calendar.UserID(s.newID()), Name: name, DisplayName: n.DisplayName, Email: stored(n.Email),
		Timezone: n.Timezone, Created: s.seconds(), Admin: n.Admin, Room: n.Room,
		Language: n.Language, BrowserLanguage: n.BrowserLanguage, WeekStart: n.WeekStart, View: n.View,
	}
	err = reworded(s.store.InsertUser(ctx, u, h), calendar.Exists, "there is a user %q already", name)
	return u, during("creating the user", err)
}

func (n NewUser) validate() error {
	if err := (UserEdit{
		DisplayName: &n.DisplayName, Email: &n.Email, Timezone: &n.Timezone, Capacity: &n.Room.Capacity,
		Language: &n.Language, BrowserLanguage: &n.BrowserLanguage, WeekStart: &n.WeekStart, View: &n.View,
	}).Validate(); err != nil {
		return err
	}
	if n.Invited {
		return nil
	}
	return validatePassword(n.Password)
}

// UserEdit changes a user's properties: nil leaves a property unchanged, an empty text clears it.
type UserEdit struct {
	DisplayName, Email, Timezone         *string
	WeekStart, WorkingDays, WorkingHours *string
	View                                 *calendar.ViewSettings
	// Language and BrowserLanguage are tags of catalogs in package locale.
	Language, BrowserLanguage *string
	// Only administrators may set Admin and Disabled.
	Admin, Disabled *bool
	// Only administrators may set the quotas; see [calendar.Quota].
	QuotaCalendars, QuotaObjects, QuotaBytes *int64
	// Capacity, Bookers and ByHand belong to rooms; see [calendar.Room].
	Capacity *int64
	Bookers  *string
	ByHand   *bool
}

// Validate rejects invalid values.
func (e UserEdit) Validate() error {
	for _, part := range [...]struct {
		text  *string
		check func(string) error
	}{
		{e.DisplayName, validateTitle},
		{e.Email, validateEmail},
		{e.Timezone, CheckTimezone},
		{e.WeekStart, checkWeekStart},
		{e.WorkingDays, checkWorkingDays},
		{e.WorkingHours, checkWorkingHours},
		{e.Language, checkLanguage},
		{e.BrowserLanguage, checkLanguage},
	} {
		if part.text == nil {
			continue
		}
		if err := part.check(*part.text); err != nil {
			return err
		}
	}
	if e.View != nil {
		if err := checkView(*e.View); err != nil {
			return err
		}
	}
	if e.Capacity != nil && *e.Capacity < 0 {
		return invalid("a room takes a number of people, or 0 for any number")
	}
	for _, bound := range [...]*int64{e.QuotaCalendars, e.QuotaObjects, e.QuotaBytes} {
		if bound != nil && *bound < calendar.Unbounded {
			return invalid("a quota is a number, none or default")
		}
	}
	return nil
}

// Leaves reports whether the edit would leave the user unchanged.
func (e UserEdit) Leaves(u calendar.User) bool {
	return left(e.DisplayName, u.DisplayName) && left(e.Email, u.Email) && left(e.Timezone, u.Timezone) &&
		left(e.WeekStart, u.WeekStart) && left(e.WorkingDays, u.WorkingDays) && left(e.WorkingHours, u.WorkingHours) &&
		left(e.View, u.View) &&
		left(e.Language, u.Language) && left(e.BrowserLanguage, u.BrowserLanguage) &&
		left(e.Admin, u.Admin) && left(e.Disabled, u.Disabled) &&
		left(e.Capacity, u.Room.Capacity) && left(e.Bookers, u.Room.Bookers) && left(e.ByHand, u.Room.ByHand) &&
		left(e.QuotaCalendars, u.Quota.Calendars) && left(e.QuotaObjects, u.Quota.Objects) &&
		left(e.QuotaBytes, u.Quota.Bytes)
}

func left[T comparable](next *T, now T) bool { return next == nil || *next == now }

// ChangeUser changes a user's properties, in every process at once, and returns the changed user.
func (s *Directory) ChangeUser(ctx context.Context, name string, e UserEdit) (calendar.User, error) {
	u, err := s.User(ctx, name)
	if err != nil {
		return u, err
	}
	if err := e.Validate(); err != nil {
		return u, err
	}
	if e.Email != nil {
		if err := s.CheckAddress(ctx, u, *e.Email); err != nil {
			return u, err
		}
		e.Email = new(stored(*e.Email))
	}
	if e.Admin != nil && *e.Admin {
		if err := notARoom(u); err != nil {
			return u, err
		}
	}
	if err := s.store.ChangeUser(ctx, u.ID, e); err != nil {
		return u, fmt.Errorf("changing the user: %w", err)
	}
	return s.User(ctx, name)
}

// validateTitle rejects texts that are too long or do not print as one line.
func validateTitle(text string) error {
	if utf8.RuneCountInString(text) > maxTitle {
		return invalid("the name is longer than %d characters", maxTitle)
	}
	if !printable(text) {
		return invalid("the name has a line break, another control character or bytes that are not UTF-8")
	}
	return nil
}

func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func validateEmail(email string) error {
	if email == "" {
		return nil
	}
	// ParseAddress accepts more than a bare address ("Alice <alice@example.com>"); such input differs from the result.
	if a, err := mail.ParseAddress(email); err != nil || a.Address != email || len(email) > maxEmail ||
		!printable(email) {
		return invalid("%q is no e-mail address; it looks like name@example.com", shortened(email, maxTitle))
	}
	return nil
}

// CheckTimezone rejects unknown time zones. An empty name is valid and means none.
func CheckTimezone(name string) error {
	if name == "" {
		return nil
	}
	chosen, err := zone.Choose(name)
	switch {
	case err != nil:
		return invalid("%v", err)
	case chosen != name:
		return invalid("%q is no time zone; did you mean %s?", shortened(name, maxTitle), chosen)
	}
	return nil
}

func checkLanguage(tag string) error {
	all, err := locale.Load()
	if err != nil || tag == "" || all.Find(tag) != nil {
		return err
	}
	var known []string
	for _, l := range all.Languages() {
		known = append(known, l.Tag())
	}
	return invalid("there is no language %q; choose one of %s", shortened(tag, maxTitle), strings.Join(known, ", "))
}

// Users returns all users, by name.
func (s *Directory) Users(ctx context.Context) ([]calendar.User, error) {
	all, err := s.store.Users(ctx)
	return all, during("listing users", err)
}

// UserNames returns all users by name, with nothing but their id, name, display name and main address. It is fast
// with thousands of users.
func (s *Directory) UserNames(ctx context.Context) ([]calendar.User, error) {
	all, err := s.store.UserNames(ctx)
	return all, during("listing users", err)
}

// User returns a user by name, or NotFound.
func (s *Directory) User(ctx context.Context, name string) (calendar.User, error) {
	canonical, err := CanonicalName(name)
	if err != nil {
		return calendar.User{}, err
	}
	u, err := s.store.UserByName(ctx, canonical)
	return u, during("looking up the user", reworded(err, calendar.NotFound, "there is no user %q", canonical))
}

// idOf returns a user's id by name; an empty name gives an empty id.
func (s *Directory) idOf(ctx context.Context, name string) (calendar.UserID, error) {
	if name == "" {
		return "", nil
	}
	u, err := s.User(ctx, name)
	return u.ID, err
}

// SetPassword replaces a user's password. The old one and all sessions end at once, in every process; tokens stay
// valid.
func (s *Directory) SetPassword(ctx context.Context, name, password string) error {
	u, err := s.User(ctx, name)
	if err != nil {
		return err
	}
	return s.setPassword(ctx, u, password, "")
}

// ChangePassword replaces the password of a signed-in user. Their present session stays.
func (s *Directory) ChangePassword(ctx context.Context, session Session, password string) error {
	return s.setPassword(ctx, session.User, password, session.ID)
}

func (s *Directory) setPassword(ctx context.Context, u calendar.User, password string, but SessionID) error {
	if err := notARoom(u); err != nil {
		return err
	}
	if err := validatePassword(password); err != nil {
		return err
	}
	h, err := s.verifier.hash(ctx, password)
	if err != nil {
		return err
	}
	if err := s.store.SetPassword(ctx, u.ID, h); err != nil {
		return fmt.Errorf("setting the password: %w", err)
	}
	return s.sessions.EndSessions(ctx, u, but)
}

// notARoom refuses to let a room sign in.
func notARoom(u calendar.User) error {
	if u.Room.Bookable() {
		return invalid("%s is a %s: rooms and resources cannot sign in", u.Name, u.Room.Kind)
	}
	return nil
}

// EndAccess ends a user's sessions, tokens, app passwords, OAuth grants, codes and password links in every process. The
// password and its second factors stay.
func (s *Directory) EndAccess(ctx context.Context, u calendar.User) error {
	return during("ending the user's access", s.store.EndAccess(ctx, u.ID, s.seconds()))
}

// MayDeleteUser returns the error that DeleteUser would return, without deleting anything.
func (s *Directory) MayDeleteUser(ctx context.Context, u calendar.User) error {
	return s.store.KeepsAdministrator(ctx, u.ID)
}

// DeleteUser removes a user and everything that belongs to them.
func (s *Directory) DeleteUser(ctx context.Context, name string) error {
	u, err := s.User(ctx, name)
	if err != nil {
		return err
	}
	return during("deleting the user", s.store.DeleteUser(ctx, u.ID))
}

// shortened returns at most so many characters of a text.
func shortened(text string, most int) string {
	for i := range text {
		if most == 0 {
			return text[:i]
		}
		most--
	}
	return text
}
