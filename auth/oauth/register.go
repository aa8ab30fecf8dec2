package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// secretForm is the form of client secrets.
const secretForm auth.Form = "mcps_"

// metadata is a client's data about itself, in a registration (RFC 7591 §2) or a description. Other members are
// ignored, above all the logo's address: no user's browser must load it.
type metadata struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"client_name"`
	Redirects    []string `json:"redirect_uris"`
	Method       Method   `json:"token_endpoint_auth_method"`
	GrantTypes   []string `json:"grant_types"`
	AnswerTypes  []string `json:"response_types"`
	Type         string   `json:"application_type"`
	ClientSecret string   `json:"client_secret"`
}

// The application types (OpenID Connect Registration 1.0 §2).
const (
	webApp    = "web"
	nativeApp = "native"
)

// Registration is a new client and the values that are shown only once.
type Registration struct {
	Client
	// Secret is empty for a public client.
	Secret auth.Secret
	// Type is the application type.
	Type string
}

// Register creates a client from its registration request.
func (s *Service) Register(ctx context.Context, from netip.Addr, body []byte) (Registration, error) {
	if err := pay(s.registrations, from); err != nil {
		return Registration{}, err
	}
	var m metadata
	if err := json.Unmarshal(body, &m); err != nil {
		return Registration{}, fault(InvalidMetadata, "the registration is not a JSON object as RFC 7591 has it")
	}
	if err := m.check(); err != nil {
		return Registration{}, err
	}
	r := s.newClient(Registered, m)
	r.Site = siteOf(from)
	if err := s.crowd(ctx, Registered, r.Site); err != nil {
		return Registration{}, err
	}
	if err := s.store.PutClient(ctx, r.Client); err != nil {
		return Registration{}, fmt.Errorf("registering the client: %w", err)
	}
	s.log.InfoContext(ctx, "a client registered", "client", r.ID, "name", r.Name, "host", r.Host(r.Redirects[0]))
	return r, nil
}

// siteOf returns the network for counting registrations: an IPv4 address, or the /32 that one IPv6 provider has.
func siteOf(from netip.Addr) string {
	const bits = 32
	site, err := from.Unmap().WithZone("").Prefix(bits)
	if err != nil {
		return ""
	}
	return site.String()
}

// crowd makes room for one more client.
func (s *Service) crowd(ctx context.Context, kind Kind, site string) error {
	l := s.limits
	err := s.store.Crowd(ctx, kind, Bounds{
		Now: s.seconds(), Unused: l.Unused, Idle: l.Idle, Most: l.Most, Soon: l.Soon, Site: site,
	})
	if err != nil && calendar.ReasonOf(err) == calendar.Unavailable {
		return errors.Join(&Error{Code: Later, What: "too many clients have come lately", RetryAfter: l.Soon}, err)
	}
	if err != nil {
		return fmt.Errorf("making room for a client: %w", err)
	}
	return nil
}

// check rejects metadata that we cannot support. An unsupported authentication method is replaced: the response names
// the replacement (RFC 7591 §3.2.1).
func (m *metadata) check() error {
	local := len(m.Redirects) > 0 && !slices.ContainsFunc(m.Redirects, func(r string) bool { return !isLocal(r) })
	switch m.Type {
	case "":
		// Programs on the user's machine omit the type.
		if m.Type = webApp; local {
			m.Type = nativeApp
		}
	case webApp, nativeApp:
	default:
		return fault(InvalidMetadata, "application_type is web or native, not %q", brief(m.Type))
	}
	if err := checkRedirects(m.Redirects, true); err != nil {
		return err
	}
	if m.Type == webApp && slices.ContainsFunc(m.Redirects, isLocal) {
		return fault(InvalidRedirect,
			"a web application has https redirects alone: one on the user's machine has the application_type native")
	}
	if len(m.GrantTypes) > 0 && !slices.Contains(m.GrantTypes, "authorization_code") {
		return fault(InvalidMetadata, "grant_types lacks authorization_code, the one way to begin here")
	}
	if len(m.AnswerTypes) > 0 && !slices.Contains(m.AnswerTypes, "code") {
		return fault(InvalidMetadata, "response_types lacks code, the only one there is here")
	}
	return nil
}

// newClient makes a client, with a secret if it asks for one.
func (s *Service) newClient(kind Kind, m metadata) Registration {
	id, _, _ := secretForm.New()
	r := Registration{Type: m.Type, Client: Client{
		ID: auth.ClientID(id), Kind: kind, Name: cleanName(m.Name, HostOf(m.Redirects[0])), Redirects: m.Redirects,
		Method: NoSecret, Created: s.seconds(),
	}}
	if m.Method == SecretBasic || m.Method == SecretInForm {
		_, r.Digest, r.Secret = secretForm.New()
		r.Method = m.Method
	}
	return r
}

// NewClient describes a client to add by hand.
type NewClient struct {
	Name      string
	Redirects []string
	// Secret is set for a confidential client.
	Secret bool
}

// AddClient creates a client for an administrator.
func (s *Service) AddClient(ctx context.Context, n NewClient) (Registration, error) {
	if strings.TrimSpace(n.Name) == "" {
		return Registration{}, fault(InvalidMetadata, "a client needs a name that people know it by")
	}
	if err := checkRedirects(n.Redirects, true); err != nil {
		return Registration{}, err
	}
	m := metadata{Name: n.Name, Redirects: n.Redirects}
	if n.Secret {
		m.Method = SecretBasic
	}
	r := s.newClient(Added, m)
	if err := s.store.PutClient(ctx, r.Client); err != nil {
		return Registration{}, fmt.Errorf("adding the client: %w", err)
	}
	return r, nil
}
