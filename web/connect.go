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

// connectContent is the data of the page for connecting apps.
type connectContent struct {
	UserName, URL, MCP string
	// OAuth is set if assistants may request access.
	OAuth bool
}

func (v *visit) connect() error {
	return v.show("connect", connectContent{v.user().Name, v.address().String(), v.assistantsURL(), v.OAuth != nil})
}

// address returns the server's address for calendar apps: the configured BASE_URL, or else the one that the browser
// used.
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

// assistantsURL returns the server's address for assistants.
func (v *visit) assistantsURL() string {
	u, err := url.Parse(v.MCPURL)
	if err != nil || v.BaseURL != nil {
		return v.MCPURL
	}
	// Without a BASE_URL, the configured host name may be local to this machine.
	u.Host = net.JoinHostPort(v.address().Hostname(), u.Port())
	return u.String()
}

// devices are the kinds of device that connect by scanning a code. Each gets its own app password.
var devices = map[string]device{
	"apple":   {"iPhone, iPad or Mac", "Apple Calendar", (*visit).appleLink},
	"android": {"Android with DAVx⁵", "DAVx⁵", (*visit).androidLink},
}

type device struct {
	title, app string
	// link returns the link that sets up the device.
	link func(*visit, auth.Secret) (string, error)
}

// deviceContent is the data of the page for one kind of device.
type deviceContent struct {
	Device, Title, App string
	// Code and Link set up the device, once its app password exists.
	Code template.HTML
	Link template.URL
	// URL, UserName and Secret are for typing in by hand.
	URL, UserName string
	Secret        auth.Secret
	// Minutes is how long the code of a profile is valid.
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

// androidLink returns a login link for DAVx⁵: the address with the credentials.
func (v *visit) androidLink(secret auth.Secret) (string, error) {
	u := v.address()
	u.Scheme = strings.Replace(u.Scheme, "http", "caldav", 1)
	u.User = url.UserPassword(v.user().Name, string(secret))
	return u.String(), nil
}

// appleLink returns the address of a profile to install.
func (v *visit) appleLink(secret auth.Secret) (string, error) {
	parcel, err := v.Auth.HandOver(v.r.Context(), v.user(), secret)
	if err != nil {
		return "", err
	}
	return v.address().JoinPath(root, "profile", string(parcel)).String(), nil
}

// profile sends the account of a parcel to its bearer, while the parcel and its app password are valid.
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

// portOf returns the port of an address, explicit or default.
func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}
