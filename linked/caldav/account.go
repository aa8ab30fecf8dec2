package caldav

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/mirror"
	"caldav-mcp-server/outbound"
)

const (
	usual, least = 15 * time.Minute, 5 * time.Minute
	// multigetMost limits the objects of one multiget.
	multigetMost = 100
	xmlKind      = `application/xml; charset="utf-8"`
	spaces       = ` xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:a="http://apple.com/ns/ical/"`
	asksHome     = `<d:propfind` + spaces +
		`><d:prop><d:current-user-principal/><c:calendar-home-set/><c:calendar-user-address-set/></d:prop></d:propfind>`
	asksAll = `<d:propfind` + spaces +
		`><d:prop><d:resourcetype/><d:displayname/><c:calendar-description/><a:calendar-color/>` +
		`<c:supported-calendar-component-set/><d:current-user-privilege-set/></d:prop></d:propfind>`
	asksTags = `<d:propfind` + spaces + `><d:prop><d:getetag/><d:resourcetype/></d:prop></d:propfind>`
)

// Provider serves CalDAV accounts. It uses a guarded client, because users supply the address.
func Provider(guard *outbound.Guard, budget int64) mirror.Provider {
	kept := new(keptNonces)
	return mirror.Provider{
		Title: "CalDAV", Every: usual, Least: least, Budget: budget,
		Open: func(o mirror.Opening) (mirror.Source, error) {
			base, err := address(o.Secret.URL)
			if err != nil {
				return nil, err
			}
			in := &signIn{o.Secret.Username, o.Secret.Password, kept.of(base, o.Secret.Username)}
			return &account{newWire(guard, base, in), pageObjects}, nil
		},
		Address: func(s mirror.Secret) string {
			if base, err := address(s.URL); err == nil {
				return s.Username + " at " + base.Host
			}
			return s.Username
		},
	}
}

func address(text string) (*url.URL, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	base, err := url.Parse(strings.TrimSpace(text))
	if err != nil || base.Host == "" || base.Scheme != "https" || base.User != nil {
		return nil, mirror.Refusef("the address of a CalDAV server is the name of a host, or begins with https://")
	}
	if base.Path == "" {
		base.Path = "/"
	}
	return base, nil
}

// account is an account on a CalDAV server.
type account struct {
	*wire
	// page limits the objects on a page of changes.
	page int
}

// home discovers the calendar home, starting from the host (RFC 6764 §6), and the account's mail address.
func (a *account) home(ctx context.Context) (homeOf, error) {
	home, err := a.homeFrom(ctx, a.base)
	if err == nil || errors.Is(err, mirror.ErrSignIn) {
		return home, err
	}
	home, other := a.homeFrom(ctx, a.base.ResolveReference(&url.URL{Path: "/.well-known/caldav"}))
	if other == nil || errors.Is(other, mirror.ErrSignIn) {
		return home, other
	}
	if _, later := errors.AsType[*mirror.Later](err); later {
		return homeOf{}, err
	}
	if !errors.Is(other, mirror.ErrGone) {
		err = other
	}
	if errors.Is(err, mirror.ErrGone) {
		err = mirror.Refusef("there is no CalDAV server at this address")
	}
	return homeOf{}, err
}

// homeOf is a calendar home, and the mail address that organizes the events of its owner; "" if it is unknown.
type homeOf struct {
	at      *url.URL
	address string
}

// homeFrom follows the addresses from a start: a resource names the principal, and the principal names the home.
func (a *account) homeFrom(ctx context.Context, at *url.URL) (homeOf, error) {
	for range 3 {
		found, from, err := a.find(ctx, at)
		if err != nil {
			return homeOf{}, err
		}
		if found.Home.Href != "" {
			home, err := from.Parse(found.Home.Href)
			return homeOf{home, found.Addresses.All.mail()}, err
		}
		if found.Principal == "" {
			break
		}
		if at, err = from.Parse(found.Principal); err != nil {
			break
		}
	}
	return homeOf{}, mirror.ErrGone
}

func (a *account) find(ctx context.Context, at *url.URL) (prop, *url.URL, error) {
	r, err := a.do(ctx, ask{method: "PROPFIND", at: at, depth: "0", kind: xmlKind, body: asksHome})
	if err != nil {
		return prop{}, nil, err
	}
	m, err := read(r)
	if err != nil || len(m.Responses) == 0 {
		return prop{}, r.from, err
	}
	return m.Responses[0].good(), r.from, nil
}

// Calendars implements [mirror.Source].
func (a *account) Calendars(ctx context.Context) ([]mirror.Remote, error) {
	home, err := a.home(ctx)
	if err != nil {
		return nil, err
	}
	r, err := a.do(ctx, ask{method: "PROPFIND", at: home.at, depth: "1", kind: xmlKind, body: asksAll})
	if err != nil {
		return nil, err
	}
	m, err := read(r)
	if err != nil {
		return nil, err
	}
	var all []mirror.Remote
	for _, found := range m.Responses {
		p := found.good()
		at, err := r.from.Parse(found.Href)
		if err != nil || p.Type.Calendar == nil || !a.trusts(at) {
			continue
		}
		one := remoteOf(at, p)
		one.Address = home.address
		all = append(all, one)
	}
	return all, nil
}

func remoteOf(at *url.URL, p prop) mirror.Remote {
	r := mirror.Remote{
		ID: at.String(), Name: strings.TrimSpace(p.Name), Color: p.Color, Description: p.Description,
		Writable: len(p.Privileges) == 0,
	}
	for _, c := range p.Kinds {
		if k := calendar.Kind(strings.ToUpper(c.Name)); calendar.AllKinds().Has(k) && !r.Kinds.Has(k) {
			r.Kinds = append(r.Kinds, k)
		}
	}
	for _, right := range p.Privileges {
		r.Writable = r.Writable || right.Write != nil || right.Content != nil || right.All != nil
	}
	if r.Name == "" {
		parts := strings.Split(strings.Trim(at.Path, "/"), "/")
		r.Name = parts[len(parts)-1]
	}
	return r
}
