// Package acme gets certificates from an authority (RFC 8555) and renews them, by autocert. What it gets is kept where all
// processes find it, so that each name is asked for once, and any of them may answer the authority's question.
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

// LetsEncrypt is the directory of the authority that is asked unless another is named.
const LetsEncrypt = acme.LetsEncryptURL

// Config says who is asked, for which names.
type Config struct {
	// Names are those that the server is reached by; the first is for clients that name none.
	Names []string
	// Directory is the authority's address, Email where it writes to; there may be none.
	Directory, Email string
	// Roots are what the authority itself is known by; nil for those of the machine.
	Roots *x509.CertPool
	Log   *slog.Logger
	Now   func() time.Time
	// Task is told of each try to get a certificate: it returns what to do it within, and what to call with whether it failed.
	Task func(ctx context.Context, name string) (within context.Context, end func(failed bool, facts ...slog.Attr))
}

// Keeper has the certificates.
type Keeper struct {
	config Config
	// agent is nil until the store is there.
	agent atomic.Pointer[autocert.Manager]
	// had are the names that there are certificates for.
	had sync.Map
}

const (
	// retryFirst is how long one waits after a refusal; twice as long each time, up to retryLast: authorities count.
	retryFirst = time.Minute
	retryLast  = 4 * time.Hour
	// challengePath is where the authority asks (RFC 8555 §8.3).
	challengePath = "/.well-known/acme-challenge/"
)

// New makes a Keeper that has no certificate until Run.
func New(c Config) *Keeper { return &Keeper{config: c} }

var errNone = errors.New("the server has no certificate yet")

// TLS is for doors that speak it, and answers the authority's questions (RFC 8737).
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1", acme.ALPNProto}, GetCertificate: k.get,
	}
}

// get shows what there is. A client's connection orders nothing: it would wait, and strangers could have us ask.
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

// plain is the greeting of a client of our days, for which there is one certificate, and not another for those who know RSA alone.
func plain(name string) *tls.ClientHelloInfo {
	return &tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
}

// Challenge answers what the authority asks by HTTP, and leaves all else to next.
func (k *Keeper) Challenge(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent := k.agent.Load()
		if agent == nil || !strings.HasPrefix(r.URL.Path, challengePath) {
			next.ServeHTTP(w, r)
			return
		}
		if name, _, err := net.SplitHostPort(r.Host); err == nil {
			r.Host = name // a port is no part of the name that was asked for
		}
		agent.HTTPHandler(next).ServeHTTP(w, r)
	})
}

// Run gets what is lacking, and renews until ctx ends. byHTTP tells that Challenge is asked at a door. That the authority refuses is in the log, and is
// tried again.
func (k *Keeper) Run(ctx context.Context, shelf Shelf, byHTTP bool) {
	kept := &storage{shelf, k.config.Names, k.config.Now, k.config.Log}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: k.config.Roots, MinVersion: tls.VersionTLS12}
	agent := &autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: kept, HostPolicy: autocert.HostWhitelist(k.config.Names...), Email: k.config.Email,
		Client: &acme.Client{DirectoryURL: k.config.Directory, HTTPClient: &http.Client{Transport: transport, Timeout: time.Minute}},
	}
	if byHTTP {
		agent.HTTPHandler(nil) // from now on it may choose that question
	}
	k.agent.Store(agent)
	var all sync.WaitGroup
	for _, name := range k.config.Names {
		all.Go(func() { k.obtain(ctx, agent, kept, name) })
	}
	all.Wait()
	<-ctx.Done()
}

// obtain gets the first certificate for a name, or the one that another process has got meanwhile. autocert renews it from then on.
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
