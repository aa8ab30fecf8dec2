package main

import (
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"caldav-mcp-server/acme"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/server"
	"caldav-mcp-server/trace"
)

// newKeeper returns the manager of ACME certificates, or nil if ACME is off.
func (p *program) newKeeper(c settings.Config, log *slog.Logger) (*acme.Keeper, error) {
	if c.ACME.Directory == "" {
		if c.ACME.HTTPAddr != "" || c.ACME.Email != "" || c.ACME.Roots != "" {
			return nil,
				console.WrongUsage("ACME_EMAIL, ACME_HTTP_ADDR and ACME_ROOTS have no effect, because ACME is off")
		}
		return nil, nil
	}
	names, err := certifiedNames(c)
	if err != nil {
		return nil, err
	}
	roots, err := authorities(c.ACME)
	if err != nil {
		return nil, err
	}
	return acme.New(acme.Config{
		Names: names, Directory: c.ACME.Directory, Email: c.ACME.Email, Roots: roots, Log: log, Now: p.Now,
		Task: trace.Task,
	}), nil
}

// certifiedNames are the host names that need a certificate.
func certifiedNames(c settings.Config) ([]string, error) {
	switch {
	case c.TLSCert != "" || c.TLSKey != "":
		return nil, console.WrongUsage("ACME and TLS_CERT both give the server a certificate: use only one of them")
	case c.BaseURL == nil || c.BaseURL.Scheme != "https":
		return nil, console.WrongUsage(
			"ACME needs a BASE_URL that begins with https:// and contains the name for the certificate")
	}
	var names []string
	for _, name := range c.Hosts() {
		if _, err := netip.ParseAddr(name); err == nil {
			return nil, console.WrongUsage("ACME gets certificates for names only, but BASE_URL or MCP_URL contains "+
				"the address %s", name)
		}
		if !strings.Contains(name, ".") {
			return nil, console.WrongUsage(
				"ACME gets certificates only for names with a dot, but BASE_URL or MCP_URL contains %s", name)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// authorities are the root certificates of the ACME server, or nil for the system's.
func authorities(a settings.ACME) (*x509.CertPool, error) {
	if a.Roots == "" {
		return nil, nil
	}
	text, err := os.ReadFile(a.Roots)
	if err != nil {
		return nil, console.WrongUsage("ACME_ROOTS cannot be read: %v", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, console.WrongUsage("ACME_ROOTS names %s, which contains no certificate (PEM)", a.Roots)
	}
	return pool, nil
}

// plainDoors are the listeners without TLS: the ACME authority uses HTTP, and users type names without https://.
func plainDoors(c settings.Config, keeper *acme.Keeper) []server.Door {
	if keeper == nil || c.ACME.HTTPAddr == "" {
		return nil
	}
	return []server.Door{{
		Name: acmeDoor, Addr: c.ACME.HTTPAddr, Plain: true,
		Handler: keeper.Challenge(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			redirectToHTTPS(w, r, c.BaseURL.Host)
		})),
		Routes: []string{"/.well-known/acme-challenge/{token}"},
	}}
}

// redirectToHTTPS redirects GET and HEAD to HTTPS. Other requests may contain secrets, so they are refused rather than
// seem to work.
func redirectToHTTPS(w http.ResponseWriter, r *http.Request, host string) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this server requires HTTPS", http.StatusForbidden)
		return
	}
	to := url.URL{Scheme: "https", Host: host, Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: r.URL.RawQuery}
	http.Redirect(w, r, to.String(), http.StatusPermanentRedirect)
}
