package caldav

import (
	"fmt"
	"net/http"
	"strings"

	"caldav-mcp-server/calendar"
)

// failure is a refusal as the wire has it: a status, and the condition that was not met
// where an RFC names one.
type failure struct {
	status int
	// condition is the element of the broken pre- or postcondition (RFC 4918 §16), with its
	// prefix; "" for none.
	condition string
	// details writes what the condition holds; nil for nothing.
	details func(*markup)
	message string
	// cause is only for the log.
	cause error
}

// Error returns what a person may read.
func (f *failure) Error() string { return f.message }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

func refuseWith(status int, format string, args ...any) *failure {
	return &failure{status: status, message: fmt.Sprintf(format, args...)}
}

// breach is a broken condition. RFC 4791 §1.3: 403 says that the same request fails again.
func breach(condition, format string, args ...any) *failure {
	return &failure{status: http.StatusForbidden, condition: condition, message: fmt.Sprintf(format, args...)}
}

// statuses is what each reason of the middle is called in HTTP.
var statuses = [...]int{
	calendar.Internal:    http.StatusInternalServerError,
	calendar.NotFound:    http.StatusNotFound,
	calendar.Exists:      http.StatusConflict,
	calendar.Invalid:     http.StatusBadRequest,
	calendar.Forbidden:   http.StatusForbidden,
	calendar.Stale:       http.StatusPreconditionFailed,
	calendar.TooLarge:    http.StatusRequestEntityTooLarge,
	calendar.Unsupported: http.StatusNotImplemented,
	calendar.Unavailable: http.StatusServiceUnavailable,
}

// conditions is what each rule of the middle is called in XML. RFC 4791 §1.3: 403 for what
// fails again when it is sent again, 409 for what the user may resolve.
var conditions = map[calendar.Rule]struct {
	status int
	tag    string
}{
	// RFC 4791 §5.3.2.1
	calendar.RuleValidData:     {http.StatusForbidden, "c:valid-calendar-data"},
	calendar.RuleValidObject:   {http.StatusForbidden, "c:valid-calendar-object-resource"},
	calendar.RuleSupportedData: {http.StatusForbidden, "c:supported-calendar-data"},
	calendar.RuleSupportedKind: {http.StatusForbidden, "c:supported-calendar-component"},
	calendar.RuleUIDConflict:   {http.StatusConflict, "c:no-uid-conflict"},
	calendar.RuleMaxSize:       {http.StatusForbidden, "c:max-resource-size"},
	calendar.RuleMinDate:       {http.StatusForbidden, "c:min-date-time"},
	calendar.RuleMaxDate:       {http.StatusForbidden, "c:max-date-time"},
	calendar.RuleMaxInstances:  {http.StatusForbidden, "c:max-instances"},
	calendar.RuleMaxAttendees:  {http.StatusForbidden, "c:max-attendees-per-instance"},
	// RFC 6638 §3.2.4, §4.3, §5, §9.2
	calendar.RuleUniqueScheduling: {http.StatusConflict, "c:unique-scheduling-object-resource"},
	calendar.RuleSameOrganizer:    {http.StatusForbidden, "c:same-organizer-in-all-components"},
	calendar.RuleOrganizerChange:  {http.StatusForbidden, "c:allowed-organizer-scheduling-object-change"},
	calendar.RuleAttendeeChange:   {http.StatusForbidden, "c:allowed-attendee-scheduling-object-change"},
	calendar.RuleValidMessage:     {http.StatusForbidden, "c:valid-scheduling-message"},
	calendar.RuleValidOrganizer:   {http.StatusForbidden, "c:valid-organizer"},
	calendar.RuleDefaultCalendar:  {http.StatusForbidden, "c:valid-schedule-default-calendar-URL"},
	calendar.RuleDefaultNeeded:    {http.StatusForbidden, "c:default-calendar-needed"},
	// RFC 7809 §3.1.5
	calendar.RuleValidTimezone: {http.StatusForbidden, "c:valid-timezone"},
	// RFC 4791 §5.3.1.1
	calendar.RuleResourceMustBeNil: {http.StatusForbidden, "d:resource-must-be-null"},
	calendar.RuleCalendarsOnlyHere: {http.StatusForbidden, "c:calendar-collection-location-ok"},
	// RFC 4791 §7.5.1
	calendar.RuleCollation: {http.StatusForbidden, "c:supported-collation"},
	// RFC 4791 §7.8
	calendar.RuleTooManyMatches: {http.StatusForbidden, "d:number-of-matches-within-limits"},
	// RFC 6578 §3.2
	calendar.RuleSyncToken: {http.StatusForbidden, "d:valid-sync-token"},
	// RFC 4331 §6
	calendar.RuleDiskSpace: {http.StatusInsufficientStorage, "d:sufficient-disk-space"},
	calendar.RuleQuota:     {http.StatusInsufficientStorage, "d:quota-not-exceeded"},
	// RFC 3744 §7.1.1
	calendar.RulePrivileges: {http.StatusForbidden, "d:need-privileges"},
}

// translate says an error of the middle in the words of the wire.
func (x *exchange) translate(e *calendar.Error) *failure {
	f := &failure{status: statuses[e.Reason], message: e.Error(), cause: e.Cause}
	if row, ok := conditions[e.Rule]; ok {
		f.status, f.condition = row.status, row.tag
	}
	if (e.Rule == calendar.RuleUIDConflict || e.Rule == calendar.RuleUniqueScheduling) && e.Conflict != "" {
		f.details = x.conflictAt(e)
	}
	if e.Rule == calendar.RulePrivileges {
		f.details = x.neededPrivilege
	}
	return f
}

// conflictAt names the object in the way. Thunderbird needs it, having stored an
// invitation before it saw that the server had it too.
func (x *exchange) conflictAt(e *calendar.Error) func(*markup) {
	at := x.subject
	at.form, at.object = formObject, e.Conflict
	if e.ConflictIn != "" {
		// Where it lies in another calendar, that need not be one that the caller sees.
		cal, err := x.Service.Calendar(x.r.Context(), x.caller, e.ConflictIn)
		if err != nil {
			return nil
		}
		at.calendar = cal.Address()
	}
	return func(m *markup) { m.hrefElement(at) }
}

// neededPrivilege says what the method takes, and of which resource: of the parent where
// a member would come or go (RFC 3744 §3.9, 3.10).
func (x *exchange) neededPrivilege(m *markup) {
	privilege, at := x.needs, x.subject
	if privilege == "" {
		privilege = x.method.needs
	}
	// What is bound to a calendar by POST is not yet there to have a parent.
	if strings.HasSuffix(privilege, "bind") && x.method.name != http.MethodPost {
		at = at.parent()
	}
	m.raw("<d:resource>")
	m.hrefElement(at)
	m.raw("<d:privilege><").raw(privilege).raw("/></d:privilege></d:resource>")
}
