package caldav

import (
	"fmt"
	"net/http"
)

// failure is a refusal as it is sent: a status, and the condition that was not met if an RFC names one.
type failure struct {
	status int
	// condition is the element of the failed pre- or postcondition (RFC 4918 §16), with its prefix; "" for none.
	condition string
	// details writes the content of the condition's element; nil if it is empty.
	details func(*markup)
	message string
	// cause is for the log only.
	cause error
}

// Error returns the message for the user.
func (f *failure) Error() string { return f.message }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

func refuseWith(status int, format string, args ...any) *failure {
	return &failure{status: status, message: fmt.Sprintf(format, args...)}
}

// breach is a failed condition. RFC 4791 §1.3: 403 means that the same request would fail again.
func breach(condition, format string, args ...any) *failure {
	return &failure{status: http.StatusForbidden, condition: condition, message: fmt.Sprintf(format, args...)}
}

func (f *failure) mediaType() string {
	if f.condition == "" {
		return "text/plain; charset=utf-8"
	}
	return xmlType
}

// descriptionNS is the namespace in which Apple's server writes the message for users; Apple's clients show it. RFC 4918
// §14.5 allows only conditions in DAV:error, and strict clients take any other element for one. So nothing else is added.
const descriptionNS = "http://twistedmatrix.com/xml_namespace/dav/"

// failure writes the body of a refusal: the error element of RFC 4918 §14.5 if a condition failed, otherwise plain
// text.
func (m *markup) failure(f *failure) {
	if f.condition == "" {
		m.raw(f.message).raw("\n")
		return
	}
	m.begin("d:error")
	m.condition(f)
	m.raw(`<error-description xmlns="`).raw(descriptionNS).raw(`">`).text(f.message).raw("</error-description></d:error>")
}

// condition writes the element of a failed condition.
func (m *markup) condition(f *failure) {
	if f.details == nil {
		m.raw("<").raw(f.condition).raw("/>")
		return
	}
	m.raw("<").raw(f.condition).raw(">")
	f.details(m)
	m.raw("</").raw(f.condition).raw(">")
}
