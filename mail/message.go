package mail

import (
	"bytes"
	"errors"
	"io"
	"mime"
	netmail "net/mail"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // for mail in charsets other than UTF-8

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/mail/letter"
)

// Limits for parsing a mail.
const (
	// MailMost is the maximum size of an incoming mail.
	MailMost = 16 << 20
	// calendarMost is the maximum size of its calendar file.
	calendarMost = 1 << 20
	headerMost   = 256 << 10
	partsMost    = 100
	depthMost    = 8
	// hopsMost limits the Received fields; a mail with more is in a loop.
	hopsMost = 40
)

// incoming is the relevant content of a mail.
type incoming struct {
	header message.Header
	// from is the one address in the From field.
	from calendar.MailAddress
	// scheduling is the calendar file in the mail, method the method parameter of its part.
	scheduling []byte
	method     string
	// report is a delivery report about one of our mails.
	report *report
}

// badMailError describes a malformed mail. It contains none of the mail's text.
type badMailError string

func (e badMailError) Error() string { return string(e) }

// readMail parses a mail.
func readMail(raw []byte) (*incoming, error) {
	if len(raw) > MailMost {
		return nil, badMailError("it is too large")
	}
	entity, err := message.ReadWithOptions(bytes.NewReader(raw), &message.ReadOptions{MaxHeaderBytes: headerMost})
	if entity == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return nil, badMailError("it cannot be read")
	}
	m := &incoming{header: entity.Header}
	if m.from, err = author(entity.Header); err != nil {
		return nil, err
	}
	if hops := entity.Header.FieldsByKey("Received"); hops.Len() > hopsMost {
		return nil, badMailError("it went round")
	}
	parts := 0
	err = entity.Walk(func(path []int, part *message.Entity, err error) error {
		if parts++; parts > partsMost || len(path) > depthMost {
			return badMailError("it has too many parts")
		}
		if err != nil {
			return nil //nolint:nilerr // an unknown charset of one part does not affect the others
		}
		return m.part(part)
	})
	if known, bad := errors.AsType[badMailError](err); bad {
		return nil, known
	}
	if err != nil && m.scheduling == nil && m.report == nil {
		return nil, badMailError("its parts cannot be read")
	}
	return m, nil
}

// author returns the one address that a mail is from. Programs differ in which of two From fields they show, so such a
// mail is refused.
func author(h message.Header) (calendar.MailAddress, error) {
	fields := h.FieldsByKey("From")
	if fields.Len() != 1 {
		return "", badMailError("it has not one From field")
	}
	list, err := (&netmail.AddressParser{WordDecoder: new(mime.WordDecoder)}).ParseList(h.Get("From"))
	if err != nil || len(list) != 1 {
		return "", badMailError("its From field is not one address")
	}
	address, err := letter.Address(list[0].Address)
	if err != nil {
		return "", badMailError("its From field is no mail address")
	}
	return address, nil
}

// recipients returns the first few addresses in the To and Cc fields. They prove nothing.
func (m *incoming) recipients() (all []calendar.MailAddress) {
	for _, field := range [...]string{m.header.Get("To"), m.header.Get("Cc")} {
		list, _ := (&netmail.AddressParser{WordDecoder: new(mime.WordDecoder)}).ParseList(field)
		for _, one := range list[:min(len(list), recipientsMost)] {
			if address, err := letter.Address(one.Address); err == nil {
				all = append(all, address)
			}
		}
	}
	return all
}

// part processes one part. The first calendar file counts: many mails repeat it as an attachment.
func (m *incoming) part(e *message.Entity) error {
	kind, params, err := e.Header.ContentType()
	if err != nil {
		return nil //nolint:nilerr // a part without a type is no calendar file
	}
	switch {
	case kind == "multipart/report" && params["report-type"] == "delivery-status":
		m.report = new(report)
		return nil
	case strings.HasPrefix(kind, "multipart/"):
		return nil
	case m.report != nil:
		return m.report.part(kind, e.Body)
	case kind != "text/calendar" && kind != "application/ics" || m.scheduling != nil:
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(e.Body, calendarMost+1))
	if err != nil {
		return badMailError("its calendar file cannot be read")
	}
	if len(data) > calendarMost {
		return badMailError("its calendar file is too large")
	}
	m.scheduling, m.method = data, strings.ToUpper(strings.TrimSpace(params["method"]))
	return nil
}
