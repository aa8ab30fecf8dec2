package mail

import (
	"bufio"
	"io"
	"net/textproto"
	"strings"
)

// report is a delivery report (RFC 3464).
type report struct {
	// failed is set if the server gave up; a report may also say that it keeps trying.
	failed bool
	// status is the status code, such as 5.1.1.
	status string
	// original is the Message-ID of the reported mail.
	original string
}

// reportMost limits the size of a report's part.
const reportMost = 64 << 10

// part reads a part of a report: the delivery status, or the header of the original mail.
func (r *report) part(kind string, body io.Reader) error {
	fields := textproto.NewReader(bufio.NewReader(io.LimitReader(body, reportMost)))
	switch kind {
	case "message/delivery-status", "message/global-delivery-status":
		// The first group is about the mail, the others are about its recipients; our mails have one.
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

// outcome returns the SCHEDULE-STATUS of the report.
func (r *report) outcome() string {
	switch {
	case r.status == "5.1.1" || r.status == "5.1.2" || r.status == "5.1.10":
		return statusNoUser
	case strings.HasPrefix(r.status, "5.6.") || strings.HasPrefix(r.status, "5.7."):
		return statusRejected
	}
	return statusUnsent
}
