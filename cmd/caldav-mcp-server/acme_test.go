package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// authority is pebble, an authority for tests, which asks servers as a real one does.
type authority struct {
	directory, trusted string
	// roots are what its certificates are known by.
	roots *x509.CertPool
}

// freePorts returns ports without a listener.
func freePorts(t *testing.T, n int) []string {
	t.Helper()
	ports := make([]string, 0, n)
	for range 100 * n {
		// Below the range of ephemeral ports: otherwise another connection could take the port before the server.
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp",
			fmt.Sprintf("127.0.0.1:%d", 12_000+rand.IntN(20_000)))
		if err != nil {
			continue
		}
		defer l.Close()
		if ports = append(ports, portOf(l.Addr().String())); len(ports) == n {
			break
		}
	}
	if len(ports) < n {
		t.Fatal("there are no free ports")
	}
	return ports
}

// acmeName is the name in the requested certificate; the authority resolves it to this machine.
const acmeName = "calendar.example"

// nameServer says of every name that it is this machine (RFC 1035 §4). The authority asks it by TCP.
func nameServer(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go answerNames(conn)
		}
	}()
	return l.Addr().String()
}

func answerNames(conn net.Conn) {
	defer conn.Close()
	for {
		size := make([]byte, 2)
		if _, err := io.ReadFull(conn, size); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size))
		if _, err := io.ReadFull(conn, query); err != nil || len(query) < 17 {
			return
		}
		end := bytes.IndexByte(query[12:], 0) + 12 + 5
		answer := append([]byte{query[0], query[1], 0x85, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
		if query[end-3] == 1 { // its address
			answer[7] = 1
			answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1)
		}
		_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
	}
}

// startPebble runs one that asks at two ports, and whose certificates are good for so many seconds.
func startPebble(t *testing.T, httpPort, tlsPort string, seconds int) authority {
	t.Helper()
	program := os.Getenv("COMPAT_PEBBLE")
	if program == "" {
		t.Skip("COMPAT_PEBBLE names no pebble: compat/acme makes one")
	}
	dir, ports := t.TempDir(), freePorts(t, 2)
	chain, key, _ := writeCertificateFor(t, dir, 1, "localhost")
	settings := fmt.Appendf(nil,
		`{"pebble": {"listenAddress": "127.0.0.1:%s", "managementListenAddress": "127.0.0.1:%s", "certificate": %q,
		"privateKey": %q, "httpPort": %s, "tlsPort": %s, "profiles":
		{"default": {"description": "default", "validityPeriod": %d}}}}`,
		ports[0], ports[1], chain, key, httpPort, tlsPort, seconds)
	file := filepath.Join(dir, "config.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, program, "-config", file, "-dnsserver", nameServer(t))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	log := new(output)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	a := authority{"https://localhost:" + ports[0] + "/dir", chain, x509.NewCertPool()}
	until(t, "the authority answers", func() bool {
		return a.learn(t.Context(), "https://localhost:"+ports[1]+"/roots/0")
	})
	return a
}

// learn asks for the root of its certificates.
func (a authority) learn(ctx context.Context, url string) bool {
	own := x509.NewCertPool()
	text, err := os.ReadFile(a.trusted)
	if err != nil || !own.AppendCertsFromPEM(text) {
		return false
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	root, err := io.ReadAll(answer.Body)
	return err == nil && a.roots.AppendCertsFromPEM(root)
}

// serial is the number of the certificate that a door shows to who believes the authority alone, "" while there is
// none.
func (a authority) serial(t *testing.T, address string) string {
	t.Helper()
	conn, err := (&tls.Dialer{
		Config: &tls.Config{
			RootCAs: a.roots, ServerName: acmeName, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"h2"},
		},
	}).
		DialContext(t.Context(), "tcp", address)
	if err != nil {
		return ""
	}
	defer conn.Close()
	state := conn.(*tls.Conn).ConnectionState()
	if state.NegotiatedProtocol != "h2" {
		t.Errorf("the door speaks %q", state.NegotiatedProtocol)
	}
	return state.PeerCertificates[0].SerialNumber.String()
}

// env is how a server on a database asks the authority.
func (a authority) env(database, port string, more ...string) []string {
	return append(append(on(database), "ACME="+a.directory, "ACME_ROOTS="+a.trusted, "CALDAV_PORT="+port,
		"BASE_URL=https://"+acmeName+":"+port), more...)
}

// Two servers on one database share one certificate, whichever of them the authority calls, and a restart requests no
// other.
func TestACME(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"tls-alpn-01", "http-01"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, database string) { testACME(t, way, database) })
		})
	}
}

func testACME(t *testing.T, way, database string) {
	ports := freePorts(t, 6)
	first, second, plain, other, metrics := ports[0], ports[1], ports[2], ports[3], ports[4]
	asksTLS, more, beside := first, []string(nil), []string(nil)
	if way == "http-01" { // which the authority asks at the first alone
		asksTLS, more, beside = other, []string{"ACME_HTTP_ADDR=127.0.0.1:" + plain}, []string{
			"ACME_HTTP_ADDR=127.0.0.1:" + ports[5],
		}
	}
	a := startPebble(t, plain, asksTLS, 3600)
	settings := a.env(database, first, append(more, "METRICS_ADDR=127.0.0.1:"+metrics)...)
	one := serve(t, settings)
	two := serve(t, a.env(database, second, beside...))
	var serials [2]string
	until(t, "there is a certificate", func() bool {
		serials = [2]string{a.serial(t, one.addrs[caldavDoor]), a.serial(t, two.addrs[caldavDoor])}
		return serials[0] != "" && serials[1] != ""
	})
	if serials[0] != serials[1] {
		t.Errorf("two servers asked for a certificate each: %v", serials)
	}
	if got := a.serial(t, one.addrs[mcpDoor]); got != serials[0] {
		t.Errorf("the MCP door shows %q", got)
	}
	health := slices.DeleteFunc(slices.Clone(settings), func(s string) bool {
		return strings.HasPrefix(s, "DATABASE_URL")
	})
	call(t, append(health, "MCP_PORT="+portOf(one.addrs[mcpDoor])), "", "health")
	if way == "http-01" {
		testPlain(t, one.addrs[acmeDoor], first)
	}
	if err := one.interrupt(); err != nil {
		t.Fatal(err)
	}
	again := serve(t, settings)
	until(t, "it has one again", func() bool { return a.serial(t, again.addrs[caldavDoor]) != "" })
	if got := a.serial(t, again.addrs[caldavDoor]); got != serials[0] {
		t.Error("a restart asked for another certificate")
	}
	if log := one.log.String() + two.log.String() +
		again.log.String(); strings.Count(log, `"msg":"certificate"`) != 1 || strings.Contains(log, "PRIVATE") {
		t.Errorf("the log:\n%s", log)
	}
}

// testPlain checks the responses of the listener without TLS to clients other than the authority.
func testPlain(t *testing.T, address, port string) {
	t.Helper()
	for method, want := range map[string]int{"GET": http.StatusPermanentRedirect, "PUT": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"//elsewhere.example/dav/?a=b",
			bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = acmeName
		answer, err := new(http.Transport).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s was answered %s", method, answer.Status)
		}
		if to := answer.Header.Get("Location"); method == "GET" &&
			to != "https://"+acmeName+":"+port+"/elsewhere.example/dav/?a=b" {
			t.Errorf("sent to %q", to)
		}
	}
}

// A certificate that is about to end is renewed, and the old one is shown until then.
func TestACMERenews(t *testing.T) {
	t.Parallel()
	ports := freePorts(t, 2)
	const seconds = 12
	a := startPebble(t, ports[1], ports[0], seconds)
	settings := a.env(sqlite(t), ports[0])
	r := serve(t, settings)
	var old string
	until(t, "there is a certificate", func() bool { old = a.serial(t, r.addrs[caldavDoor]); return old != "" })
	if err := r.interrupt(); err != nil {
		t.Fatal(err)
	}
	<-time.After(seconds * 3 / 4 * time.Second)
	r = serve(t, settings)
	until(t, "it is renewed", func() bool { now := a.serial(t, r.addrs[caldavDoor]); return now != "" && now != old })
}

// An unreachable authority does not prevent a start, and is logged; an invalid configuration is refused with an
// explanation.
func TestACMEAway(t *testing.T) {
	t.Parallel()
	ports := freePorts(t, 2)
	r := serve(t, append(on(sqlite(t)), "ACME=https://127.0.0.1:"+ports[1]+"/dir", "CALDAV_PORT="+ports[0],
		"BASE_URL=https://"+acmeName))
	until(t, "the log says so", func() bool {
		for line := range strings.Lines(r.log.String()) {
			var l struct{ Level, Msg string }
			if json.Unmarshal([]byte(line), &l) == nil && l.Level == "ERROR" && l.Msg == "no certificate" {
				return true
			}
		}
		return false
	})
}

func TestACMESettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, env := range map[string][]string{
		"is not on, off":          {"ACME=http://ca.example/dir"},
		"ACME needs a BASE_URL":   {"ACME=on"},
		"the address 192.0.2.1":   {"ACME=on", "BASE_URL=https://192.0.2.1"},
		"use only one of them":    {"ACME=on", "BASE_URL=https://calendar.example", "TLS_CERT=a", "TLS_KEY=b"},
		"because ACME is off":     {"ACME_EMAIL=ann@example.com"},
		"for names with a dot":    {"ACME=on", "BASE_URL=https://calendar"},
		"contains no certificate": {"ACME=on", "BASE_URL=https://calendar.example", "ACME_ROOTS=" + empty},
		"ACME_ROOTS cannot be read": {
			"ACME=on", "BASE_URL=https://calendar.example", "ACME_ROOTS=" + filepath.Join(dir, "none"),
		},
		"ACME_HTTP_ADDR is malformed": {"ACME=on", "BASE_URL=https://calendar.example", "ACME_HTTP_ADDR=80"},
	} {
		cmd := exec.CommandContext(t.Context(), console.Program, "serve")
		cmd.Env = append(on(sqlite(t)), env...)
		said, err := cmd.CombinedOutput()
		if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), want) {
			t.Errorf("%v: %v, %s", env, err, said)
		}
	}
}
