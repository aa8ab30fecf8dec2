package calendar

import (
	"errors"
	"slices"
	"time"
)

// Scope is a set of permissions of a credential.
type Scope uint8

// The scopes of a token. A password has ScopeAll.
const (
	ScopeRead Scope = 1 << iota
	ScopeWrite
	ScopeDelete
	ScopeShare
	ScopeInvite
	// ScopeMail allows reading the mail of a linked account. It concerns no calendar, so ScopeAll leaves it out: a
	// token has it only if it was granted by name.
	ScopeMail
	// ScopePropose allows proposing changes that the user accepts or declines. ScopeAll leaves it out: a caller with
	// ScopeWrite makes changes at once.
	ScopePropose
	ScopeAll = ScopeRead | ScopeWrite | ScopeDelete | ScopeShare | ScopeInvite
	// ScopeUsual is the default of a new token. It leaves out ScopeInvite, so nothing that the token does is sent
	// to other people.
	ScopeUsual = ScopeAll &^ ScopeInvite
	// ScopeEvery is every scope.
	ScopeEvery = ScopeAll | ScopeMail | ScopePropose
)

// Caller is a user and the credential they use. The CalDAV server, the MCP server, the web pages and the command
// line make one per request and pass it as an argument.
type Caller struct {
	// User is the user whose calendars the request is about.
	User   User
	Scopes Scope
	// Delegate makes the request as a delegate of User; zero if User makes it. Most is the access of the delegation.
	// See docs/decisions/0103-delegates.md.
	Delegate User
	// ForOthers allows the credential to use the calendars of users who made its user their delegate.
	ForOthers bool
	// Mails are the proven addresses of the user, in lower case, where an entry point loaded them; nil elsewhere.
	Mails []string
	// Token is the token used, or "" for a password or the command line.
	Token TokenID
	// Calendars limits the token to these calendars; nil means all of the user's.
	Calendars []CalendarID
	// Rights limits the token in each calendar further.
	Rights Rights
	// Tools limits the tools that the token offers to assistants; nil means all. The limit also holds for CalDAV:
	// such a token allows nothing that its tools do not allow.
	Tools []ToolName
	// Most caps the access that the credential gives, even if the user has more; NoAccess means no cap.
	Most Access
	// Expires is when the token expires; zero means never.
	Expires time.Time
	// Delegated is set when the user authorized the program through OAuth, so the program can ask for more scopes.
	Delegated bool
	// Agent names the client ("Claude on laptop", a User-Agent) for the journal.
	Agent string
	// Assistant is set for a request through MCP.
	Assistant bool
	// Proposes is set while a caller with ScopePropose plans a change that it may not make. No change commits then.
	Proposes bool
}

// scopesProposed are the scopes that ScopePropose stands in for.
const scopesProposed = ScopeWrite | ScopeDelete | ScopeInvite

// Proposing returns the caller as it plans changes that it may only propose.
func (c Caller) Proposing() Caller {
	c.Scopes |= scopesProposed
	c.Proposes = true
	return c
}

// MayPropose reports whether the caller needs to propose a change that takes some scopes, and may.
func (c Caller) MayPropose(needs Scope) bool {
	lacks := needs &^ c.Scopes
	return lacks != 0 && lacks&^scopesProposed == 0 && c.Scopes&ScopePropose != 0 && !c.ActsFor()
}

// Maker returns the caller's token as the creator of something. It is zero for a password, a page and the command
// line.
func (c Caller) Maker() Actor {
	if c.Token == "" {
		return Actor{}
	}
	return Actor{c.Token, c.Agent}
}

// Access is what a user may do with a calendar. Each level includes all lower ones.
type Access uint8

// The levels of access.
const (
	NoAccess Access = iota
	FreeBusyAccess
	ReadAccess
	WriteAccess
	OwnerAccess
)

// accessWords are the stored words for the levels of access.
var accessWords = [...]string{
	NoAccess: "none", FreeBusyAccess: "freebusy", ReadAccess: "read", WriteAccess: "read-write", OwnerAccess: "owner",
}

// Word returns the stored word for the level.
func (a Access) Word() string { return accessWords[a] }

// ParseAccess returns the level for a word. A word that only a newer version knows means NoAccess.
func ParseAccess(word string) Access { return Access(max(0, slices.Index(accessWords[:], word))) }

// Action is an operation that needs authorization.
type Action uint8

// The actions.
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
	CleanInbox
	TellOthers
	ReadJournal
	AppointDelegates
)

// never is the delegation of actions that no delegate may do.
const never = OwnerAccess

// needs holds all access rules: the access to the calendar and the scope that each action requires, and the delegation
// that it requires of a delegate.
var needs = [...]struct {
	access     Access
	scope      Scope
	delegation Access
	verb       string
}{
	SeeBusy:          {FreeBusyAccess, ScopeRead, ReadAccess, "see free and busy times"},
	ReadObjects:      {ReadAccess, ScopeRead, ReadAccess, "read"},
	WriteObjects:     {WriteAccess, ScopeWrite, WriteAccess, "write"},
	DeleteObjects:    {WriteAccess, ScopeDelete, WriteAccess, "delete"},
	CreateCalendars:  {NoAccess, ScopeWrite, never, "create calendars"},
	ChangeCalendar:   {OwnerAccess, ScopeWrite, never, "change the calendar"},
	DeleteCalendar:   {OwnerAccess, ScopeDelete, never, "delete the calendar"},
	ShareCalendar:    {OwnerAccess, ScopeShare, never, "share the calendar"},
	ListShares:       {OwnerAccess, ScopeRead, never, "see who else has the calendar"},
	ArrangeCalendar:  {ReadAccess, ScopeWrite, never, "set how the calendar looks"},
	LeaveCalendar:    {FreeBusyAccess, ScopeDelete, never, "give up the calendar"},
	AnswerInvitation: {NoAccess, ScopeWrite, never, "answer invitations"},
	CleanInbox:       {NoAccess, ScopeWrite, WriteAccess, "delete messages from the inbox"},
	TellOthers:       {WriteAccess, ScopeInvite, WriteAccess, "invite others to events, or tell them of changes"},
	ReadJournal:      {WriteAccess, ScopeRead, WriteAccess, "see who changed what"},
	AppointDelegates: {NoAccess, ScopeShare, never, "appoint delegates"},
}

// May authorizes an action on a calendar. A calendar that the caller cannot see does not exist (NotFound); a
// visible calendar that does not permit the action is Forbidden. A calendar shared only for its busy times has no
// objects as far as the caller can see.
func (c Caller) May(a Action, cal Calendar) error {
	need, access := needs[a], cal.Access
	if c.Most != NoAccess {
		access = min(access, c.Most)
	}
	if !c.Sees(cal) {
		return ErrNoCalendar(string(cal.ID))
	}
	if access < ReadAccess && need.access > FreeBusyAccess {
		return ErrNoCalendar(string(cal.ID)).Advising("it is shared with you only for its free and busy times")
	}
	if err := c.delegated(a); err != nil {
		return err
	}
	if access < need.access {
		return Errorf(Forbidden, RulePrivileges, "you may not %s here: the calendar %q is shared with you for less",
			need.verb, cal.Name)
	}
	if cal.Origin.Mirrors() && !cal.Origin.Writable && (a == WriteObjects || a == DeleteObjects) {
		return Errorf(Forbidden, RulePrivileges, "%q mirrors a calendar of %s and takes no changes from here", cal.Name,
			cal.Origin.From)
	}
	if a == ShareCalendar && cal.Private() {
		// The owner's clients keep properties of a subscription, such as its feed's address, that are private to
		// the owner.
		return Errorf(Forbidden, RulePrivileges,
			"%q is a subscription: give others the address that it follows instead", cal.Name)
	}
	err := lacking(a, c.scopesWith(c.Rights.In(cal.ID)))
	if err != nil && !c.Proposes && (a == WriteObjects || a == DeleteObjects) && c.RightIn(cal) == RightPropose {
		err.Cause = ErrMayPropose
	}
	if err == nil {
		return nil
	}
	return err
}

// SeesBusyAlone reports whether the caller sees the calendar's busy times and nothing more.
func (c Caller) SeesBusyAlone(cal Calendar) bool {
	return c.May(SeeBusy, cal) == nil && c.May(ReadObjects, cal) != nil
}

// MayLook authorizes reading a calendar's objects, or only its busy times.
func (c Caller) MayLook(cal Calendar) error {
	if c.SeesBusyAlone(cal) {
		return nil
	}
	return c.May(ReadObjects, cal)
}

// MayCreate authorizes creating calendars. A token that is limited to certain calendars may not create others,
// since it could not see them.
func (c Caller) MayCreate() error {
	if c.Calendars != nil {
		return Errorf(Forbidden, RulePrivileges, "this token is limited to certain calendars and cannot create others")
	}
	return c.hasScopeElsewhere(CreateCalendars)
}

// MayOwn authorizes an action on the user's home or principal, which belong to no calendar. A token that is limited
// to certain calendars cannot reach them.
func (c Caller) MayOwn(a Action) error {
	if c.Calendars != nil {
		return Errorf(Forbidden, RulePrivileges,
			"this token is limited to certain calendars and cannot access anything else")
	}
	return c.hasScopeElsewhere(a)
}

// hasScopeElsewhere is HasScope outside of the calendars that Rights names.
func (c Caller) hasScopeElsewhere(a Action) error {
	c.Scopes = c.scopesWith(c.Rights.Elsewhere())
	return c.HasScope(a)
}

// Sees reports whether the caller can see that the calendar exists. A delegate sees the calendars that the user owns,
// but no subscriptions: clients keep their secret addresses in properties.
func (c Caller) Sees(cal Calendar) bool {
	if c.ActsFor() && (cal.Owner != c.User.ID || cal.Private()) || cal.Proposed() && !c.seesProposed() {
		return false
	}
	return cal.Access > NoAccess && (c.Calendars == nil || slices.Contains(c.Calendars, cal.ID))
}

// seesProposed reports whether the caller sees the calendar "Proposed": only users do, with credentials that may accept
// suggestions.
func (c Caller) seesProposed() bool {
	return !c.Assistant && !c.ActsFor() && c.MayOwn(ChangeCalendar) == nil
}

// AllSeen removes the calendars that the caller cannot see.
func (c Caller) AllSeen(all []Calendar) []Calendar {
	return slices.DeleteFunc(all, func(cal Calendar) bool { return !c.Sees(cal) })
}

// HasScope returns an error if the credential lacks the scope for an action, or a delegate lacks the delegation.
func (c Caller) HasScope(a Action) error {
	if err := c.delegated(a); err != nil {
		return err
	}
	if err := lacking(a, c.Scopes); err != nil {
		return err
	}
	return nil
}

// lacking returns an error if the scopes do not allow an action.
func lacking(a Action, scopes Scope) *Error {
	if need := needs[a]; scopes&need.scope != need.scope {
		return Errorf(Forbidden, RulePrivileges, "this token may not %s: it lacks the scope", need.verb)
	}
	return nil
}

// delegated returns an error if the caller is a delegate who may not do this.
func (c Caller) delegated(a Action) error {
	if need := needs[a]; c.ActsFor() && c.Most < need.delegation {
		return Errorf(Forbidden, RulePrivileges, "as a delegate of %q you may not %s", c.User.Name, need.verb)
	}
	return nil
}

// untold holds replacement messages for callers without ScopeRead. They name no object and no calendar.
var untold = [...]struct {
	rule  Rule
	words string
}{
	{RuleUIDConflict, "there is an object with this UID, or another one at this address"},
	{RuleSupportedKind, "the calendar does not accept this kind of object"},
}

// Told removes from an error the details that need ScopeRead: the names of the object and the calendar, and the
// ETag, which would let the caller guess the content.
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

// ErrNoCalendar reports that a calendar does not exist or that the caller cannot see it.
func ErrNoCalendar(name string) *Error {
	return Errorf(NotFound, "", "no calendar %q", name)
}

// ErrNoUID reports that a calendar has no object with the UID.
func ErrNoUID(uid UID) error {
	return Errorf(NotFound, "", "no object with the UID %q in this calendar", string(uid))
}

// ErrNoObject reports that a calendar has no object with the name.
func ErrNoObject(name ObjectName) error {
	return Errorf(NotFound, "", "no object %q in this calendar", string(name))
}
