package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"caldav-mcp-server/acme"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// certificate is a pair of files that a renewal may replace while the server runs.
type certificate struct {
	chain, key string
	log        *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	// made are the modification times of the files that were loaded, or that failed to load.
	made [2]time.Time
}

// tlsConfig is the TLS configuration of the listeners, or nil without TLS. The files must be valid at startup.
func tlsConfig(c settings.Config, keeper *acme.Keeper, log *slog.Logger) (*tls.Config, error) {
	if keeper != nil {
		return keeper.TLS(), nil
	}
	if c.TLSCert == "" && c.TLSKey == "" {
		return nil, nil
	}
	switch {
	case c.TLSCert == "" || c.TLSKey == "":
		return nil, console.WrongUsage("TLS_CERT (the certificate chain) and TLS_KEY (its key) must be set together")
	case c.BaseURL == nil || c.BaseURL.Scheme != "https":
		return nil,
			console.WrongUsage("TLS_CERT needs a BASE_URL that begins with https:// and contains the certificate's " +
				"name, and the port if there is no proxy")
	}
	files := &certificate{chain: c.TLSCert, key: c.TLSKey, log: log}
	if _, err := files.get(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: files.get}, nil
}

// get returns the certificate in the files, and checks for new files with each connection. If a new certificate is
// invalid, the last one stays in use.
func (f *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	made, err := f.modified()
	if err == nil && made == f.made && f.loaded != nil {
		return f.loaded, nil
	}
	if err == nil {
		err = f.load(made)
	}
	if f.loaded == nil {
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	if err != nil && made != f.made {
		f.made = made
		f.log.ErrorContext(context.Background(), "the new certificate cannot be read: the last one stays in force",
			"error", err)
	}
	return f.loaded, nil
}

func (f *certificate) load(made [2]time.Time) error {
	pair, err := tls.LoadX509KeyPair(f.chain, f.key)
	if err != nil {
		return err
	}
	f.loaded, f.made = &pair, made
	f.log.InfoContext(context.Background(), "certificate", "until", pair.Leaf.NotAfter, "names", pair.Leaf.DNSNames)
	return nil
}

func (f *certificate) modified() (made [2]time.Time, err error) {
	for i, file := range []string{f.chain, f.key} {
		info, failed := os.Stat(file)
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		made[i] = info.ModTime()
	}
	return made, err
}

// ownTLS is for requests to the server on this machine. It accepts the certificate in the files, under any name.
func ownTLS(c settings.Config) (*tls.Config, error) {
	if c.ACME.Directory != "" {
		//nolint:gosec // The certificate is in the database, and the request to our own port carries no secret.
		return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, fmt.Errorf("the certificate cannot be read: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	own := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	if len(pair.Leaf.DNSNames) > 0 {
		own.ServerName = pair.Leaf.DNSNames[0]
	}
	return own, nil
}
