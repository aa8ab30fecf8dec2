package mail

import (
	"bufio"
	"io"
	"net/textproto"
	"strings"
)

// report is what a mail server says of a mail that it could not deliver (RFC 3464).
type report struct {
	// failed tells that it gave up; a report may also say that it still tries.
	failed bool
	// status is its code, such as 5.1.1.
	status string
	// original is the Message-ID of the mail, by which it is known.
	original string
}

// reportMost bounds what is read of a part of a report.
const reportMost = 64 << 10

// part reads a part of a report: what became of the mail, or how it began.
func (r *report) part(kind string, body io.Reader) error {
	fields := textproto.NewReader(bufio.NewReader(io.LimitReader(body, reportMost)))
	switch kind {
	case "message/delivery-status", "message/global-delivery-status":
		// The first group is about the mail, the others about its recipients, of which ours has one.
		for range 3 {
			group, err := fields.ReadMIMEHeader()
			r.note(group)
			if err != nil {
				return nil //nolint:nilerr // it has ended, or makes no sense from here on
			}
		}
	case "message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers":
		header, _ := fields.ReadMIMEHeader()
		if id := header.Get("Message-Id"); id != "" {
			r.original = id
		}
	}
	return nil
}

func (r *report) note(group textproto.MIMEHeader) {
	if id := group.Get("Original-Envelope-Id"); id != "" && r.original == "" {
		r.original = id
	}
	if strings.EqualFold(strings.TrimSpace(group.Get("Action")), "failed") {
		r.failed = true
		r.status, _, _ = strings.Cut(strings.TrimSpace(group.Get("Status")), " ")
	}
}

// outcome is the report in the words of SCHEDULE-STATUS.
func (r *report) outcome() string {
	switch {
	case r.status == "5.1.1" || r.status == "5.1.2" || r.status == "5.1.10":
		return statusNoUser
	case strings.HasPrefix(r.status, "5.6.") || strings.HasPrefix(r.status, "5.7."):
		return statusRejected
	}
	return statusUnsent
}
