package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/web/planner"
)

// publicKinds are the views of a public link.
var publicKinds = []planner.Kind{planner.Month, planner.List}

// publicContent is the data of the page of a public link.
type publicContent struct {
	planner.PublicView
	// Name is the calendar's. Events is set if it holds events.
	Name   string
	Events bool
	// File is the address of the file, Webcal and Google those to subscribe to it.
	File           string
	Webcal, Google template.URL
}

// publicPages show public links to browsers.
type publicPages struct{ *pageRequest }

// ServeLink answers a browser that opens a public link.
func (h *Handler) ServeLink(w http.ResponseWriter, r *http.Request, secret string) {
	protect(w.Header())
	// The address alone grants access: it must not reach other sites.
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Add("Vary", "Accept-Language")
	p := publicPages{h.outside(w, r)}
	switch err := p.showLink(secret); {
	case err == nil:
	case errors.Is(err, auth.ErrUnauthorized), calendar.ReasonOf(err) == calendar.NotFound:
		p.refuse(http.StatusNotFound, p.lang.Text("public.gone"))
	case calendar.ReasonOf(err) == calendar.Invalid, calendar.ReasonOf(err) == calendar.TooLarge,
		calendar.ReasonOf(err) == calendar.Unavailable, r.Context().Err() != nil:
		p.fault(err)
	default:
		// Messages for the owner must not reach strangers.
		p.fault(fmt.Errorf("a public link: %v", err)) //nolint:errorlint // see above
	}
}

// showLink shows the page of a public link.
func (p publicPages) showLink(secret string) error {
	ctx := p.r.Context()
	link, err := p.Auth.VerifyLink(ctx, secret)
	if err != nil {
		return err
	}
	if link.Embed {
		allowFrames(p.w.Header())
	}
	who := link.Caller()
	m := p.Service.Meter(ctx, who)
	defer m.Close()
	feed, err := p.Service.Feed(ctx, m, who, link.Calendar, query.FeedEvents)
	if err != nil {
		return err
	}
	asked := p.r.URL.Query()
	in, err := p.publicZone(asked.Get("zone"), feed.Timezone)
	if err != nil {
		return err
	}
	who.User.WeekStart = strings.ToLower(p.lang.FirstWeekday().String()[:2])
	pl := &planner.Planner{Service: p.Service, Caller: who, Zone: in, Now: p.Now(), Language: p.lang}
	day, err := pl.Day(asked.Get("date"))
	if err != nil {
		return err
	}
	kind := planner.Kind(asked.Get("view"))
	if !slices.Contains(publicKinds, kind) {
		kind = planner.Month
		if strings.Contains(p.r.UserAgent(), "Mobi") {
			kind = planner.List
		}
	}
	if p.unchanged(string(feed.Tag), string(kind), day.String(), asked.Get("zone"),
		p.Now().In(in.Location()).Format("2006-01-02")) {
		p.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	view, err := pl.Public(ctx, feed, kind, day, asked.Get("zone"))
	if err != nil {
		return err
	}
	for _, k := range publicKinds {
		view.Kinds = append(view.Kinds, planner.KindLink{
			Kind: k, Name: p.lang.Text("planner.view." + string(k)),
			Here: k == kind,
		})
	}
	c := publicContent{PublicView: view, Name: excerpt(feed.Name), Events: feed.Events}
	c.File = p.address().String() + p.LinkPath(link, auth.Secret(secret))
	_, rest, _ := strings.Cut(c.File, "://")
	// The schemes are fixed, so the addresses are safe.
	c.Webcal = template.URL("webcal://" + rest)                              //nolint:gosec // see above
	c.Google = template.URL("https://calendar.google.com/calendar/render?" + //nolint:gosec // see above
		url.Values{"cid": {string(c.Webcal)}}.Encode())
	return p.show("public", c)
}

// allowFrames lets pages of other sites show this page in a frame.
func allowFrames(header http.Header) {
	header.Set("Content-Security-Policy",
		strings.Replace(policy(), "frame-ancestors 'none'", "frame-ancestors *", 1))
	header.Del("X-Frame-Options")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// publicZone returns the zone of a public page: the visitor's, or the calendar's if it is public, or UTC.
func (p publicPages) publicZone(asked, public string) (*zone.Zone, error) {
	if asked != "" {
		z, err := zone.Lookup(asked)
		if err != nil {
			return nil, p.wrong("planner.bad-zone", "zone", excerpt(asked))
		}
		return z, nil
	}
	if z, err := zone.Lookup(public); err == nil {
		return z, nil
	}
	return zone.UTC(), nil
}

// unchanged sets the ETag of a page that depends on some values, and reports whether the browser has that page.
func (p publicPages) unchanged(of ...string) bool {
	sum := sha256.New()
	of = append(of, p.Version, p.lang.Tag(), p.assets.names["style.css"], p.assets.names["calendar.css"])
	for _, part := range of {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	tag := `W/"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
	p.w.Header().Set("ETag", tag)
	p.w.Header().Set("Cache-Control", "private, no-cache")
	return strings.Contains(p.r.Header.Get("If-None-Match"), tag)
}
