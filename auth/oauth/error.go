package oauth

import (
	"errors"
	"fmt"
	"time"
)

// Code is an OAuth error code (RFC 6749 §4.1.2.1, §5.2; RFC 7591 §3.2.2; RFC 8707 §2).
type Code string

// The codes in use.
const (
	InvalidRequest     Code = "invalid_request"
	InvalidClient      Code = "invalid_client"
	InvalidGrant       Code = "invalid_grant"
	InvalidScope       Code = "invalid_scope"
	InvalidTarget      Code = "invalid_target"
	InvalidRedirect    Code = "invalid_redirect_uri"
	InvalidMetadata    Code = "invalid_client_metadata"
	AccessDenied       Code = "access_denied"
	LoginRequired      Code = "login_required"
	UnsupportedGrant   Code = "unsupported_grant_type"
	UnsupportedAnswer  Code = "unsupported_response_type"
	RequestUnsupported Code = "request_not_supported"
	Later              Code = "temporarily_unavailable"
)

// Error is a refusal that the client gets to see.
type Error struct {
	Code Code
	// What describes the error to the client's developers.
	What string
	// RetryAfter is when to retry; zero if a retry would not help.
	RetryAfter time.Duration
}

// Error returns the code and the description.
func (e *Error) Error() string { return string(e.Code) + ": " + e.What }

func fault(code Code, format string, args ...any) error {
	return &Error{Code: code, What: fmt.Sprintf(format, args...)}
}

// FaultOf returns the refusal in an error, or nil if it is another error.
func FaultOf(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}
