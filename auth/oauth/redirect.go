package oauth

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxRedirects bounds how many a client may have.
	maxRedirects = 10
	// maxAddress bounds addresses, redirects and ids alike.
	maxAddress = 2000
)

// editors are schemes without a dot that well-known programs have to themselves. Of the others nobody knows what
// they start on the user's machine.
var editors = [...]string{"cursor", "vscode", "vscode-insiders", "vscodium", "windsurf", "zed", "kiro", "trae", "claude", "raycast"}

// hostForm is what hosts are made of. Go's parser takes more, such as what ends a policy of ours in which the host is named.
var hostForm = regexp.MustCompile(`^([A-Za-z0-9._-]+|[0-9A-Fa-f:.]+)$`)

var scheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]{1,63}$`)

// checkRedirect refuses what no browser may be sent to: all but HTTPS, HTTP on the user's own machine, and, where
// private says so, a scheme that a program on it has to itself (RFC 8252 §7).
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
		return fault(InvalidRedirect, "nobody is redirected to the scheme %q: a program's own has a dot, as com.example.app", brief(u.Scheme))
	}
	return nil
}

// ofProgram tells whether a program has a scheme to itself: by the name of its maker's domain, turned round (RFC 8252
// §7.1), or since it is well known.
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

// allows tells whether an answer may go to an address: to one of the client's, letter by letter, but for the port on
// the user's own machine, where programs take one that is free (RFC 8252 §7.3).
func (c Client) allows(address string) bool {
	return slices.ContainsFunc(c.Redirects, func(known string) bool {
		return known == address || isLocal(known) && checkRedirect(address, false) == nil && portless(known) == portless(address)
	})
}

// portless is an address on the user's own machine without its port.
func portless(address string) string {
	u, err := url.Parse(address)
	if err != nil || !isLocal(address) {
		return ""
	}
	u.Host = u.Hostname()
	return u.String()
}

// isLocal tells whether an answer stays on the user's machine, in HTTP.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// answerTo is where the browser goes with the answer. A query in the client's address stays.
func answerTo(redirect string, answer url.Values) string {
	u, err := url.Parse(redirect)
	if err != nil {
		return "" // it was checked
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += answer.Encode()
	return u.String()
}

// brief is as much of what somebody sent as an error repeats.
func brief(text string) string {
	if runes := []rune(strings.ToValidUTF8(text, "")); len(runes) > 100 {
		return string(runes[:100]) + "…"
	}
	return text
}
