package caldav

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

// retryAfter is how long clients should wait for an unavailable store. A longer time of an account elsewhere is passed
// on (RFC 9110 §10.2.3), up to retryMost: apps may keep to it without another attempt.
const retryAfter, retryMost = 5 * time.Second, time.Hour

// refuse renders an error. No other code does.
func (x *request) refuse(err error) {
	if x.Begun {
		// A truncated multistatus must never pass for a complete one: clients would delete the missing objects. So
		// the connection is aborted.
		x.Logger.LogAttrs(x.R.Context(), x.faultLevel(), "the answer broke off", slog.String("method", x.R.Method),
			slog.String("error", service.ForLog(err)))
		panic(http.ErrAbortHandler)
	}
	f := failureOf(err, x.details)
	if f.Status == http.StatusInternalServerError {
		x.Logger.LogAttrs(x.R.Context(), x.faultLevel(), "request failed", slog.String("method", x.R.Method),
			slog.String("error", service.ForLog(err)))
	}
	if f.Status == http.StatusServiceUnavailable {
		wait := min(max(calendar.AgainIn(err), retryAfter), retryMost)
		x.W.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	if f.Status == http.StatusMethodNotAllowed {
		there := x.methods
		if x.method != nil && x.method.makes() {
			// A resource that is in the way allows no method that makes one (RFC 9110 §15.5.6).
			there = slices.DeleteFunc(slices.Clone(there), func(m method) bool { return m.makes() })
		}
		x.W.Header().Set("Allow", allowed(there, x.at.kind()))
	}
	x.Refuse(f)
}

// faultLevel is the log level for a failed response. A client that has disconnected is no error.
func (x *request) faultLevel() slog.Level {
	if x.R.Context().Err() != nil {
		return slog.LevelDebug
	}
	return slog.LevelError
}

// failureOf converts an error to a refusal. The text of an unexpected error is not sent. details, which may be nil,
// returns the writer of a condition's content.
func failureOf(err error, details func(error, *calendar.Error) func(*dav.Markup)) *dav.StatusError {
	var (
		f *dav.StatusError
		e *calendar.Error
		b *http.MaxBytesError
	)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		// The authentication has already set its challenge.
		return dav.Refuse(http.StatusUnauthorized, "your credentials are no longer valid: log in again")
	case errors.As(err, &f):
		return f
	case errors.As(err, &e) && e.Reason != calendar.Internal:
		f := translate(e)
		if details != nil {
			f.Details = details(err, e)
		}
		return f
	case errors.As(err, &b):
		return dav.Refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", b.Limit)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return dav.Refuse(http.StatusBadRequest, "the body ended early")
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return dav.Refuse(http.StatusServiceUnavailable, "the request took too long")
	}
	return dav.Refuse(http.StatusInternalServerError, "something went wrong here; the log of the server says what")
}

// statuses maps a reason of package calendar to its HTTP status.
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

// conditions maps a rule of package calendar to its XML element and status. RFC 4791 §1.3: 403 if the same request
// would fail again, 409 if the user may resolve the conflict.
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

// translate turns an error of package calendar into a failure, without the content of its condition.
func translate(e *calendar.Error) *dav.StatusError {
	f := &dav.StatusError{Status: statuses[e.Reason], Message: e.Error(), Cause: e.Cause}
	if row, ok := conditions[e.Rule]; ok {
		f.Status, f.Condition = row.status, row.tag
	}
	return f
}

// aboutError is an error about another resource than that of the request line, or for lack of another privilege than
// the method's.
type aboutError struct {
	error
	at    place
	needs string
}

// Unwrap returns the error itself.
func (e *aboutError) Unwrap() error { return e.error }

// about returns an error about a resource. needs is the privilege that was missing, if the error means that.
func about(at place, needs string, err error) error {
	if err == nil || errors.As(err, new(*aboutError)) {
		return err
	}
	return &aboutError{err, at, needs}
}

// details returns the writer of the content of the condition that an error breaks, nil if it has none.
func (x *request) details(err error, e *calendar.Error) func(*dav.Markup) {
	concern := &aboutError{at: x.at}
	if x.method != nil {
		concern.needs = x.method.needs
	}
	errors.As(err, &concern)
	switch {
	case (e.Rule == calendar.RuleUIDConflict || e.Rule == calendar.RuleUniqueScheduling) && e.Conflict != "":
		return x.conflictAt(concern.at, e)
	case e.Rule == calendar.RulePrivileges:
		return func(m *dav.Markup) { x.neededPrivilege(m, concern.at, concern.needs) }
	}
	return nil
}

// conflictAt names the conflicting object. Thunderbird needs this: it may store an invitation and only then notice
// that the server has it already.
func (x *request) conflictAt(at place, e *calendar.Error) func(*dav.Markup) {
	at.form, at.object = formObject, e.Conflict
	if e.ConflictIn != "" {
		// If the object is in another calendar, the caller may not see that calendar.
		cal, err := x.Service.Calendar(x.R.Context(), x.caller, e.ConflictIn)
		if err != nil {
			return nil
		}
		at.calendar = cal.Address()
	}
	return func(m *dav.Markup) { m.Href(at) }
}

// neededPrivilege names the privilege that the method needs and the resource it needs it on. That is the parent if a
// member would be added or removed (RFC 3744 §3.9, §3.10).
func (x *request) neededPrivilege(m *dav.Markup, at place, privilege string) {
	// A POST names the calendar itself; the new member has no address yet.
	if strings.HasSuffix(privilege, "bind") && x.R.Method != http.MethodPost {
		at = at.parent()
	}
	m.Raw("<d:resource>")
	m.Href(at)
	m.Raw("<d:privilege><").Raw(privilege).Raw("/></d:privilege></d:resource>")
}
