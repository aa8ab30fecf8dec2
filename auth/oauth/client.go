package oauth

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"caldav-mcp-server/auth"
)

// Kind is how the server got to know a client.
type Kind string

// The kinds of clients.
const (
	// Described clients use the address of their metadata document as id (CIMD,
	// draft-ietf-oauth-client-id-metadata-document).
	Described Kind = "described"
	// Registered clients registered themselves (RFC 7591).
	Registered Kind = "registered"
	// Added clients were created by an administrator.
	Added Kind = "added"
)

// Client is an OAuth client.
type Client struct {
	ID   auth.ClientID
	Kind Kind
	// Name is chosen by the client and proves nothing.
	Name string
	// Redirects are the client's redirect URIs.
	Redirects []string
	// Digest is the hash of a confidential client's secret. It is empty for public clients, which only their redirect
	// URIs identify (RFC 6749 §2.1).
	Digest auth.SecretHash
	// Method is how the client authenticates at the token endpoint.
	Method  Method
	Created time.Time
	// Used is when a grant of the client last got a ticket; zero for never.
	Used time.Time
	// Fresh is until when the cached description is valid.
	Fresh time.Time
	// Site is the network that registered or described it; empty for an administrator's client.
	Site string
}

// Method is an authentication method for the token endpoint (RFC 7591 §2).
type Method string

// The supported methods.
const (
	NoSecret     Method = "none"
	SecretBasic  Method = "client_secret_basic"
	SecretInForm Method = "client_secret_post"
)

// Methods lists the supported methods. None comes first: hosts that describe themselves look for it.
func Methods() []Method { return []Method{NoSecret, SecretBasic, SecretInForm} }

// Host returns the host behind the client, as far as it is known: the host of its description or of the redirect URI.
func (c Client) Host(redirect string) string {
	if c.Kind == Described {
		return HostOf(string(c.ID))
	}
	return HostOf(redirect)
}

// HostOf returns the part of an address to show people: the host, or the scheme of an app on their machine.
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

// title is the client's display name in lists and in the journal: "Claude (claude.ai)".
func (c Client) title(redirect string) string { return c.Name + " (" + c.Host(redirect) + ")" }

const maxName = 80

// unseen are invisible characters that Unicode counts as letters and marks: its default ignorable code points (UAX
// #44), including the Hangul fillers. A name full of them could push the rest of the consent page out of view.
var unseen = []*unicode.RangeTable{
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, {R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the Braille pattern without dots
	}},
}

// cleanName makes one printable line of a client's name. If no character is left, it uses the host.
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
