package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
)

// check is a row of the table of checks: one step of a client.
type check struct {
	client, name string
	// run returns the finding in a few words.
	run checkFunc
}

// checkFunc is a method of the examination, in the form for the table.
type checkFunc func(x *Examination, ctx context.Context) (string, error)

// The clients whose recorded steps are replayed.
const (
	anyClient   = "any"
	itself      = "server"
	apple       = "Apple"
	thunderbird = "Thunderbird"
	davx5       = "DAVx5"
	evolution   = "Evolution"
	assistant   = "assistant"
	hosted      = "claude.ai"
)

// checks are all checks, in the order of a client's setup.
func checks() []check {
	return slices.Concat(appChecks(), oauthChecks())
}

// appChecks are the steps of calendar apps, and of assistants with a token.
func appChecks() []check {
	return []check{
		{anyClient, "the server answers", (*Examination).reach},
		{anyClient, "it asks for a password", (*Examination).challenge},
		{anyClient, "it takes the password", (*Examination).login},
		{apple, "a bare host name leads to the user", (*Examination).wellKnown},
		{apple, "the user leads to the calendars", (*Examination).appleHome},
		{itself, "it knows its own URL", (*Examination).ownURL},
		{itself, "it can tell its clients apart", (*Examination).whoAsks},
		{itself, "it can store changes", (*Examination).troubles},
		{itself, "its clock is right", (*Examination).clock},
		{apple, "OPTIONS promises calendars", optionsAt(func(x *Examination) *url.URL { return x.principal })},
		{apple, "delegates are asked for", (*Examination).delegates},
		{apple, "calendars are listed", listed("d:displayname", "d:resourcetype", "a:calendar-color",
			"a:calendar-order", "s:getctag", "d:owner",
			"d:current-user-privilege-set", "c:supported-calendar-component-set", "d:supported-report-set",
			"d:sync-token", "d:quota-available-bytes")},
		{apple, "events of a time are found", query(`<c:time-range start="20260101T000000Z" end="20260201T000000Z"/>`)},
		{thunderbird, "the URL leads to the user", (*Examination).thunderbirdStart},
		{thunderbird, "calendars are listed", listed("d:resourcetype", "d:displayname", "d:current-user-privilege-set",
			"a:calendar-color")},
		{thunderbird, "changes are synchronized", (*Examination).synchronize},
		{thunderbird, "a wrong If-Match is refused", (*Examination).ifMatch},
		{thunderbird, "a large event gets through", (*Examination).largeBody},
		{thunderbird, "an event can be moved", (*Examination).destination},
		{davx5, "OPTIONS promises calendars", optionsAt((*Examination).calendar)},
		{davx5, "calendars are listed", listed("d:current-user-privilege-set", "d:displayname", "d:owner",
			"d:resourcetype", "a:calendar-color",
			"c:calendar-description", "c:calendar-timezone", "c:supported-calendar-component-set", "s:source")},
		{davx5, "changes since are synchronized", (*Examination).synchronizeAgain},
		{davx5, "a stale sync token is refused", (*Examination).staleToken},
		{evolution, "calendars are listed", listed("d:resourcetype", "d:displayname", "d:getetag", "s:getctag",
			"c:supported-calendar-component-set", "a:calendar-color")},
		{evolution, "all events are found", query("")},
		{assistant, "the endpoint asks for a token", (*Examination).mcpChallenge},
		{assistant, "it takes the token", (*Examination).mcpInitialize},
		{assistant, "tools are listed", (*Examination).mcpTools},
		{assistant, "a stream is not held back", (*Examination).mcpStream},
	}
}

// reply is the status and the headers of a response.
type reply struct {
	status int
	header http.Header
}

// send makes a request, and returns only status and headers.
func (x *Examination) send(ctx context.Context, as *davclient.Client, method string, at *url.URL, body string,
	headers ...string,
) (reply, error) {
	r, err := http.NewRequestWithContext(ctx, method, at.String(), strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := as.Do(r)
	if err != nil {
		return reply{}, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return reply{answer.StatusCode, answer.Header}, errors.Join(err, answer.Body.Close())
}

func (x *Examination) reach(ctx context.Context) (string, error) {
	answer, err := x.send(ctx, x.bare, http.MethodOptions, x.base, "")
	if (err != nil && cut(err) || err == nil && answer.status == http.StatusBadRequest) && x.speaksTLS(ctx) {
		https := *x.root
		https.Scheme = "https"
		return "", &checkError{"the port speaks TLS, but the URL has http", "use https: " + https.String()}
	}
	if err != nil {
		return "", err
	}
	if answer.status >= http.StatusInternalServerError || answer.status == http.StatusMisdirectedRequest {
		return "", &davclient.StatusError{Method: http.MethodOptions, URL: x.base.String(), Status: answer.status}
	}
	if x.base.Scheme == "http" {
		return "without TLS: phones want https://", nil
	}
	return "with TLS", nil
}

func (x *Examination) challenge(ctx context.Context) (string, error) {
	answer, err := x.send(ctx, x.bare, "PROPFIND", x.base, davclient.PropfindBody("d:current-user-principal"), "Depth",
		"0")
	switch {
	case err != nil:
		return "", err
	case answer.status == http.StatusNotFound:
		return "", x.strayed(ctx, &davclient.StatusError{
			Method: "PROPFIND", URL: x.base.String(), Status: answer.status,
		})
	case answer.status != http.StatusUnauthorized:
		return "", &davclient.StatusError{Method: "PROPFIND", URL: x.base.String(), Status: answer.status}
	}
	for _, offer := range answer.header.Values("WWW-Authenticate") {
		if strings.HasPrefix(strings.ToLower(offer), "basic ") {
			return offer, nil
		}
	}
	if asksForToken(answer.header) {
		return "", errAssistantsOnly
	}
	return "", &checkError{
		"the answer is 401, but does not offer Basic authentication",
		"another program asks for the password, or the proxy drops the WWW-Authenticate header: calendar apps " +
			"support only Basic",
	}
}

func (x *Examination) login(ctx context.Context) (string, error) {
	_, err := x.principalAt(ctx, x.base)
	if s, ok := errors.AsType[*davclient.StatusError](err); ok && s.Status == http.StatusNotFound {
		err = x.strayed(ctx, s)
	}
	if s, ok := errors.AsType[*davclient.StatusError](err); ok && s.Status == http.StatusForbidden &&
		x.withoutDepth(ctx) {
		err = &checkError{err.Error(), "the proxy drops the Depth header: without it apps get nothing or everything"}
	}
	return "as " + x.dav.User, err
}

// principalAt asks a URL for the user's principal.
func (x *Examination) principalAt(ctx context.Context, at *url.URL) (*url.URL, error) {
	found, err := x.dav.Ask(ctx, "PROPFIND", at, "0",
		davclient.PropfindBody("d:current-user-principal", "d:principal-URL", "d:resourcetype"))
	if err != nil {
		return nil, err
	}
	for _, r := range found.Responses {
		if href := r.PropHref(davclient.DAV, "current-user-principal"); href != "" {
			return x.place(found.From, href)
		}
	}
	return nil, &checkError{
		"the answer names no current-user-principal",
		"another program answers there: does the proxy pass this path to the CalDAV port?",
	}
}

// place resolves an href, and checks that clients can reach it. Most broken setups have hrefs without the proxy's path,
// or with the server's internal name.
func (x *Examination) place(base *url.URL, href string) (*url.URL, error) {
	to, err := davclient.Resolve(base, href)
	if err != nil {
		return nil, err
	}
	prefix := strings.TrimRight(x.root.Path, "/")
	switch {
	case to.Host != x.base.Host || to.Scheme != x.base.Scheme:
		return nil, &checkError{
			fmt.Sprintf("the server redirects apps to %s://%s", to.Scheme, to.Host),
			"set BASE_URL to the URL for apps: the server has another one",
		}
	case !strings.HasPrefix(to.Path, prefix+"/"):
		return nil, &checkError{
			fmt.Sprintf("the server redirects apps to %s, which is not below %s/", to.Path, prefix),
			fmt.Sprintf("set BASE_URL=%s: the server does not know the path that the proxy publishes it at",
				strings.TrimRight(x.root.String(), "/")),
		}
	}
	return to, nil
}

// wellKnown is the first step of an app that knows only a host name (RFC 6764 §5).
func (x *Examination) wellKnown(ctx context.Context) (string, error) {
	start := x.base.ResolveReference(&url.URL{Path: "/.well-known/caldav"})
	principal, err := x.principalAt(ctx, start)
	if err != nil {
		_, known := errors.AsType[*checkError](err)
		if status, ok := errors.AsType[*davclient.StatusError](err); !known && ok {
			return "", x.noWellKnown(status)
		}
		return "", err
	}
	x.principal = principal
	return principal.Path, nil
}

// noWellKnown is the finding that the well-known URL does not lead to the server.
func (x *Examination) noWellKnown(err *davclient.StatusError) error {
	target := strings.TrimRight(x.root.Path, "/") + "/dav/"
	return &checkError{
		err.Error(), "let the proxy redirect /.well-known/caldav at the root of the host to " + target,
	}
}

func (x *Examination) thunderbirdStart(ctx context.Context) (string, error) {
	principal, err := x.principalAt(ctx, x.base)
	if err != nil {
		return "", err
	}
	// Without the well-known URL, the other clients' steps can start from here.
	if x.principal == nil {
		x.principal = principal
		_, err = x.appleHome(ctx)
	}
	return principal.Path, err
}

func (x *Examination) appleHome(ctx context.Context) (string, error) {
	if x.principal == nil {
		return "", skippedError{"the user was not found"}
	}
	found, err := x.dav.Ask(ctx, "PROPFIND", x.principal,
		"0", davclient.PropfindBody("c:calendar-home-set", "c:calendar-user-address-set",
			"d:current-user-principal", "d:displayname", "s:email-address-set", "d:principal-collection-set",
			"d:principal-URL", "d:supported-report-set"))
	if err != nil {
		return "", err
	}
	for _, r := range found.Responses {
		if href := r.PropHref(davclient.CalDAV, "calendar-home-set"); href != "" {
			x.home, err = x.place(found.From, href)
			if err != nil {
				return "", err
			}
			return x.home.Path, nil
		}
	}
	return "", &checkError{
		"the user has no calendar-home-set",
		"another program answers there: does the proxy pass this path to the CalDAV port?",
	}
}

// calendar is a calendar for events if one is known, else any calendar, or nil.
func (x *Examination) calendar() *url.URL {
	if x.events != nil {
		return x.events
	}
	if len(x.calendars) == 0 {
		return nil
	}
	return x.calendars[0]
}

// optionsAt checks the response to OPTIONS.
func optionsAt(place func(*Examination) *url.URL) checkFunc {
	return func(x *Examination, ctx context.Context) (string, error) {
		at := place(x)
		if at == nil {
			return "", skippedError{"there is no place to ask at"}
		}
		answer, err := x.send(ctx, x.dav, http.MethodOptions, at, "")
		if err != nil {
			return "", err
		}
		promised := strings.Join(answer.header.Values("DAV"), ", ")
		if !strings.Contains(promised, "calendar-access") {
			return "", &checkError{
				fmt.Sprintf("OPTIONS is answered %d with DAV: %q", answer.status, promised),
				"the proxy answers OPTIONS itself, perhaps for CORS, or drops the DAV header: let it pass OPTIONS on",
			}
		}
		return promised, nil
	}
}

// delegates is the expand-property REPORT of Apple's clients.
func (x *Examination) delegates(ctx context.Context) (string, error) {
	if x.principal == nil {
		return "", skippedError{"the user was not found"}
	}
	_, err := x.dav.Ask(ctx, "REPORT", x.principal, "0", `<d:expand-property xmlns:d="DAV:">`+
		`<d:property name="calendar-proxy-read-for" namespace="`+davclient.CalendarServer+`">`+
		`<d:property name="displayname"/></d:property></d:expand-property>`)
	return "", err
}

// listed checks a PROPFIND for the calendars of the home.
func listed(props ...string) checkFunc {
	return func(x *Examination, ctx context.Context) (string, error) {
		if x.home == nil {
			return "", skippedError{"the calendars were not found"}
		}
		found, err := x.dav.Ask(ctx, "PROPFIND", x.home, "1", davclient.PropfindBody(props...))
		if err != nil {
			return "", err
		}
		x.calendars = nil
		for _, r := range found.Responses {
			at, err := x.place(found.From, r.Href)
			if err != nil {
				return "", err
			}
			if r.Prop(davclient.DAV, "resourcetype").Child(davclient.CalDAV, "calendar") != nil {
				x.calendars = append(x.calendars, at)
				if x.events == nil && takesEvents(r) {
					x.events = at
				}
			}
		}
		if len(x.calendars) == 0 {
			return "", &checkError{"there is no calendar", "create one: caldav-mcp-server create-calendar"}
		}
		return fmt.Sprintf("%d calendars", len(x.calendars)), nil
	}
}

func takesEvents(r davclient.Response) bool {
	if set := r.Prop(davclient.CalDAV, "supported-calendar-component-set"); set != nil {
		for _, comp := range set.Children {
			for _, attr := range comp.Attrs {
				if attr.Name.Local == "name" && attr.Value == "VEVENT" {
					return true
				}
			}
		}
	}
	return false
}

// query checks a calendar-query for events.
func query(within string) checkFunc {
	return func(x *Examination, ctx context.Context) (string, error) {
		body := `<c:calendar-query ` + davclient.Prefixes +
			`><d:prop><d:getetag/></d:prop><c:filter><c:comp-filter name="VCALENDAR">` +
			`<c:comp-filter name="VEVENT">` + within + `</c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`
		found, err := x.reportOn(ctx, "1", body)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d events", len(found.Responses)), nil
	}
}

func (x *Examination) reportOn(ctx context.Context, depth, body string) (*davclient.Multistatus, error) {
	if x.calendar() == nil {
		return nil, skippedError{"no calendar was found"}
	}
	found, err := x.dav.Ask(ctx, "REPORT", x.calendar(), depth, body)
	return found, err
}

func syncBody(token string) string {
	return `<d:sync-collection ` + davclient.Prefixes + `><d:sync-token>` + token +
		`</d:sync-token><d:sync-level>1</d:sync-level>` +
		`<d:prop><d:getcontenttype/><d:getetag/></d:prop></d:sync-collection>`
}

// synchronize sends Depth 1 as Thunderbird does, in violation of RFC 6578 §3.2.
func (x *Examination) synchronize(ctx context.Context) (string, error) {
	found, err := x.reportOn(ctx, "1", syncBody(""))
	if err != nil {
		return "", err
	}
	x.syncToken = found.SyncToken
	if x.syncToken == "" {
		return "", &checkError{
			"the answer has no sync-token",
			"the response was cut off on the way: raise the proxy's limits and timeouts",
		}
	}
	return fmt.Sprintf("%d objects", len(found.Responses)), nil
}

func (x *Examination) synchronizeAgain(ctx context.Context) (string, error) {
	if x.syncToken == "" {
		return "", skippedError{"there is no sync token to go on from"}
	}
	found, err := x.reportOn(ctx, "0", syncBody(x.syncToken))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d changes", len(found.Responses)), nil
}

// staleToken expects the refusal that makes DAVx5 synchronize from scratch.
func (x *Examination) staleToken(ctx context.Context) (string, error) {
	_, err := x.reportOn(ctx, "0", syncBody("urn:doctor:stale"))
	status, refused := errors.AsType[*davclient.StatusError](err)
	switch {
	case err == nil:
		return "",
			&checkError{"it is accepted", "the server is not caldav-mcp-server, or has a bug: apps would miss changes"}
	case refused && (status.Status == http.StatusForbidden || status.Status == http.StatusConflict):
		return fmt.Sprintf("%d", status.Status), nil
	}
	return "", err
}
