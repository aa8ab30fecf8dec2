package web

import (
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"rsc.io/qr"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func (h *Handler) connectPages() []page {
	return []page{
		get("connect", people, connectPages.connect),
		get("connect/{device}", proven, connectPages.deviceForm),
		post("connect/{device}", proven, connectPages.connectDevice),
		get("profile/{sealed}", anybody, connectPages.profile),
	}
}

// connectContent is the data of the page for connecting apps.
type connectContent struct {
	UserName, URL, MCP string
	// Local is set if the addresses work on this machine only.
	Local bool
	// OAuth is set if assistants may request access.
	OAuth bool
	// DAVx5 opens DAVx⁵ on the Android phone that shows the page; empty elsewhere.
	DAVx5 template.URL
}

// connectPages connect apps and devices.
type connectPages struct{ *pageRequest }

func (p connectPages) connect() error {
	return p.show("connect", connectContent{
		p.user().Name, p.address().String(), p.assistantsURL(), p.local(), p.OAuth != nil, p.davx5Link(),
	})
}

// local reports whether the server's address works on this machine only, so that no other device can connect.
func (p *pageRequest) local() bool {
	host := strings.ToLower(p.address().Hostname())
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).IsLoopback()
}

// address returns the server's address for calendar apps: the configured BASE_URL, or else the one that the browser
// used.
func (p *pageRequest) address() *url.URL {
	if p.BaseURL != nil {
		return p.BaseURL.JoinPath("/")
	}
	u := &url.URL{Scheme: "http", Host: p.r.Host, Path: "/"}
	if p.r.TLS != nil {
		u.Scheme = "https"
	}
	return u
}

// assistantsURL returns the server's address for assistants.
func (p *pageRequest) assistantsURL() string {
	u, err := url.Parse(p.MCPURL)
	if err != nil || p.BaseURL != nil {
		return p.MCPURL
	}
	// Without a BASE_URL, the configured host name may be local to this machine.
	u.Host = net.JoinHostPort(p.address().Hostname(), u.Port())
	return u.String()
}

// devices are the kinds of device that connect by scanning a code. Each gets its own app password.
var devices = map[string]device{
	"apple":   {"device.apple-title", "Apple Calendar", connectPages.appleLink},
	"android": {"device.android-title", "DAVx⁵", connectPages.androidLink},
}

type device struct {
	title, app string
	// link returns the link that sets up the device.
	link func(connectPages, auth.Secret) (string, error)
}

// deviceContent is the data of the page for one kind of device.
type deviceContent struct {
	Device, Title, App string
	// Local is set if the device cannot reach the server.
	Local bool
	// Code and Link set up the device, once its app password exists.
	Code template.HTML
	Link template.URL
	// URL, UserName and Secret are for typing in by hand.
	URL, UserName string
	Secret        auth.Secret
	// DAVx5 is as in connectContent.
	DAVx5 template.URL
	// Minutes is how long the code of a profile is valid.
	Minutes int
}

func (p connectPages) device() (device, deviceContent, error) {
	name := p.r.PathValue("device")
	d, ok := devices[name]
	if !ok {
		return d, deviceContent{}, errMissing()
	}
	return d, deviceContent{
		Device: name, Title: p.lang.Text(d.title), App: d.app, Local: p.local(), URL: p.address().String(),
		UserName: p.user().Name,
		Minutes:  int(auth.SealedStateLasts.Minutes()), DAVx5: p.davx5Link(),
	}, nil
}

func (p connectPages) deviceForm() error {
	_, content, err := p.device()
	if err != nil {
		return err
	}
	return p.show("device", content)
}

func (p connectPages) connectDevice() error {
	d, content, err := p.device()
	if err != nil {
		return err
	}
	if content.Local {
		return p.again("device", content, p.wrong("device.unreachable"))
	}
	_, secret, err := p.Auth.CreateToken(p.r.Context(), auth.TokenSpec{
		User: p.user().Name, Name: d.app, Scopes: calendar.ScopeAll, ForOthers: true,
	})
	if err != nil {
		return p.again("device", content, err)
	}
	link, err := d.link(p, secret)
	if err != nil {
		return err
	}
	if content.Code, err = qrCode(link, p.lang.Text("device.scan")); err != nil {
		return err
	}
	content.Link, content.Secret = template.URL(link), secret //nolint:gosec // it is made here, of our own address
	return p.show("device", content)
}

// androidLink returns a login link for DAVx⁵: the address with the credentials.
func (p connectPages) androidLink(secret auth.Secret) (string, error) {
	u := p.address()
	u.Scheme = strings.Replace(u.Scheme, "http", "caldav", 1)
	u.User = url.UserPassword(p.user().Name, string(secret))
	return u.String(), nil
}

// davx5Link returns a link that opens DAVx⁵ on an Android phone, or the page to get it from. It has no secret: DAVx⁵
// then asks for a password of its own by the login flow.
func (p connectPages) davx5Link() template.URL {
	at := p.address()
	if p.local() || !strings.Contains(p.r.UserAgent(), "Android") {
		return ""
	}
	link := "intent://" + at.Host + at.EscapedPath() + "#Intent;scheme=" +
		strings.Replace(at.Scheme, "http", "caldav", 1) + ";package=at.bitfire.davdroid;i.loginFlow=1;" +
		"S.browser_fallback_url=" + url.QueryEscape("https://www.davx5.com/download") + ";end"
	return template.URL(link) //nolint:gosec // it is made here, of our own address
}

// appleLink returns the address of a profile to install.
func (p connectPages) appleLink(secret auth.Secret) (string, error) {
	sealed, err := p.Auth.HandOver(p.r.Context(), p.user(), secret)
	if err != nil {
		return "", err
	}
	return p.address().JoinPath(root, "profile", string(sealed)).String(), nil
}

// profile sends the account of sealed state to its bearer, while that state and its app password are valid.
func (p connectPages) profile() error {
	who, secret, err := p.Auth.TakeOver(p.r.Context(), auth.SealedState(p.r.PathValue("sealed")), p.ClientAddr(p.r))
	if err != nil {
		return err
	}
	at := p.address()
	made := profile{
		Host: at.Hostname(), Port: portOf(at), TLS: at.Scheme == "https", Principal: at.Path,
		Description: p.lang.Text("device.account", "name", who.User.Name), Username: who.User.Name,
		About: p.lang.Text("device.profile", "name", who.User.Name, "host", at.Hostname()), Password: string(secret),
		ID: string(who.Token),
	}
	p.w.Header().Set("Content-Type", profileType)
	p.w.Header().Set("Content-Disposition", `attachment; filename="calendars.mobileconfig"`)
	p.w.WriteHeader(http.StatusOK)
	_, _ = p.w.Write(made.text())
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

// quietZone is the width of the white margin around a code, in modules (ISO/IEC 18004 §6.3.8).
const quietZone = 4

// qrCode draws a text as an inline QR code. It is black on white in dark mode too: phones read no other.
func qrCode(text, label string) (template.HTML, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("drawing a QR code: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			run := 0
			for ; code.Black(x+run, y); run++ {
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x+quietZone, y+quietZone, run, run)
				x += run
			}
		}
	}
	side := code.Size + 2*quietZone
	//nolint:gosec // The path is of numbers, and the label is escaped.
	return template.HTML(fmt.Sprintf(
		`<svg class="qr" role="img" aria-label="%s" viewBox="0 0 %d %d" width="%d" height="%d"><path fill="#fff" `+
			`d="M0 0h%dv%dH0z"/><path fill="#000" d="%s"/></svg>`,
		template.HTMLEscapeString(label), side, side, 4*side, 4*side, side, side, path.String())), nil
}
