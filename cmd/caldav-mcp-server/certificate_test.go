package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// writeCertificate puts a certificate of its own authority for a name into two files.
func writeCertificate(t *testing.T, dir string, number int64) (chain, key string, pool *x509.CertPool) {
	t.Helper()
	return writeCertificateFor(t, dir, number, "calendar.example")
}

func writeCertificateFor(t *testing.T, dir string, number int64, host string) (chain, key string, pool *x509.CertPool) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, made, made, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	chain, key, pool = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), x509.NewCertPool()
	for file, block := range map[string]*pem.Block{
		chain: {Type: "CERTIFICATE", Bytes: raw}, key: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return chain, key, pool
}

// Both doors speak TLS by themselves, with HTTP/2 and without, and take a renewed certificate with the next connection.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	chain, key, pool := writeCertificate(t, dir, 1)
	env := append(on(sqlite(t)), "TLS_CERT="+chain, "TLS_KEY="+key, "BASE_URL=https://calendar.example")
	r := serve(t, env)
	ask := func(door, path string, roots *x509.CertPool, protocols *http.Protocols) (said string, err error) {
		transport := &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Protocols: protocols,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, r.addrs[door])
			},
		}
		defer transport.CloseIdleConnections()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://calendar.example"+path, nil)
		if err != nil {
			return "", err
		}
		answer, err := transport.RoundTrip(request)
		if err != nil {
			return "", err
		}
		return answer.Proto + " " + answer.Status, answer.Body.Close()
	}
	one, two := new(http.Protocols), new(http.Protocols)
	one.SetHTTP1(true)
	two.SetHTTP2(true)
	for want, protocols := range map[string]*http.Protocols{"HTTP/1.1": one, "HTTP/2.0": two} {
		for door, path := range map[string]string{caldavDoor: "/dav/", mcpDoor: settings.MCPPath} {
			if said, err := ask(door, path, pool, protocols); err != nil || said != want+" 401 Unauthorized" {
				t.Errorf("%s at %s: %s, %v", want, door, said, err)
			}
		}
	}
	settings := slices.Clone(env)
	for door, name := range map[string]string{caldavDoor: "CALDAV_PORT", mcpDoor: "MCP_PORT"} {
		_, port, _ := net.SplitHostPort(r.addrs[door])
		settings = append(settings, name+"="+port)
	}
	call(t, settings, "", "health")

	// Half of a renewal leaves the old one in force.
	if err := os.WriteFile(chain, []byte("not yet"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(caldavDoor, "/healthz", pool, one); err != nil {
		t.Errorf("with a broken file: %v", err)
	}
	_, _, renewed := writeCertificate(t, dir, 2)
	if _, err := ask(caldavDoor, "/healthz", renewed, one); err != nil {
		t.Errorf("renewed: %v", err)
	}
	if !strings.Contains(r.log.String(), "the new certificate cannot be read") {
		t.Errorf("nothing is said of the broken file:\n%s", r.log.String())
	}
}
