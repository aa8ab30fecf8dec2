package oauth

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxRedirects limits a client's redirect URIs.
	maxRedirects = 10
	// maxAddress limits the length of addresses, redirect URIs and ids.
	maxAddress = 2000
)

// editors are schemes without a dot that belong to well-known programs. Any other such scheme could start an unknown
// program on the user's machine.
var editors = [...]string{
	"cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed", "kiro", "trae", "claude", "raycast",
}

// hostForm is the syntax of hosts. Go's parser accepts more characters, including ones that end the directive in
// our Content-Security-Policy that names the host.
var hostForm = regexp.MustCompile(`^([A-Za-z0-9._-]+|[0-9A-Fa-f:.]+)$`)

var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]{1,63}$`)

// checkRedirect refuses unsafe redirect URIs. It allows HTTPS, HTTP on the user's own machine, and, if private is set,
// a scheme that belongs to a program there (RFC 8252 §7).
func checkRedirect(address string, private bool) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || len(address) > maxAddress || strings.ContainsAny(address, " \t\r\n\\") || !u.IsAbs():
		return fault(InvalidRedirect, "%q is no address to redirect to", brief(address))
	case strings.Contains(address, "#"):
		return fault(InvalidRedirect, "a redirect has no fragment: %q", brief(address))
	case u.User != nil:
		return fault(InvalidRedirect, "a redirect has no user name: %q", brief(address))
	case u.Scheme == "https" && hostForm.MatchString(u.Hostname()):
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http" || u.Scheme == "https":
		return fault(InvalidRedirect, "a redirect is https, or http to this machine: %q", brief(address))
	case !private || !ofProgram(u.Scheme):
		return fault(InvalidRedirect, "redirects to the scheme %q are not allowed: an app's own scheme contains a "+
			"dot, such as com.example.app", brief(u.Scheme))
	}
	return nil
}

// ofProgram reports whether a scheme belongs to one program: it contains the maker's reversed domain name (RFC 8252
// §7.1), or it is well known.
func ofProgram(name string) bool {
	return scheme.MatchString(name) && (strings.Contains(name, ".") || slices.Contains(editors[:], name))
}

func checkRedirects(all []string, private bool) error {
	if len(all) == 0 || len(all) > maxRedirects {
		return fault(InvalidRedirect, "a client has 1 to %d redirect_uris", maxRedirects)
	}
	for _, one := range all {
		if err := checkRedirect(one, private); err != nil {
			return err
		}
	}
	return nil
}

// allows reports whether a redirect may go to an address. It must equal one of the client's, except for the port on the
// user's own machine, where programs take a free one (RFC 8252 §7.3).
func (c Client) allows(address string) bool {
	return slices.ContainsFunc(c.Redirects, func(known string) bool {
		return known == address || isLocal(known) && checkRedirect(address, false) == nil &&
			portless(known) == portless(address)
	})
}

// portless removes the port from an address on the user's own machine.
func portless(address string) string {
	u, err := url.Parse(address)
	if err != nil || !isLocal(address) {
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}

// isLocal reports whether the address is HTTP on the user's own machine.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// answerTo returns the redirect with the answer's parameters. A query in the client's address stays.
func answerTo(redirect string, answer url.Values) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return "" // checked before
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += answer.Encode()
	return u.String()
}

// brief shortens a client's text for use in an error.
func brief(text string) string {
	if runes := []rune(strings.ToValidUTF8(text, "")); len(runes) > 100 {
		return string(runes[:100]) + "…"
	}
	return text
}
