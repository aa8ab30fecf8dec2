package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/linked/rest/resttest"
)

// appSecret is how our server proves at a provider that it is itself.
const appSecret = "app-secret-9f8e7d6c5b4a"

// elsewhere makes providers reachable under their own names, as behind a company's proxy. It returns the environment
// variables that tell our server the proxy and its certificate authority.
func elsewhere(t *testing.T, hosts map[string]http.Handler) []string {
	t.Helper()
	names := make([]string, 0, len(hosts))
	for host := range hosts {
		names = append(names, host)
	}
	certificate, roots := vouched(t, names)
	behind := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hosts[r.Host].ServeHTTP(w, r)
	}))
	behind.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	behind.StartTLS()
	t.Cleanup(behind.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		if r.Method != http.MethodConnect || hosts[host] == nil {
			t.Errorf("the server asks for %s %s", r.Method, r.Host)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		pass(r.Context(), w, behind.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	return []string{"HTTPS_PROXY=" + proxy.URL, "SSL_CERT_FILE=" + roots}
}

// pass connects a proxy's client with an address.
func pass(ctx context.Context, w http.ResponseWriter, address string) {
	far, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	_, _ = io.WriteString(near, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() {
		_, _ = io.Copy(far, near)
		_ = far.Close()
	}()
	_, _ = io.Copy(near, far)
}

// vouched makes a certificate for names, and a file with who vouches for it.
func vouched(t *testing.T, names []string) (certificate tls.Certificate, roots string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "elsewhere"}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(48 * time.Hour), IsCA: true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, made, made, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	roots = filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: secret}, roots
}

var agreeAt = regexp.MustCompile(`https://\S+/(?:auth|authorize)\?\S+`)

// link links an account as a user does at the shell: the command prints a URL, where the owner consents, and reads the
// URL that the browser is redirected to. It returns the command's output.
func link(t *testing.T, env []string, keys *resttest.Keys, user, provider string) string {
	t.Helper()
	var said output
	cmd := exec.CommandContext(t.Context(), console.Program, "link-account", "--user", user, "--provider", provider)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	var stdout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &said
	paste, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var over error
	gone := false
	until(t, "the command prints an address", func() bool {
		select {
		case over = <-ended:
			gone = true
		default:
		}
		return gone || strings.Contains(said.String(), "paste")
	})
	if gone {
		t.Fatalf("link-account: %v\n%s", over, said.String())
	}
	address, err := url.Parse(agreeAt.FindString(said.String()))
	if err != nil {
		t.Fatal(err)
	}
	q := address.Query()
	back := url.Values{"code": {keys.Agree(q.Get("code_challenge"))}, "state": {q.Get("state")}}
	if _, err := io.WriteString(paste, app.AgreedAt+"/?"+back.Encode()+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("link-account: %v\n%s", err, said.String())
	}
	return stdout.String() + said.String()
}
