// Package caldav synchronizes with accounts on other CalDAV servers (RFC 4791), in both directions.
package caldav

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/mail"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/outbound"
)

const (
	// answerBytes limits a response, answerTime an exchange, redirectsMost the redirects.
	answerBytes   = 32 << 20
	answerTime    = time.Minute
	redirectsMost = 5
	// triesMost limits the requests for one: by Basic, with an old challenge, with a new one.
	triesMost = 3
)

// reading limits how many responses are parsed at once, since parsing takes a multiple of their size in memory.
var reading = make(chan struct{}, 2)

// mostMarks limits the elements of a response: an empty element of a few bytes takes hundreds once parsed.
const mostMarks = 1 << 20

// crowded reports whether a response has too many elements.
func crowded(body []byte) bool { return bytes.Count(body, []byte("<")) > mostMarks }

// wire is a connection to a server, with a user's name and password.
type wire struct {
	client *http.Client
	base   *url.URL
	signIn *signIn
}

func newWire(guard *outbound.Guard, base *url.URL, in *signIn) *wire {
	client := guard.Client(outbound.Limits{Time: answerTime, Bytes: answerBytes})
	// Redirects are followed by hand: net/http would turn a PROPFIND into a GET and send the password to any host.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &wire{client, base, in}
}

// ask is a request with its precondition.
type ask struct {
	method, depth, body, kind string
	at                        *url.URL
	match                     string
	fresh                     bool
}

// reply is a complete response.
type reply struct {
	status int
	header http.Header
	body   []byte
	from   *url.URL
}

// do sends a request. If the response to a write is lost, the write may have taken effect.
func (w *wire) do(ctx context.Context, a ask) (reply, error) {
	at := a.at
	for range redirectsMost {
		if !w.trusts(at) {
			return reply{},
				mirror.Refusef("it leads to %s, which does not get the password: name that server itself if it is "+
					"meant", at.Host)
		}
		got, next, err := w.send(ctx, a, at)
		if err != nil || next == nil {
			return got, err
		}
		at = next
	}
	return reply{}, &mirror.Later{Why: "it leads from one address to another, and never to an answer"}
}

// send sends a request to one address, twice if the server asks for Digest. The response is complete, or leads to the
// next address.
func (w *wire) send(ctx context.Context, a ask, at *url.URL) (got reply, next *url.URL, err error) {
	for tries := 1; ; tries++ {
		r, err := w.request(ctx, a, at)
		if err != nil {
			return reply{}, nil, err
		}
		answer, err := w.client.Do(r)
		if err != nil {
			return reply{}, nil, away(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil {
			return reply{}, nil, away(err)
		}
		if answer.StatusCode == http.StatusUnauthorized && tries < triesMost {
			again, err := w.signIn.again(r, answer.Header)
			if err != nil {
				return reply{}, nil, err
			}
			if again {
				continue
			}
		}
		if answer.StatusCode < 300 || answer.StatusCode > 399 {
			return reply{answer.StatusCode, answer.Header, body, at}, nil, nil
		}
		if next, err = answer.Location(); err != nil {
			return reply{}, nil, &mirror.Later{Why: "it leads elsewhere, and does not say where"}
		}
		return reply{}, next, nil
	}
}

// request makes a request with its headers.
func (w *wire) request(ctx context.Context, a ask, at *url.URL) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, a.method, at.String(), strings.NewReader(a.body))
	if err != nil {
		return nil, mirror.Refusef("this is no address")
	}
	for name, value := range map[string]string{"Depth": a.depth, "Content-Type": a.kind, "If-Match": a.match} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	if a.fresh {
		r.Header.Set("If-None-Match", "*")
	}
	return r, w.signIn.sign(r)
}

// shards is the domain of the one provider whose calendars are on other hosts than its well-known one.
const shards = ".icloud.com"

// trusts reports whether the password may be sent to an address: the server itself or a subdomain of it.
func (w *wire) trusts(to *url.URL) bool {
	if to.Scheme != "https" || to.Port() != w.base.Port() && to.Port() != "" && to.Port() != "443" {
		return false
	}
	here, there := strings.ToLower(w.base.Hostname()), strings.ToLower(to.Hostname())
	return here == there || strings.HasSuffix(there, "."+here) || strings.HasSuffix(here, shards) &&
		strings.HasSuffix(there, shards)
}

// away classifies the error of a request without a response.
func away(err error) error {
	if own, ok := errors.AsType[*outbound.RefusedError](err); ok {
		return &mirror.Later{
			Why: own.Error(), Cause: errors.New("the address is refused, or too much is answered"), Unknown: true,
		}
	}
	cause := errors.New("no answer")
	if errors.Is(err, context.DeadlineExceeded) {
		cause = context.DeadlineExceeded
	}
	return &mirror.Later{Why: "it does not answer there, or stands for no public address", Cause: cause, Unknown: true}
}

// judge returns the error of an unsuccessful status.
func judge(r reply) error {
	switch {
	case r.status >= 200 && r.status < 300:
		return nil
	case r.status == http.StatusUnauthorized:
		return mirror.ErrSignIn
	case r.status == http.StatusPreconditionFailed, bytes.Contains(r.body, []byte("no-uid-conflict")):
		return mirror.ErrConflict
	case r.status == http.StatusNotFound, r.status == http.StatusGone:
		return mirror.ErrGone
	case r.status == http.StatusInsufficientStorage:
		return mirror.ErrFull
	case r.status == http.StatusTooManyRequests, r.status >= 500 && r.status != http.StatusNotImplemented:
		return &mirror.Later{
			Why: fmt.Sprintf("it answers %d", r.status), After: outbound.RetryAfter(r.header),
			Unknown: r.status >= 500,
		}
	default:
		return mirror.Refusef("it answers %d%s", r.status, broken(r.body))
	}
}

// broken returns the failed precondition that a response names.
func broken(body []byte) string {
	var e struct {
		XMLName xml.Name `xml:"DAV: error"`
		Rules   []struct {
			XMLName xml.Name
		} `xml:",any"`
	}
	if crowded(body) || xml.Unmarshal(body, &e) != nil || len(e.Rules) == 0 {
		return ""
	}
	return " (" + e.Rules[0].XMLName.Local + ")"
}

// multistatus is a multi-status response.
type multistatus struct {
	Responses responses `xml:"DAV: response"`
	Token     string    `xml:"DAV: sync-token"`
}

type responses []response

// Limits for a response: its members and the lengths of names. A longer sync token is ignored.
const (
	listMost  = 50_000
	nameBytes = 1 << 10
	// addressBytes limits a mail address (RFC 5321 §4.5.3.1).
	addressBytes = 254
	tokenMost    = 4 << 10
)

var errMany = errors.New("too many responses")

type response struct {
	Href   string `xml:"DAV: href"`
	Status string `xml:"DAV: status"`
	Found  found  `xml:"DAV: propstat"`
}

// found holds the existing properties. Missing ones are dropped while parsing: there may be a million of them.
type found struct{ *prop }

// UnmarshalXML parses one propstat of a response.
func (f *found) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	var one struct {
		Status string `xml:"DAV: status"`
		Prop   prop   `xml:"DAV: prop"`
	}
	if err := d.DecodeElement(&one, &start); err != nil {
		return err
	}
	if f.prop == nil && strings.Contains(one.Status, " 200") {
		f.prop = &one.Prop
	}
	return nil
}

// prop holds the requested properties.
type prop struct {
	Principal   string    `xml:"DAV: current-user-principal>href"`
	Home        where     `xml:"urn:ietf:params:xml:ns:caldav calendar-home-set"`
	Addresses   addresses `xml:"urn:ietf:params:xml:ns:caldav calendar-user-address-set"`
	ETag        string    `xml:"DAV: getetag"`
	Data        string    `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
	Name        string    `xml:"DAV: displayname"`
	Description string    `xml:"urn:ietf:params:xml:ns:caldav calendar-description"`
	Color       string    `xml:"http://apple.com/ns/ical/ calendar-color"`
	Type        types     `xml:"DAV: resourcetype"`
	Kinds       []comp    `xml:"urn:ietf:params:xml:ns:caldav supported-calendar-component-set>comp"`
	Privileges  []right   `xml:"DAV: current-user-privilege-set>privilege"`
}

type where struct {
	Href string `xml:"DAV: href"`
}

type addresses struct {
	All hrefs `xml:"DAV: href"`
}

// hrefs are a user's addresses (RFC 6638 §2.4.1). Some servers mark the one that invitations carry.
type hrefs []struct {
	Value     string `xml:",chardata"`
	Preferred string `xml:"preferred,attr"`
}

// mail returns the marked mail address, else the first one; "" if there is none.
func (all hrefs) mail() string {
	first := ""
	for _, one := range all {
		scheme, address, _ := strings.Cut(strings.TrimSpace(one.Value), ":")
		at, err := mail.ParseAddress(address)
		if !strings.EqualFold(scheme, "mailto") || err != nil || at.Name != "" || len(address) > addressBytes {
			continue
		}
		if one.Preferred == "1" {
			return at.Address
		}
		first = cmp.Or(first, at.Address)
	}
	return first
}

type types struct {
	Collection *struct{} `xml:"DAV: collection"`
	Calendar   *struct{} `xml:"urn:ietf:params:xml:ns:caldav calendar"`
}

type comp struct {
	Name string `xml:"name,attr"`
}

type right struct {
	Write   *struct{} `xml:"DAV: write"`
	Content *struct{} `xml:"DAV: write-content"`
	All     *struct{} `xml:"DAV: all"`
}

// good returns the existing properties.
func (r response) good() prop {
	if r.Found.prop == nil {
		return prop{}
	}
	return *r.Found.prop
}

// UnmarshalXML adds a response, unless there are too many.
func (r *responses) UnmarshalXML(d *xml.Decoder, start xml.StartElement) error {
	if len(*r) == listMost {
		return errMany
	}
	var one response
	if err := d.DecodeElement(&one, &start); err != nil {
		return err
	}
	*r = append(*r, one)
	return nil
}

// read parses a multi-status response.
func read(r reply) (multistatus, error) {
	var m multistatus
	if err := judge(r); err != nil {
		return m, err
	}
	if crowded(r.body) {
		return m, &mirror.Later{Why: "it answers with more than is read"}
	}
	reading <- struct{}{}
	defer func() { <-reading }()
	err := xml.Unmarshal(r.body, &m)
	if errors.Is(err, errMany) {
		return m, mirror.Refusef("it has more than %d entries, which is more than is mirrored", listMost)
	}
	if r.status != http.StatusMultiStatus || err != nil || len(m.Token) > tokenMost {
		return m, &mirror.Later{Why: "it does not answer as a CalDAV server does"}
	}
	for _, one := range m.Responses {
		if len(one.Href) > nameBytes {
			return m, mirror.Refusef("an entry has a name of more than %d bytes", nameBytes)
		}
	}
	return m, nil
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}
