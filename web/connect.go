package web

import (
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) connectPages() []page {
	return []page{
		get("connect", people, (*visit).connect),
		get("connect/{device}", proven, (*visit).deviceForm),
		post("connect/{device}", proven, (*visit).connectDevice),
		get("profile/{parcel}", anybody, (*visit).profile),
	}
}

// connectContent is the content of the page that leads apps here.
type connectContent struct {
	UserName, URL, MCP string
	// OAuth tells that assistants may ask to be let in.
	OAuth bool
}

func (v *visit) connect() error {
	return v.show("connect", connectContent{v.user().Name, v.address().String(), v.assistantsURL(), v.OAuth != nil})
}

// address is where calendar programs find the server: what the administrator says, or else where the browser found it.
func (v *visit) address() *url.URL {
	if v.BaseURL != nil {
		return v.BaseURL.JoinPath("/")
	}
	u := &url.URL{Scheme: "http", Host: v.r.Host, Path: "/"}
	if v.r.TLS != nil {
		u.Scheme = "https"
	}
	return u
}

// assistantsURL is where assistants find it.
func (v *visit) assistantsURL() string {
	u, err := url.Parse(v.MCPURL)
	if err != nil || v.BaseURL != nil {
		return v.MCPURL
	}
	// Where nobody has said how the server is reached, this machine's own name for itself is of no use elsewhere.
	u.Host = net.JoinHostPort(v.address().Hostname(), u.Port())
	return u.String()
}

// devices are the kinds of device that connect by scanning a code. Each gets an app password of its own.
var devices = map[string]device{
	"apple":   {"iPhone, iPad or Mac", "Apple Calendar", (*visit).appleLink},
	"android": {"Android with DAVx⁵", "DAVx⁵", (*visit).androidLink},
}

type device struct {
	title, app string
	// link is the link that leads the device here.
	link func(*visit, auth.Secret) (string, error)
}

// deviceContent is the content of the page for one kind of device.
type deviceContent struct {
	Device, Title, App string
	// Code and Link lead the device here, once its app password is made.
	Code template.HTML
	Link template.URL
	// URL, UserName and Secret are to be typed in where nothing can be scanned.
	URL, UserName string
	Secret        auth.Secret
	// Minutes is how long the code of a profile is good for.
	Minutes int
}

func (v *visit) device() (device, deviceContent, error) {
	name := v.r.PathValue("device")
	d, ok := devices[name]
	if !ok {
		return d, deviceContent{}, errMissing()
	}
	return d, deviceContent{
		Device: name, Title: d.title, App: d.app, URL: v.address().String(), UserName: v.user().Name, Minutes: int(auth.ParcelLasts.Minutes()),
	}, nil
}

func (v *visit) deviceForm() error {
	_, content, err := v.device()
	if err != nil {
		return err
	}
	return v.show("device", content)
}

func (v *visit) connectDevice() error {
	d, content, err := v.device()
	if err != nil {
		return err
	}
	_, secret, err := v.Auth.CreateToken(v.r.Context(), auth.TokenSpec{User: v.user().Name, Name: d.app, Scopes: calendar.ScopeAll})
	if err != nil {
		return v.again("device", content, err)
	}
	link, err := d.link(v, secret)
	if err != nil {
		return err
	}
	if content.Code, err = qrCode(link, "Scan this with the device"); err != nil {
		return err
	}
	content.Link, content.Secret = template.URL(link), secret //nolint:gosec // it is made here, of our own address
	return v.show("device", content)
}

// androidLink is a login as DAVx⁵ takes it: the address with the credentials in it.
func (v *visit) androidLink(secret auth.Secret) (string, error) {
	u := v.address()
	u.Scheme = strings.Replace(u.Scheme, "http", "caldav", 1)
	u.User = url.UserPassword(v.user().Name, string(secret))
	return u.String(), nil
}

// appleLink is where the device finds a profile to install.
func (v *visit) appleLink(secret auth.Secret) (string, error) {
	parcel, err := v.Auth.HandOver(v.r.Context(), v.user(), secret)
	if err != nil {
		return "", err
	}
	return v.address().JoinPath(root, "profile", string(parcel)).String(), nil
}

// profile hands out the account in a parcel to its bearer, as long as it is good and its app password is.
func (v *visit) profile() error {
	who, secret, err := v.Auth.TakeOver(v.r.Context(), auth.Parcel(v.r.PathValue("parcel")), v.ClientAddr(v.r))
	if err != nil {
		return err
	}
	at := v.address()
	p := profile{
		Host: at.Hostname(), Port: portOf(at), TLS: at.Scheme == "https", Principal: at.Path,
		Description: "Calendars of " + who.User.Name, Username: who.User.Name, Password: string(secret), ID: string(who.Token),
	}
	v.w.Header().Set("Content-Type", profileType)
	v.w.Header().Set("Content-Disposition", `attachment; filename="calendars.mobileconfig"`)
	v.w.WriteHeader(http.StatusOK)
	_, _ = v.w.Write(p.text())
	return nil
}

// portOf is the port of an address, whether it says so or not.
func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}
