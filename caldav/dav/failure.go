package dav

import (
	"encoding/xml"
	"fmt"
	"net/http"
)

// StatusError is a refusal as it is sent: a status, and the condition that was not met if an RFC names one.
type StatusError struct {
	Status int
	// Condition is the element of the failed pre- or postcondition (RFC 4918 §16), with its prefix; "" for none.
	Condition string
	// Details writes the content of the condition's element; nil if it is empty.
	Details func(*Markup)
	Message string
	// Cause is for the log only.
	Cause error
}

// Error returns the message for the user.
func (f *StatusError) Error() string { return f.Message }

// Unwrap returns the cause.
func (f *StatusError) Unwrap() error { return f.Cause }

// Refuse returns a refusal without a condition.
func Refuse(status int, format string, args ...any) *StatusError {
	return &StatusError{Status: status, Message: fmt.Sprintf(format, args...)}
}

// Breach returns a refusal for a failed condition. Its status is 403: the same request would fail again.
func Breach(condition, format string, args ...any) *StatusError {
	return &StatusError{Status: http.StatusForbidden, Condition: condition, Message: fmt.Sprintf(format, args...)}
}

func (f *StatusError) mediaType() string {
	if f.Condition == "" {
		return "text/plain; charset=utf-8"
	}
	return XMLType
}

// descriptionNS is the namespace in which Apple's server writes the message for users; Apple's clients show it. RFC
// 4918 §14.5 allows only conditions in DAV:error, and strict clients take any other element for one. So nothing
// else is added.
const descriptionNS = "http://twistedmatrix.com/xml_namespace/dav/"

// failure writes the body of a refusal: the error element of RFC 4918 §14.5 if a condition failed, otherwise plain
// text.
func (m *Markup) failure(f *StatusError) {
	if f.Condition == "" {
		m.Raw(f.Message).Raw("\n")
		return
	}
	m.Begin("d:error")
	m.condition(f)
	m.Raw(`<error-description xmlns="`).Raw(descriptionNS).Raw(`">`).Text(f.Message)
	m.Raw("</error-description></d:error>")
}

// condition writes the element of a failed condition.
func (m *Markup) condition(f *StatusError) {
	if f.Details == nil {
		m.Raw("<").Raw(f.Condition).Raw("/>")
		return
	}
	m.Raw("<").Raw(f.Condition).Raw(">")
	f.Details(m)
	m.Raw("</").Raw(f.Condition).Raw(">")
}

// propstat writes the status of some properties, without their values.
func (m *Markup) propstat(names []xml.Name, f *StatusError) {
	m.Raw("<d:propstat><d:prop>")
	for _, n := range names {
		m.Empty(n)
	}
	m.Raw("</d:prop>").Status(f.Status)
	if f.Condition != "" {
		m.Raw("<d:error>")
		m.condition(f)
		m.Raw("</d:error>")
	}
	if f.Message != "" {
		m.Element("d:responsedescription", f.Message)
	}
	m.Raw("</d:propstat>")
}
