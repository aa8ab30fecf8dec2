package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// davClient talks to a CalDAV server as a user. It follows redirects itself, because net/http would turn a PROPFIND
// into a GET.
type davClient struct {
	transport      http.RoundTripper
	user, password string
	// agent is the User-Agent.
	agent string
	// home is the server that the credentials are for.
	home *url.URL
}

const (
	davTimeout   = time.Minute
	maxRedirects = 5
	maxDAVAnswer = 256 << 20
)

func newDAVClient(home *url.URL, user, password string) *davClient {
	return &davClient{transport: newTransport(), user: user, password: password, agent: console.Program, home: home}
}

func newTransport() *http.Transport {
	return &http.Transport{Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: davTimeout, IdleConnTimeout: davTimeout}
}

// Do implements the HTTP client of go-webdav.
func (c *davClient) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", c.agent)
	for range maxRedirects {
		if c.user != "" {
			r.SetBasicAuth(c.user, c.password)
		}
		answer, err := c.transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxDAVAnswer), answer.Body}
		next, err := c.redirected(r, answer)
		if next == nil || err != nil {
			return answer, err
		}
		if err := answer.Body.Close(); err != nil {
			return nil, err
		}
		r = next
	}
	return nil, fmt.Errorf("%s redirects in a circle", r.URL.Host)
}

// redirected returns the request that follows a redirect, or nil if there is none.
func (c *davClient) redirected(r *http.Request, answer *http.Response) (*http.Request, error) {
	if answer.StatusCode < 300 || answer.StatusCode > 399 || answer.Header.Get("Location") == "" {
		return nil, nil //nolint:nilnil // no redirect is no error
	}
	to, err := answer.Location()
	if err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	if !c.trusts(to) {
		return nil, errors.Join(fmt.Errorf("%s redirects to %s://%s, which must not get the password: give the URL of that server instead",
			r.URL.Host, to.Scheme, to.Host), answer.Body.Close())
	}
	next := r.Clone(r.Context())
	next.URL, next.Host = to, to.Host
	if r.GetBody != nil {
		if next.Body, err = r.GetBody(); err != nil {
			return nil, errors.Join(err, answer.Body.Close())
		}
	}
	return next, nil
}

// shards is the domain of the one provider whose calendars are on other hosts than its public name: caldav.icloud.com
// redirects to p42-caldav.icloud.com.
const shards = ".icloud.com"

// trusts reports whether the credentials may go to a URL: the server itself, or a subdomain with TLS. They never go
// without TLS if the server had it. Trusting a whole domain would need a list of public suffixes. Another port of the
// same host may belong to another user's program, unless it is the default port, which needs an administrator.
func (c *davClient) trusts(to *url.URL) bool {
	if to.Scheme != "https" && (to.Scheme != "http" || c.home.Scheme == "https") {
		return false
	}
	if port := portAt(to); port != portAt(c.home) && port != ports[to.Scheme] {
		return false
	}
	here, there := strings.ToLower(c.home.Hostname()), strings.ToLower(to.Hostname())
	if here == there {
		return true
	}
	below := strings.HasSuffix(there, "."+here) || strings.HasSuffix(here, shards) && strings.HasSuffix(there, shards)
	return below && to.Scheme == "https"
}

// ports are the default ports of the schemes.
var ports = map[string]string{"http": "80", "https": "443"}

func portAt(u *url.URL) string { return cmp.Or(u.Port(), ports[u.Scheme]) }

// The XML namespaces in use.
const (
	davSpace    = "DAV:"
	caldavSpace = "urn:ietf:params:xml:ns:caldav"
	appleSpace  = "http://apple.com/ns/ical/"
	serverSpace = "http://calendarserver.org/ns/"
)

// multistatus is the response to PROPFIND and REPORT.
type multistatus struct {
	Responses []davResponse `xml:"DAV: response"`
	SyncToken string        `xml:"DAV: sync-token"`
	// from is the URL that responded, after redirects; hrefs are relative to it.
	from *url.URL
}

type davResponse struct {
	Href      string `xml:"DAV: href"`
	Propstats []struct {
		Status string  `xml:"DAV: status"`
		Prop   element `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

// child returns the first child of a name, or nil.
func (e *element) child(space, local string) *element {
	if e == nil {
		return nil
	}
	for i := range e.Children {
		if e.Children[i].XMLName == (xml.Name{Space: space, Local: local}) {
			return &e.Children[i]
		}
	}
	return nil
}

// text is the text of an element; "" if it is nil.
func (e *element) text() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.Text)
}

// prop returns a property of the resource, or nil.
func (r davResponse) prop(space, local string) *element {
	for i := range r.Propstats {
		if strings.Contains(r.Propstats[i].Status, " 200 ") {
			if found := r.Propstats[i].Prop.child(space, local); found != nil {
				return found
			}
		}
	}
	return nil
}

// href returns the href in a property such as current-user-principal, or "".
func (r davResponse) href(space, local string) string {
	return r.prop(space, local).child(davSpace, "href").text()
}

// propfindBody requests properties, each as "d:name", or with c:, a: or s: for the other namespaces.
func propfindBody(props ...string) string {
	return `<d:propfind ` + davPrefixes + `><d:prop><` + strings.Join(props, "/><") + `/></d:prop></d:propfind>`
}

const davPrefixes = `xmlns:d="` + davSpace + `" xmlns:c="` + caldavSpace + `" xmlns:a="` + appleSpace + `" xmlns:s="` + serverSpace + `"`

// statusError is a response with an unexpected status.
type statusError struct {
	Method, URL string
	Status      int
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: the server answers %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
}

// ask sends a PROPFIND or a REPORT and parses the multistatus.
func (c *davClient) ask(ctx context.Context, method string, at *url.URL, depth, body string) (*multistatus, error) {
	r, err := http.NewRequestWithContext(ctx, method, at.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/xml; charset=utf-8")
	r.Header.Set("Depth", depth)
	answer, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusMultiStatus {
		return nil, &statusError{method, at.String(), answer.StatusCode}
	}
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, at, err)
	}
	found := multistatus{from: answer.Request.URL}
	if err := xml.NewDecoder(bytes.NewReader(data)).Decode(&found); err != nil {
		return nil, fmt.Errorf("%s %s: the response is not a multistatus: %w", method, at, err)
	}
	return &found, nil
}

// resolve resolves an href in a response.
func resolve(base *url.URL, href string) (*url.URL, error) {
	to, err := base.Parse(href)
	if err != nil {
		return nil, fmt.Errorf("the href %q is malformed: %w", console.Shown(href), err)
	}
	return to, nil
}

// lastSegment is the decoded last part of a path, with or without a trailing slash.
func lastSegment(u *url.URL) string { return path.Base(strings.TrimRight(u.Path, "/")) }
