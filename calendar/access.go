package calendar

import (
	"errors"
	"slices"
	"time"
)

// Scope is a set of things that a credential is good for.
type Scope uint8

// The scopes of a token. A password has ScopeAll.
const (
	ScopeRead Scope = 1 << iota
	ScopeWrite
	ScopeDelete
	ScopeShare
	ScopeInvite
	// ScopeMail is to read the mail of an account elsewhere. It is about no calendar, and whoever may do all with those has it
	// only if it was given by name.
	ScopeMail
	ScopeAll = ScopeRead | ScopeWrite | ScopeDelete | ScopeShare | ScopeInvite
	// ScopeUsual are those that a token has unless its maker says otherwise: what it does may not leave the house.
	ScopeUsual = ScopeAll &^ ScopeInvite
	// ScopeEvery are all that there are.
	ScopeEvery = ScopeAll | ScopeMail
)

// Caller is a user, and the credential that speaks for them. Each door makes
// one per request and passes it as an argument.
type Caller struct {
	User   User
	Scopes Scope
	// Token is the token used, or "" for a password or the command line.
	Token TokenID
	// Calendars are the only ones that the token reaches; nil means all of the user's.
	Calendars []CalendarID
	// Tools are the only ones that assistants are offered with the token; nil means all. The bearer of
	// such a token gets nothing that its tools do not give, by any door.
	Tools []ToolName
	// Most is the most access that the credential gives, whatever the user has; NoAccess is no
	// bound.
	Most Access
	// Expires is when the token ends; zero for never.
	Expires time.Time
	// Delegated tells that the program was let in only by the user's word (OAuth), and can ask for more.
	Delegated bool
	// Agent names the program that asks ("Claude on laptop", a User-Agent), for the journal.
	Agent string
}

// Maker names the caller's token as the maker of something; it is zero for a password, a page and the command line.
func (c Caller) Maker() Actor {
	if c.Token == "" {
		return Actor{}
	}
	return Actor{c.Token, c.Agent}
}

// Access is what a user may do with a calendar, each level including the ones before.
type Access uint8

// The levels of access.
const (
	NoAccess Access = iota
	FreeBusyAccess
	ReadAccess
	WriteAccess
	OwnerAccess
)

// accessWords are the words for the levels of access, which the store keeps, too.
var accessWords = [...]string{
	NoAccess: "none", FreeBusyAccess: "freebusy", ReadAccess: "read", WriteAccess: "read-write", OwnerAccess: "owner",
}

// Word names the level.
func (a Access) Word() string { return accessWords[a] }

// ParseAccess finds the level of a word. One that a newer program wrote means nothing here, rather than too much.
func ParseAccess(word string) Access { return Access(max(0, slices.Index(accessWords[:], word))) }

// Action is something that a caller wants to do.
type Action uint8

// The actions there are.
const (
	SeeBusy Action = iota
	ReadObjects
	WriteObjects
	DeleteObjects
	CreateCalendars
	ChangeCalendar
	DeleteCalendar
	ShareCalendar
	ListShares
	ArrangeCalendar
	LeaveCalendar
	AnswerInvitation
	TellOthers
	ReadJournal
)

// needs is the whole of the access rules: what each action takes of the calendar and of
// the credential.
var needs = [...]struct {
	access Access
	scope  Scope
	verb   string
}{
	SeeBusy:          {FreeBusyAccess, ScopeRead, "see free and busy times"},
	ReadObjects:      {ReadAccess, ScopeRead, "read"},
	WriteObjects:     {WriteAccess, ScopeWrite, "write"},
	DeleteObjects:    {WriteAccess, ScopeDelete, "delete"},
	CreateCalendars:  {NoAccess, ScopeWrite, "create calendars"},
	ChangeCalendar:   {OwnerAccess, ScopeWrite, "change the calendar"},
	DeleteCalendar:   {OwnerAccess, ScopeDelete, "delete the calendar"},
	ShareCalendar:    {OwnerAccess, ScopeShare, "share the calendar"},
	ListShares:       {OwnerAccess, ScopeRead, "see who else has the calendar"},
	ArrangeCalendar:  {ReadAccess, ScopeWrite, "set how the calendar looks"},
	LeaveCalendar:    {FreeBusyAccess, ScopeDelete, "give up the calendar"},
	AnswerInvitation: {NoAccess, ScopeWrite, "answer invitations"},
	TellOthers:       {WriteAccess, ScopeInvite, "invite others to events, or tell them of changes"},
	ReadJournal:      {WriteAccess, ScopeRead, "see who changed what"},
}

// May answers the one question of authorization: may the caller do this to this calendar?
// An object that the caller cannot see does not exist (NotFound); an action that they may not take is
// Forbidden. Of a calendar that is shared only for busy times, the rest does not exist.
func (c Caller) May(a Action, cal Calendar) error {
	need, access := needs[a], cal.Access
	if c.Most != NoAccess {
		access = min(access, c.Most)
	}
	if !c.Sees(cal) {
		return ErrNoCalendar(string(cal.ID))
	}
	if access < ReadAccess && need.access > FreeBusyAccess {
		return ErrNoCalendar(string(cal.ID)).Advising("it is shared with you for its free and busy times alone")
	}
	if access < need.access {
		return Errorf(Forbidden, RulePrivileges, "you may not %s here: the calendar %q is shared with you for less", need.verb, cal.Name)
	}
	if cal.Origin.Mirrors() && !cal.Origin.Writable && (a == WriteObjects || a == DeleteObjects) {
		return Errorf(Forbidden, RulePrivileges, "%q shows what is at %s, which takes no changes from here", cal.Name, cal.Origin.From)
	}
	if a == ShareCalendar && (cal.Subscribed() || cal.Note) {
		// The properties that the owner's apps keep of it, its address above all, are only the owner's.
		return Errorf(Forbidden, RulePrivileges, "%q is a subscription: give others the address that it follows instead", cal.Name)
	}
	return c.HasScope(a)
}

// SeesBusyAlone tells whether the caller is told of a calendar when its owner is busy, and nothing else.
func (c Caller) SeesBusyAlone(cal Calendar) bool {
	return c.May(SeeBusy, cal) == nil && c.May(ReadObjects, cal) != nil
}

// MayLook tells whether the caller may see what is in a calendar, be it no more than its busy times.
func (c Caller) MayLook(cal Calendar) error {
	if c.SeesBusyAlone(cal) {
		return nil
	}
	return c.May(ReadObjects, cal)
}

// MayCreate tells whether the caller may make new calendars: a token that is bound to
// some calendars may not, since it could not see what it made.
func (c Caller) MayCreate() error {
	if c.Calendars != nil {
		return Errorf(Forbidden, RulePrivileges, "this token is bound to certain calendars and cannot create others")
	}
	return c.HasScope(CreateCalendars)
}

// MayOwn answers for what belongs to the user and to no calendar: the home and the
// principal. They are out of reach for a token that is bound to some calendars.
func (c Caller) MayOwn(a Action) error {
	if c.Calendars != nil {
		return Errorf(Forbidden, RulePrivileges, "this token is bound to certain calendars and reaches nothing else of yours")
	}
	return c.HasScope(a)
}

// Sees tells whether the calendar exists as far as the caller is concerned.
func (c Caller) Sees(cal Calendar) bool {
	return cal.Access > NoAccess && (c.Calendars == nil || slices.Contains(c.Calendars, cal.ID))
}

// AllSeen leaves those that exist as far as the caller is concerned.
func (c Caller) AllSeen(all []Calendar) []Calendar {
	return slices.DeleteFunc(all, func(cal Calendar) bool { return !c.Sees(cal) })
}

// HasScope tells whether the credential is good for an action.
func (c Caller) HasScope(a Action) error {
	if need := needs[a]; c.Scopes&need.scope != need.scope {
		return Errorf(Forbidden, RulePrivileges, "this token may not %s: it lacks the scope", need.verb)
	}
	return nil
}

// untold are the words of a refusal for a caller who may not read: they name no object and no calendar.
var untold = [...]struct {
	rule  Rule
	words string
}{
	{RuleUIDConflict, "there is an object with this UID, or another one at this address"},
	{RuleSupportedKind, "the calendar does not take what this is"},
}

// Told is a refusal without what the caller may not read: the tag of an object, by which its content could be
// guessed, its name, and the calendar's.
func (c Caller) Told(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || c.Scopes&ScopeRead != 0 {
		return err
	}
	less := *e
	less.Conflict = ""
	for _, u := range untold {
		if u.rule == e.Rule {
			less.Message, less.Hint = u.words, ""
		}
	}
	if e.Reason == Stale {
		less.Message, less.Hint = "the object is not what you expect it to be", ""
	}
	return &less
}

// ErrNoCalendar says that there is no such calendar, or none that the caller sees.
func ErrNoCalendar(name string) *Error {
	return Errorf(NotFound, "", "no calendar %q", name)
}

// ErrNoUID says that a calendar has no object with a UID.
func ErrNoUID(uid UID) error {
	return Errorf(NotFound, "", "no object with the UID %q in this calendar", string(uid))
}

// ErrNoObject says that a calendar has no object of a name.
func ErrNoObject(name ObjectName) error {
	return Errorf(NotFound, "", "no object %q in this calendar", string(name))
}
