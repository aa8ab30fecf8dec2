// Package acme gets certificates from an authority (RFC 8555) and renews them, by certmagic. What it gets is kept where all
// processes find it, so that each name is asked for once, and any of them may answer the authority's question.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

// LetsEncrypt is the directory of the authority that is asked unless another is named.
const LetsEncrypt = certmagic.LetsEncryptProductionCA

// Config says who is asked, for which names.
type Config struct {
	// Names are those that the server is reached by; the first is for clients that name none.
	Names []string
	// Directory is the authority's address, Email where it writes to; there may be none.
	Directory, Email string
	// Roots are what the authority itself is known by; nil for those of the machine.
	Roots *x509.CertPool
	// Host and TLSPort are where a door of ours listens that the authority reaches at port 443, HTTPPort what it
	// reaches at port 80; 0 where there is none.
	Host              string
	TLSPort, HTTPPort int
	Log               *slog.Logger
	Now               func() time.Time
}

// Keeper has the certificates.
type Keeper struct {
	config Config
	// at is nil until the store is there.
	at atomic.Pointer[agent]
}

// agent is certmagic, once it has somewhere to keep things.
type agent struct {
	certificates *certmagic.Config
	authority    *certmagic.ACMEIssuer
}

// New makes a Keeper that has no certificate until Run.
func New(c Config) *Keeper { return &Keeper{config: c} }

var errStarting = errors.New("the server is starting and has no certificate yet")

// TLS is for doors that speak it, and answers the authority's questions (RFC 8737).
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", "acme-tls/1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if a := k.at.Load(); a != nil {
				return a.certificates.GetCertificate(hello)
			}
			return nil, errStarting
		},
	}
}

// Challenge answers what the authority asks by HTTP, and leaves all else to next.
func (k *Keeper) Challenge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a := k.at.Load(); a == nil || !a.authority.HandleHTTPChallenge(w, r) {
			next.ServeHTTP(w, r)
		}
	})
}

// Run gets what is lacking, and renews until ctx ends. That the authority refuses is in the log, and is tried again.
func (k *Keeper) Run(ctx context.Context, shelf Shelf) error {
	log := zap.New(bridge{log: k.config.Log})
	a := new(agent)
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return a.certificates, nil },
		Logger:           log,
	})
	defer cache.Stop()
	a.certificates = certmagic.New(cache, certmagic.Config{
		Storage: newStorage(shelf, k.config.Now), DefaultServerName: k.config.Names[0], Logger: log, OnEvent: k.tell,
		// What authorities answered to OCSP ended; an expiry in days took its place.
		OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	a.authority = certmagic.NewACMEIssuer(a.certificates, certmagic.ACMEIssuer{
		CA: k.config.Directory, Email: k.config.Email, Agreed: true, TrustedRoots: k.config.Roots, Logger: log,
		ListenHost: k.config.Host, AltTLSALPNPort: k.config.TLSPort,
		AltHTTPPort: k.config.HTTPPort, DisableHTTPChallenge: k.config.HTTPPort == 0,
	})
	a.certificates.Issuers = []certmagic.Issuer{a.authority}
	k.at.Store(a)
	if err := a.certificates.ManageAsync(ctx, k.config.Names); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// tell logs what people wait for. What certmagic says of it beside that is for debugging.
func (k *Keeper) tell(ctx context.Context, event string, data map[string]any) error {
	if slices.Contains([]string{"cert_obtained", "cert_failed"}, event) {
		name, _ := data["identifier"].(string)
		renewed, _ := data["renewal"].(bool)
		if err, _ := data["error"].(error); err != nil {
			k.config.Log.ErrorContext(ctx, "no certificate", "name", name, "renewal", renewed, "error", err)
		} else {
			k.config.Log.InfoContext(ctx, "certificate", "name", name, "renewal", renewed)
		}
	}
	return nil
}
