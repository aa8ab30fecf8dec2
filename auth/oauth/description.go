package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/auth"
)

// A description is cached as long as its server says, within these limits.
const (
	freshLeast   = 5 * time.Minute
	freshMost    = time.Hour
	freshDefault = 10 * time.Minute
)

// client returns the requesting client. If its id is an address, it fetches the description, unless a recent one is
// cached.
func (s *Service) client(ctx context.Context, from netip.Addr, id auth.ClientID) (Client, error) {
	c, err := s.known(ctx, id)
	if c.Kind == Registered || c.Kind == Added || !strings.HasPrefix(string(id), "https://") {
		return c, err
	}
	if err != nil && FaultOf(err) == nil {
		return Client{}, err
	}
	if err == nil && s.now().Before(c.Fresh) {
		return c, nil
	}
	return s.describe(ctx, from, id, err == nil)
}

// describe fetches a client's description and stores it.
func (s *Service) describe(ctx context.Context, from netip.Addr, id auth.ClientID, known bool) (Client, error) {
	if err := checkID(id); err != nil {
		return Client{}, err
	}
	if s.fetch == nil {
		return Client{}, fault(InvalidClient, "this server fetches no descriptions: register")
	}
	if err := pay(s.descriptions, from); err != nil {
		return Client{}, err
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return Client{}, &Error{Code: Later, What: "too many clients come at once", RetryAfter: time.Second}
	}
	body, cacheControl, err := s.fetch(ctx, string(id))
	if err != nil {
		s.log.InfoContext(ctx, "a client's description could not be fetched", "client", id, "error", err)
		return Client{}, fault(InvalidClient, "the description of the client could not be fetched: %v", err)
	}
	c, err := parseDescription(id, body)
	if err != nil {
		return Client{}, err
	}
	now := s.seconds()
	c.Created, c.Fresh = now, now.Add(freshness(cacheControl))
	c.Site = siteOf(from)
	if !known {
		if err := s.crowd(ctx, Described, c.Site); err != nil {
			return Client{}, err
		}
	}
	if err := s.store.PutClient(ctx, c); err != nil {
		return Client{}, fmt.Errorf("keeping the client: %w", err)
	}
	return c, nil
}

// checkID refuses addresses that cannot be a client id.
func checkID(id auth.ClientID) error {
	u, err := url.Parse(string(id))
	switch {
	case err != nil || len(id) > maxAddress || u.Host == "" || u.User != nil ||
		strings.ContainsAny(string(id), "?# \\"):
		return fault(InvalidClient, "a client's id is an https address without user, query and fragment")
	case u.Path == "" || u.Path == "/":
		return fault(InvalidClient, "a client's id is an address with a path")
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return fault(InvalidClient, "a client's id has no dots for segments")
		}
	}
	return nil
}

// parseDescription parses a description. Its client_id must equal its address exactly. Otherwise anyone who can put a
// file on a server could impersonate another client by copying its description.
func parseDescription(id auth.ClientID, body []byte) (Client, error) {
	var m metadata
	if err := json.Unmarshal(body, &m); err != nil {
		return Client{}, fault(InvalidClient, "the description of the client is no JSON object")
	}
	switch {
	case m.ClientID != string(id):
		return Client{}, fault(InvalidClient, "the description of the client is not good: its client_id is another one")
	case m.ClientSecret != "" || m.Method != "" && m.Method != NoSecret:
		return Client{}, fault(InvalidClient,
			"a client with a description must have token_endpoint_auth_method none: anyone can read the description")
	}
	if e := FaultOf(checkRedirects(m.Redirects, false)); e != nil {
		return Client{}, fault(InvalidClient, "the description of the client is not good: %s", e.What)
	}
	return Client{
		ID: id, Kind: Described, Name: cleanName(m.Name, HostOf(string(id))), Redirects: m.Redirects, Method: NoSecret,
	}, nil
}

// freshness returns the max-age of a Cache-Control header (RFC 9111 §5.2.2).
func freshness(cacheControl string) time.Duration {
	for directive := range strings.SplitSeq(strings.ToLower(cacheControl), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
		switch {
		case name == "no-store" || name == "no-cache":
			return freshLeast
		case name == "max-age" && err == nil:
			return min(max(time.Duration(seconds)*time.Second, freshLeast), freshMost)
		}
	}
	return freshDefault
}
