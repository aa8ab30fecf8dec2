// Package acme gets certificates from a certificate authority (RFC 8555) and renews them, with autocert. It stores them
// in the shared store: each name is ordered only once, and any process can answer the authority's challenges.
package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// LetsEncrypt is the directory of the default authority.
const LetsEncrypt = acme.LetsEncryptURL

// Config selects the authority and the host names.
type Config struct {
	// Names are the server's host names; the first is for clients without SNI.
	Names []string
	// Directory is the authority's address. Email is the contact address for the account; it may be empty.
	Directory, Email string
	// Roots are the trusted roots for connections to the authority; nil uses the system's.
	Roots *x509.CertPool
	Log   *slog.Logger
	Now   func() time.Time
	// Task traces each try to get a certificate. It returns the context for the try and a function to call with the
	// outcome.
	Task func(ctx context.Context, name string) (within context.Context, end func(failed bool, facts ...slog.Attr))
}

// Keeper provides the certificates.
type Keeper struct {
	config Config
	// agent is nil until Run has the store.
	agent atomic.Pointer[autocert.Manager]
	// had are the names that already have a certificate.
	had sync.Map
}

const (
	// retryFirst is the wait after a failure. It doubles each time, up to retryLast, since authorities limit the number
	// of tries.
	retryFirst = time.Minute
	retryLast  = 4 * time.Hour
	// challengePath is the path of HTTP challenges (RFC 8555 §8.3).
	challengePath = "/.well-known/acme-challenge/"
)

// New makes a Keeper, which has no certificate until Run.
func New(c Config) *Keeper { return &Keeper{config: c} }

var errNone = errors.New("the server has no certificate yet")

// TLS returns the configuration for listeners. It also answers TLS-ALPN challenges (RFC 8737).
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}, GetCertificate: k.get,
	}
}

// get returns an existing certificate. A client's connection never starts an order: it would have to wait, and
// strangers could trigger orders.
func (k *Keeper) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	agent := k.agent.Load()
	if agent == nil {
		return nil, errNone
	}
	if len(hello.SupportedProtos) == 1 && hello.SupportedProtos[0] == acme.ALPNProto {
		return agent.GetCertificate(hello)
	}
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if name == "" {
		name = k.config.Names[0]
	}
	if _, ok := k.had.Load(name); !ok {
		return nil, errNone
	}
	return agent.GetCertificate(plain(name))
}

// plain is the ClientHello of a modern client. It makes autocert keep a single ECDSA certificate, without another for
// RSA-only clients.
func plain(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// Challenge answers HTTP challenges and passes other requests to next.
func (k *Keeper) Challenge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent := k.agent.Load()
		if agent == nil || !strings.HasPrefix(r.URL.Path, challengePath) {
			next.ServeHTTP(w, r)
			return
		}
		if name, _, err := net.SplitHostPort(r.Host); err == nil {
			r.Host = name // the name has no port
		}
		agent.HTTPHandler(next).ServeHTTP(w, r)
	})
}

// Run orders missing certificates and renews them until ctx ends. byHTTP is set if a listener uses Challenge. Failures
// are logged and retried.
func (k *Keeper) Run(ctx context.Context, shelf Shelf, byHTTP bool) {
	kept := &storage{shelf, k.config.Names, k.config.Now, k.config.Log}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: k.config.Roots, MinVersion: tls.VersionTLS12}
	agent := &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: kept, HostPolicy: autocert.HostWhitelist(k.config.Names...),
		Email: k.config.Email,
		Client: &acme.Client{
			DirectoryURL: k.config.Directory, HTTPClient: &http.Client{Transport: transport, Timeout: time.Minute},
		},
	}
	if byHTTP {
		agent.HTTPHandler(nil) // from now on, autocert may choose HTTP challenges
	}
	k.agent.Store(agent)
	var all sync.WaitGroup
	for _, name := range k.config.Names {
		all.Go(func() { k.obtain(ctx, agent, kept, name) })
	}
	all.Wait()
	<-ctx.Done()
}

// obtain gets the first certificate for a name, or the one that another process has got meanwhile. autocert renews it
// later.
func (k *Keeper) obtain(ctx context.Context, agent *autocert.Manager, kept *storage, name string) {
	for wait := retryFirst; ; wait = min(2*wait, retryLast) {
		within, end := k.config.Task(ctx, "certificate")
		err := kept.locked(within, name, func() error {
			_, err := agent.GetCertificate(plain(name))
			return err
		})
		end(err != nil)
		if err == nil {
			k.had.Store(name, true)
			return
		}
		if ctx.Err() != nil {
			return
		}
		k.config.Log.ErrorContext(ctx, "no certificate", "name", name, "again", wait, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}
