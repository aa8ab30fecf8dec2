package mail

import (
	"errors"

	"github.com/emersion/go-smtp"
)

// The outcomes of a letter, in the words of SCHEDULE-STATUS (RFC 5546 §3.6, RFC 6638 §3.2.9).
const (
	statusSent     = "1.1"
	statusNoUser   = "3.7" // no such person
	statusUnsent   = "5.1" // it could not be delivered
	statusRejected = "5.3" // the other side does not want it
)

// stage is how far a mail came.
type stage uint8

const (
	// atRelay is all that is between us and our own server: that it refuses the sender is no fault of the recipient.
	atRelay stage = iota
	atRecipient
	atContent
)

// refusedError is why a mail was not taken.
type refusedError struct {
	stage stage
	error
}

func (r refusedError) Unwrap() error { return r.error }

// outcome tells what an error means: the status of a final failure, or "" where it is to be tried again. Down tells
// that no other mail would fare better.
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
