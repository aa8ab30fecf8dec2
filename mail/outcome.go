package mail

import (
	"errors"

	"github.com/emersion/go-smtp"
)

// Final outcomes of a letter, as SCHEDULE-STATUS codes (RFC 5546 §3.6, RFC 6638 §3.2.9).
const (
	statusSent     = "1.1"
	statusNoUser   = "3.7" // no such user
	statusUnsent   = "5.1" // could not be delivered
	statusRejected = "5.3" // rejected by the recipient's server
)

// stage is how far a delivery got.
type stage uint8

const (
	// atRelay is an error between us and our own relay. If it refuses the sender, the recipient is not at fault.
	atRelay stage = iota
	atRecipient
	atContent
)

// refusedError is an SMTP refusal and its stage.
type refusedError struct {
	stage stage
	error
}

func (r refusedError) Unwrap() error { return r.error }

// outcome classifies an error. It returns the status of a final failure, or "" if a retry may help. down is set if
// every other mail would fail, too.
func outcome(err error) (status string, down bool) {
	r, known := errors.AsType[refusedError](err)
	answer, answered := errors.AsType[*smtp.SMTPError](err)
	switch {
	case !known || !answered || r.stage == atRelay:
		return "", true
	case answer.Code < 500:
		return "", answer.Code == 421
	case r.stage == atContent:
		return statusRejected, false
	case answer.EnhancedCode == smtp.EnhancedCode{5, 1, 1}:
		return statusNoUser, false
	}
	return statusUnsent, false
}
