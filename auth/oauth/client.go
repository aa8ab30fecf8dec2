package oauth

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"caldav-mcp-server/auth"
)

// Kind says how the server came to know a client.
type Kind string

// The kinds of clients.
const (
	// Described clients have an address for an id, at which their description lies (CIMD,
	// draft-ietf-oauth-client-id-metadata-document).
	Described Kind = "described"
	// Registered clients have registered themselves (RFC 7591).
	Registered Kind = "registered"
	// Added clients were added by the administrator.
	Added Kind = "added"
)

// Client is a program that asks users to let it in.
type Client struct {
	ID   auth.ClientID
	Kind Kind
	// Name is the client's own name for itself. It proves nothing.
	Name string
	// Redirects are where a user's browser may be sent with the answer.
	Redirects []string
	// Digest is of the secret of a client that can keep one; empty for the others, which are known only by
	// their redirects (RFC 6749 §2.1).
	Digest auth.SecretHash
	// Method is how the client shows its secret.
	Method  Method
	Created time.Time
	// Used is when a grant of the client's last got it a ticket; zero for never.
	Used time.Time
	// Fresh is until when a description holds.
	Fresh time.Time
	// Site is the network that it was registered or described from; empty for one of the administrator's.
	Site string
}

// Method is a way in which clients identify themselves at the token endpoint (RFC 7591 §2).
type Method string

// The methods there are.
const (
	NoSecret     Method = "none"
	SecretBasic  Method = "client_secret_basic"
	SecretInForm Method = "client_secret_post"
)

// Methods lists them. None comes first: hosts that describe themselves look for it.
func Methods() []Method { return []Method{NoSecret, SecretBasic, SecretInForm} }

// Host is the name of the host behind the client, as far as that can be told: the one that serves its
// description, or that gets the answer.
func (c Client) Host(redirect string) string {
	if c.Kind == Described {
		return HostOf(string(c.ID))
	}
	return HostOf(redirect)
}

// HostOf is what a person is told of an address: the host, or the scheme of a program on their machine.
func HostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.Scheme != "https" && u.Scheme != "http" {
		return u.Scheme + ":"
	}
	return strings.ToLower(u.Hostname())
}

// title is how the client is called in lists and in the journal: "Claude (claude.ai)".
func (c Client) title(redirect string) string { return c.Name + " (" + c.Host(redirect) + ")" }

const maxName = 80

// unseen are the characters that Unicode counts as letters and marks, and that nobody sees: its default ignorable code points (UAX #44),
// the fillers of Hangul among them. With them a name could push what the page says of the client out of sight.
var unseen = []*unicode.RangeTable{unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, {R16: []unicode.Range16{
	{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the Braille pattern without dots
}}}

// cleanName makes one printable line of what a client calls itself; where nothing is left, of its host.
func cleanName(name, host string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || unicode.In(r, unseen...) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName])) + "…"
	}
	if name == "" {
		return host
	}
	return name
}
