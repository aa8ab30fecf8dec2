package caldav

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/query"
)

// VerifyLink returns the link for a secret, with the errors of [auth.Service.VerifyLink].
type VerifyLink func(ctx context.Context, secret string) (auth.Link, error)

// LinkPath returns the path of a public link below the base URL. It ends in a title for programs that show the end of
// the address as the calendar's name.
func LinkPath(l auth.Link, secret auth.Secret) string {
	path := strings.Join(linkPath[:], "/") + "/" + string(secret)
	return path + "/" + url.PathEscape(linkTitle(l)) + "." + string(query.FeedEvents)
}

// linkTitleRunes limits the length of the title in a link: users send links to each other.
const linkTitleRunes = 40

// linkTitle returns the calendar's title in an address: the words of its name, without punctuation that people or
// programs could misread. A free/busy link must not reveal the name.
func linkTitle(l auth.Link) string {
	if l.Access == calendar.FreeBusyAccess {
		return "busy"
	}
	words := strings.FieldsFunc(l.CalendarName,
		func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
	title := []rune(strings.Join(words, "-"))
	return cmp.Or(string(title[:min(len(title), linkTitleRunes)]), "calendar")
}

// linkAddress is the parsed address of a public link.
type linkAddress struct {
	secret string
	form   query.FeedForm
	// plain is set if the address names no format.
	plain bool
	// segments are the decoded path segments below the base.
	segments []string
}

// linkHref writes the address of a public link in the way of [addresses.append].
func (a addresses) linkHref(at linkAddress) string {
	var href strings.Builder
	href.WriteString(a.prefix)
	for _, s := range at.segments {
		href.WriteString("/" + url.PathEscape(s))
	}
	return href.String()
}

// linkAt parses the address of a public link. It returns false if the path has another form. The title between the
// secret and the extension is ignored; older links have none. Without an extension, browsers get a page, and programs
// the file with the events.
func (a addresses) linkAt(escaped string) (linkAddress, bool) {
	segments, err := dav.Split(escaped)
	if err != nil {
		return linkAddress{}, false
	}
	if n := len(a.base); len(segments) > n && slices.Equal(segments[:n], a.base) {
		segments = segments[n:]
	}
	titled := len(segments) == len(linkPath)+2
	if !titled && len(segments) != len(linkPath)+1 || !slices.Equal(segments[:len(linkPath)], linkPath[:]) {
		return linkAddress{}, false
	}
	for _, form := range [...]query.FeedForm{query.FeedEvents, query.FeedFreeBusy} {
		secret, is := strings.CutSuffix(segments[len(segments)-1], "."+string(form))
		if titled {
			secret = segments[len(linkPath)]
		}
		if is {
			return linkAddress{secret, form, false, segments}, true
		}
	}
	return linkAddress{segments[len(linkPath)], query.FeedEvents, true, segments}, true
}

// calendarPrograms are words in the User-Agent header of programs that read calendars but may ask for HTML, such as
// Thunderbird, whose calendar has the headers of a browser.
var calendarPrograms = []string{
	"thunderbird", "outlook", "microsoft office", "exchange", "google-calendar", "calendaragent", "dataaccessd",
	"icsx5", "davx5", "evolution",
}

// wantsPage reports whether a request for a public link is a browser's, which prefers HTML over calendars and sends no
// password.
func wantsPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || r.Header.Get("Authorization") != "" ||
		r.URL.Query().Get("format") == string(query.FeedEvents) {
		return false
	}
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	agent := strings.ToLower(r.UserAgent())
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, "text/calendar") &&
		!slices.ContainsFunc(calendarPrograms, func(word string) bool { return strings.Contains(agent, word) })
}

// Links answers requests for public links, which need no login, and passes all others to next.
func (h *Handler) Links(verify VerifyLink, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := h.linkAt(dav.PathOf(r.URL)); ok {
			h.serveLink(w, r, verify, at)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) serveLink(w http.ResponseWriter, r *http.Request, verify VerifyLink, at linkAddress) {
	head := w.Header()
	// The address alone grants access: it must not reach other sites or search engines.
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	head.Set("Cache-Control", "no-store")
	if at.plain {
		head.Set("Vary", "Accept, User-Agent")
		if h.LinkPage != nil && wantsPage(r) {
			h.LinkPage(w, r, at.secret)
			return
		}
	}
	answer := h.webdav.Compress(w, r)
	x := h.request(answer, r, calendar.Caller{})
	if err := followLink(x, verify, at); err != nil {
		refuseLink(x, err)
	}
	answer.End()
}

// linkMethods are the methods that work on public links, as an Allow header.
const linkMethods = "OPTIONS, GET, HEAD, PROPFIND"

// followLink answers a request for a public link.
func followLink(x *request, verify VerifyLink, at linkAddress) error {
	switch x.R.Method {
	case http.MethodOptions:
		// As in [serveOptions], the answer does not depend on whether the link exists.
		x.W.Header().Set("Allow", linkMethods)
		return x.Blank(http.StatusOK)
	case http.MethodGet, http.MethodHead:
		return enterLink(x, verify, at, feedText)
	case "PROPFIND":
		return enterLink(x, verify, at, describeFeed)
	}
	return errNotAllowed
}

// enterLink verifies the link and answers with serve.
func enterLink(
	x *request, verify VerifyLink, at linkAddress, serve func(*request, calendar.CalendarID, linkAddress) error,
) error {
	link, err := verify(x.R.Context(), at.secret)
	if err != nil {
		return err
	}
	x.caller = link.Caller()
	x.Meter = x.Service.Meter(x.R.Context(), x.caller)
	defer x.Meter.Close()
	x.good = func(ctx context.Context) error {
		_, err := verify(ctx, at.secret)
		return err
	}
	x.granted = map[calendar.CalendarID]calendar.Access{link.Calendar: calendar.NoAccess}
	return serve(x, link.Calendar, at)
}

// feedText answers with the calendar text of a link.
func feedText(x *request, id calendar.CalendarID, at linkAddress) error {
	feed, err := x.Service.Feed(x.R.Context(), x.Meter, x.caller, id, at.form)
	if err != nil {
		return err
	}
	return serveText(x, calendarText{feed.Tag, feed.Modified, feed.File, func(to io.Writer) error {
		return feed.Write(x.R.Context(), to, x.leftOut)
	}})
}

// refuseLink renders an error for an anonymous visitor. Every invalid link gets the same 404.
func refuseLink(x *request, err error) {
	h := x.W.Header()
	for _, name := range [...]string{"ETag", "Last-Modified", "Content-Disposition"} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	var (
		refused *dav.StatusError
		large   *http.MaxBytesError
	)
	switch {
	case errors.Is(err, errNotAllowed):
		h.Set("Allow", linkMethods)
		x.Reply(http.StatusMethodNotAllowed, "text/plain; charset=utf-8", []byte("a public link is read-only\n"))
		return
	case errors.Is(err, auth.ErrUnauthorized), calendar.ReasonOf(err) == calendar.NotFound:
		err = errNowhere
	case errors.As(err, &refused), errors.As(err, &large), calendar.ReasonOf(err) == calendar.Unavailable,
		x.R.Context().Err() != nil:
	default:
		// Messages for the owner must not reach strangers.
		err = fmt.Errorf("a public link: %v", err) //nolint:errorlint // see above
	}
	x.refuse(err)
}

// linkProperties are the properties of a public link. Like the text of the link, they reveal its name and color, and
// they say that the link is read-only: Thunderbird asks for these before it subscribes. Strangers see no other
// property.
func linkProperties() []property {
	return []property{
		serverProperty(dav.Name("resourcetype"), everything, allprop, nothing),
		serverProperty(dav.Name("displayname"), everything, allprop, writeFeedName),
		serverProperty(dav.Name("getetag"), everything, allprop, writeFeedTag),
		serverProperty(dav.Name("getcontenttype"), everything, allprop, writeFeedType),
		serverProperty(dav.Name("getlastmodified"), everything, allprop, writeFeedModified),
		serverProperty(dav.Name("current-user-privilege-set"), everything, 0, writeFeedPrivileges),
		serverProperty(apple("calendar-color"), everything, 0, writeFeedColor),
	}
}

func writeFeedName(r *resource, m *dav.Markup) error { return m.Text(r.feed.Name).OK() }

func writeFeedTag(r *resource, m *dav.Markup) error { return m.Text("W/" + string(r.feed.Tag)).OK() }

// writeFeedType writes no charset: Thunderbird compares the whole value to recognize a calendar.
func writeFeedType(r *resource, m *dav.Markup) error { return m.Raw("text/calendar").OK() }

func writeFeedModified(r *resource, m *dav.Markup) error {
	return m.Date(r.feed.Modified, http.TimeFormat)
}

func writeFeedPrivileges(r *resource, m *dav.Markup) error {
	privilegeElement(m, "d:read")
	return nil
}

func writeFeedColor(r *resource, m *dav.Markup) error { return m.Optional(r.feed.Color) }

// describeFeed answers PROPFIND of a public link. It has no members, so every Depth means 0.
func describeFeed(x *request, id calendar.CalendarID, at linkAddress) error {
	if _, err := x.Depth(); err != nil {
		return err
	}
	p, err := x.asked()
	if err != nil {
		return err
	}
	// The body may arrive slowly, and the link may have been revoked in the meantime.
	if err := x.good(x.R.Context()); err != nil {
		return err
	}
	feed, err := x.Service.Feed(x.R.Context(), x.Meter, x.caller, id, at.form)
	if err != nil {
		return err
	}
	m := x.Markup()
	defer x.Release(m)
	m.Begin("d:multistatus")
	m.Raw("<d:response>").Element("d:href", x.linkHref(at))
	if err := p.Propstats(m, &resource{x: x, feed: &feed}); err != nil {
		return err
	}
	m.Raw("</d:response></d:multistatus>\n")
	x.Reply(http.StatusMultiStatus, dav.XMLType, m.Buf)
	return nil
}
