package caldav

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// kind is the kind of resource that an address names. Kinds are bits, so that a row of a table can name several.
type kind uint16

const (
	atEntrance   kind = 1 << iota // the start for clients that know only a host name
	atRoot                        // the service
	atPrincipals                  // the collection of principals
	atPrincipal                   // a user
	atHomes                       // the collection of calendar homes
	atHome                        // a user's calendars
	atCalendar
	atObject
	atBoxes  // the collection of all notification collections
	atBox    // a user's notifications about shares
	atNotice // a notification
	atInbox  // a user's scheduling inbox
	atItem   // a message in an inbox
	atOutbox // a user's scheduling outbox, for free/busy requests
	atProxy  // the group of a user's delegates with one kind of access

	everything  = ^kind(0)
	leaves      = atObject | atNotice | atItem
	collections = everything &^ leaves
)

// userName is a user's name in an address, decoded.
type userName string

// addressForm is the index of the layout's row that an address matches.
type addressForm uint8

const (
	formHost addressForm = iota
	formWellKnown
	formBarePrincipals
	formRoot
	formPrincipals
	formPrincipal
	formProxyRead
	formProxyWrite
	formHomes
	formHome
	// These come before formCalendar, since no calendar may have their names.
	formInbox
	formOutbox
	formItem
	formCalendar
	formObject
	formBoxes
	formBox
	formNotice
)

// The variable parts of an address.
const (
	userPart     = "{user}"
	calendarPart = "{calendar}"
	objectPart   = "{object}"
	noticePart   = "{notice}"
	itemPart     = "{message}"
)

// layout lists all addresses, each with its parent. An entrance is its own parent. Apple's clients try /principals/
// even though no server told them to.
var layout = [...]struct {
	kind   kind
	parent addressForm
	path   []string
}{
	formHost:           {atEntrance, formHost, nil},
	formWellKnown:      {atEntrance, formWellKnown, []string{".well-known", "caldav"}},
	formBarePrincipals: {atEntrance, formBarePrincipals, []string{"principals"}},
	formRoot:           {atRoot, formHost, []string{"dav"}},
	formPrincipals:     {atPrincipals, formRoot, []string{"dav", "principals"}},
	formPrincipal:      {atPrincipal, formPrincipals, []string{"dav", "principals", userPart}},
	formProxyRead: {
		atProxy, formPrincipal, []string{"dav", "principals", userPart, "calendar-proxy-read"},
	},
	formProxyWrite: {
		atProxy, formPrincipal, []string{"dav", "principals", userPart, "calendar-proxy-write"},
	},
	formHomes:    {atHomes, formRoot, []string{"dav", "calendars"}},
	formHome:     {atHome, formHomes, []string{"dav", "calendars", userPart}},
	formInbox:    {atInbox, formHome, []string{"dav", "calendars", userPart, "inbox"}},
	formOutbox:   {atOutbox, formHome, []string{"dav", "calendars", userPart, "outbox"}},
	formItem:     {atItem, formInbox, []string{"dav", "calendars", userPart, "inbox", itemPart}},
	formCalendar: {atCalendar, formHome, []string{"dav", "calendars", userPart, calendarPart}},
	formObject:   {atObject, formCalendar, []string{"dav", "calendars", userPart, calendarPart, objectPart}},
	formBoxes:    {atBoxes, formRoot, []string{"dav", "notifications"}},
	formBox:      {atBox, formBoxes, []string{"dav", "notifications", userPart}},
	formNotice:   {atNotice, formBox, []string{"dav", "notifications", userPart, noticePart}},
}

// place is a parsed address. It may be one where no resource exists.
type place struct {
	form     addressForm
	user     userName
	calendar calendar.Segment
	object   calendar.ObjectName
	notice   calendar.NoticeName
}

// Routes returns the patterns of all addresses for logs and metrics. The addresses themselves would reveal users and
// their calendars.
func Routes() []string {
	routes := make([]string, 0, len(layout)+2)
	for _, row := range layout {
		routes = append(routes, "/"+strings.Join(row.path, "/"))
	}
	link := "/" + strings.Join(linkPath[:], "/") + "/{link}"
	return append(routes, link, link+"/{title}", "/"+strings.Join(pushPath, "/")+"/{registration}")
}

func (p place) kind() kind { return layout[p.form].kind }

// parent returns the address of the collection that contains p.
func (p place) parent() place {
	up := place{form: layout[p.form].parent}
	for _, part := range layout[up.form].path {
		up.with(part, p.part(part))
	}
	return up
}

// with sets a part of an address. It reports whether a fixed part has the given value.
func (p *place) with(part, value string) bool {
	switch part {
	case userPart:
		p.user = userName(value)
	case calendarPart:
		p.calendar = calendar.Segment(value)
	case objectPart, itemPart:
		p.object = calendar.ObjectName(value)
	case noticePart:
		p.notice = calendar.NoticeName(value)
	default:
		return part == value
	}
	return true
}

// part returns the value of a part of the path.
func (p place) part(part string) string {
	switch part {
	case userPart:
		return string(p.user)
	case calendarPart:
		return string(p.calendar)
	case objectPart, itemPart:
		return string(p.object)
	case noticePart:
		return string(p.notice)
	}
	return part
}

// locate finds the row of the layout that decoded segments match.
func locate(segments []string) (place, bool) {
next:
	for f, row := range layout {
		if len(row.path) != len(segments) {
			continue
		}
		p := place{form: addressForm(f)}
		for i, part := range row.path {
			if !p.with(part, segments[i]) {
				continue next
			}
		}
		return p, true
	}
	return place{}, false
}

// addresses parses and writes paths. Each place has a single href, so that clients may compare hrefs as text.
type addresses struct {
	// base is the public path of the service as decoded segments; prefix is the same, encoded ("" or "/cal").
	base   []string
	prefix string
}

func newAddresses(base *url.URL) (addresses, error) {
	if base == nil {
		return addresses{}, nil
	}
	segments, err := dav.Split(dav.PathOf(base))
	a := addresses{base: segments}
	for _, s := range segments {
		a.prefix += "/" + url.PathEscape(s)
	}
	return a, err
}

// errNowhere is the response for every address without a resource that the caller can see.
var errNowhere = &dav.StatusError{Status: http.StatusNotFound, Message: "there is nothing at this address"}

// parse parses the path of a request. Some proxies remove the public prefix and others do not, so both forms are
// accepted.
func (a addresses) parse(escaped string) (place, error) {
	segments, err := dav.Split(escaped)
	if err != nil {
		return place{}, dav.Refuse(http.StatusBadRequest, "this path cannot be read: %s", err)
	}
	if n := len(a.base); n > 0 && len(segments) >= n && slices.Equal(segments[:n], a.base) {
		if p, ok := locate(segments[n:]); ok {
			return p, nil
		}
	}
	if p, ok := locate(segments); ok {
		return p, nil
	}
	return place{}, errNowhere
}

// parseHref parses an address in a body, which may be a path or a whole URL (RFC 4918 §8.3). It ignores the host: a
// server cannot know all of its names in front of a proxy, and reading a foreign URL as one of ours does no harm.
func (a addresses) parseHref(href string) (place, error) {
	path, err := dav.HrefPath(href)
	if err != nil {
		return place{}, err
	}
	return a.parse(path)
}

// nextcloud returns the place that has this address at a Nextcloud server: remote.php/dav for our root. Apps that sign
// in by Nextcloud's login flow begin there, without looking for a better address.
func (a addresses) nextcloud(escaped string) (place, bool) {
	segments, err := dav.Split(escaped)
	if n := len(a.base); err == nil && len(segments) >= n && slices.Equal(segments[:n], a.base) {
		segments = segments[n:]
	}
	if err != nil || len(segments) < 2 || segments[0] != "remote.php" ||
		segments[1] != "dav" && segments[1] != "caldav" {
		return place{}, false
	}
	rest := segments[2:]
	if len(rest) > 2 && rest[0] == "principals" && rest[1] == "users" {
		rest = append([]string{"principals"}, rest[2:]...)
	}
	return locate(append([]string{"dav"}, rest...))
}

func (a addresses) isWellKnown(escaped string) bool {
	p, err := a.parse(escaped)
	return err == nil && p.form == formWellKnown
}

// append writes the href of a place.
func (a addresses) append(dst []byte, p place) []byte { return p.AppendPath(append(dst, a.prefix...)) }

// AppendPath appends the path of a place below the base. Collections end in a slash, which Apple's clients insist on
// for principals.
func (p place) AppendPath(dst []byte) []byte {
	for _, part := range layout[p.form].path {
		text := p.part(part)
		// Usual names need no escapes. A slash in a name does.
		if !dav.PlainPath(text) || strings.IndexByte(text, '/') >= 0 {
			text = url.PathEscape(text)
		}
		dst = append(dst, '/')
		dst = append(dst, text...)
	}
	if p.kind()&leaves == 0 {
		dst = append(dst, '/')
	}
	return dst
}

func (a addresses) href(p place) string { return string(a.append(nil, p)) }

// linkPath is the path of public links. It lies below the path of the service, so that a proxy that passes on the
// service passes on the links too. It is no collection, so links cannot be listed.
var linkPath = [...]string{"dav", "links"}

// pushPath is the path of registrations, below the base path.
var pushPath = []string{"dav", "push"}

func principalOf(name string) place { return place{form: formPrincipal, user: userName(name)} }

// owned are the kinds of resources that have an owner.
const owned = atPrincipal | atProxy | atHome | atCalendar | atObject | atBox | atNotice | atScheduling

// dated are the kinds of resources with dates and bytes.
const dated = atCalendar | atObject

// atScheduling are the resources for scheduling messages.
const atScheduling = atInbox | atItem | atOutbox
