// Package davclient is a small CalDAV client, for the import from another server and for the checks of the doctor.
package davclient

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

// Client talks to a CalDAV server as a user. It follows redirects itself, because net/http would turn a PROPFIND
// into a GET.
type Client struct {
	Transport      http.RoundTripper
	User, Password string
	// Agent is the User-Agent.
	Agent string
	// home is the server that the credentials are for.
	home *url.URL
}

const (
	davTimeout   = time.Minute
	maxRedirects = 5
)

// MaxAnswer is the longest response that is read, in bytes.
const MaxAnswer = 256 << 20

// ServerURL parses the URL of a server. It refuses a password, which every user of this machine could see in the
// arguments.
func ServerURL(flag, value string) (*url.URL, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("%s is not a URL such as https://calendar.example.org", flag)
	case u.User != nil:
		return nil, fmt.Errorf("%s contains a user: use the flag for the user, and never give the password", flag)
	case u.RawQuery != "", u.Fragment != "":
		return nil, fmt.Errorf("%s may have no query and no fragment", flag)
	}
	return u, nil
}

// New returns a client for the server at home, with a user's password.
func New(home *url.URL, user, password string) *Client {
	return &Client{Transport: NewTransport(), User: user, Password: password, Agent: console.Program, home: home}
}

// NewTransport returns the transport of a new client. The doctor adds certificate authorities to it.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ResponseHeaderTimeout: davTimeout, IdleConnTimeout: davTimeout,
	}
}

// Do implements the HTTP client of go-webdav.
func (c *Client) Do(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", c.Agent)
	for range maxRedirects {
		if c.User != "" {
			r.SetBasicAuth(c.User, c.Password)
		}
		answer, err := c.Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, MaxAnswer), answer.Body}
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
func (c *Client) redirected(r *http.Request, answer *http.Response) (*http.Request, error) {
	if answer.StatusCode < 300 || answer.StatusCode > 399 || answer.Header.Get("Location") == "" {
		return nil, nil // no redirect is no error
	}
	to, err := answer.Location()
	if err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	if !c.Trusts(to) {
		return nil, errors.Join(fmt.Errorf("%s redirects to %s://%s, which must not get the password: give the URL "+
			"of that server instead",
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

// Trusts reports whether the credentials may go to a URL: the server itself, or a subdomain with TLS. They never go
// without TLS if the server had it. Trusting a whole domain would need a list of public suffixes. Another port of the
// same host may belong to another user's program, unless it is the default port, which needs an administrator.
func (c *Client) Trusts(to *url.URL) bool {
	if to.Scheme != "https" && (to.Scheme != "http" || c.home.Scheme == "https") {
		return false
	}
	if port := PortAt(to); port != PortAt(c.home) && port != ports[to.Scheme] {
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

// PortAt is the port of a URL, or the default port of its scheme.
func PortAt(u *url.URL) string { return cmp.Or(u.Port(), ports[u.Scheme]) }

// The XML namespaces in use.
const (
	DAV            = "DAV:"
	CalDAV         = "urn:ietf:params:xml:ns:caldav"
	Apple          = "http://apple.com/ns/ical/"
	CalendarServer = "http://calendarserver.org/ns/"
)

// Multistatus is the response to PROPFIND and REPORT.
type Multistatus struct {
	Responses []Response `xml:"DAV: response"`
	SyncToken string     `xml:"DAV: sync-token"`
	// From is the URL that responded, after redirects; hrefs are relative to it.
	From *url.URL
}

// Response is the part of a multistatus about one resource.
type Response struct {
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

// Child returns the first child of a name, or nil.
func (e *element) Child(space, local string) *element {
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

// Trimmed is the text of an element; "" if it is nil.
func (e *element) Trimmed() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.Text)
}

// Prop returns a property of the resource, or nil.
func (r Response) Prop(space, local string) *element {
	for i := range r.Propstats {
		if strings.Contains(r.Propstats[i].Status, " 200 ") {
			if found := r.Propstats[i].Prop.Child(space, local); found != nil {
				return found
			}
		}
	}
	return nil
}

// PropHref returns the href in a property such as current-user-principal, or "".
func (r Response) PropHref(space, local string) string {
	return r.Prop(space, local).Child(DAV, "href").Trimmed()
}

// PropfindBody requests properties, each as "d:name", or with c:, a: or s: for the other namespaces.
func PropfindBody(props ...string) string {
	return `<d:propfind ` + Prefixes + `><d:prop><` + strings.Join(props, "/><") + `/></d:prop></d:propfind>`
}

// Prefixes declares the prefixes of the namespaces in the bodies of requests.
const Prefixes = `xmlns:d="` + DAV + `" xmlns:c="` + CalDAV + `" ` +
	`xmlns:a="` + Apple + `" xmlns:s="` + CalendarServer + `"`

// StatusError is a response with an unexpected status.
type StatusError struct {
	Method, URL string
	Status      int
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s %s: the server answers %d %s", e.Method, e.URL, e.Status, http.StatusText(e.Status))
}

// Ask sends a PROPFIND or a REPORT and parses the multistatus.
func (c *Client) Ask(ctx context.Context, method string, at *url.URL, depth, body string) (*Multistatus, error) {
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
		return nil, &StatusError{method, at.String(), answer.StatusCode}
	}
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, at, err)
	}
	found := Multistatus{From: answer.Request.URL}
	if err := xml.NewDecoder(bytes.NewReader(data)).Decode(&found); err != nil {
		return nil, fmt.Errorf("%s %s: the response is not a multistatus: %w", method, at, err)
	}
	return &found, nil
}

// Resolve resolves an href in a response.
func Resolve(base *url.URL, href string) (*url.URL, error) {
	to, err := base.Parse(href)
	if err != nil {
		return nil, fmt.Errorf("the href %q is malformed: %w", console.Shown(href), err)
	}
	return to, nil
}

// LastSegment is the decoded last part of a path, with or without a trailing slash.
func LastSegment(u *url.URL) string { return path.Base(strings.TrimRight(u.Path, "/")) }
