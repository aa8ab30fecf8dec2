package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bench is the test environment for clients: a server, a browser for its user to sign in, and a host with client
// descriptions.
type bench struct {
	work, modules  string
	user, password string
	server         *server
	browser        *browser
	host           *httptest.Server
}

// describedName is the name of the described client.
const describedName = "A client that describes itself"

// redirects are the redirect URIs; the port varies, and each client has its own path.
var redirects = []string{redirect, "http://127.0.0.1/oauth/callback", "http://localhost/oauth/callback"}

const redirect = "http://127.0.0.1/callback"

func newBench(ctx context.Context, user, password string) (*bench, error) {
	work, err := os.MkdirTemp("", "oauth-client")
	if err != nil {
		return nil, err
	}
	b := &bench{work: work, modules: os.Getenv("NODE_MODULES"), user: user, password: password}
	b.host = httptest.NewTLSServer(http.HandlerFunc(b.describe))
	if b.server, err = b.serve(ctx, "oauth-server.log"); err != nil {
		b.close()
		return nil, err
	}
	if b.browser, err = newBrowser(ctx, b); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *bench) close() {
	if b.browser != nil {
		b.browser.close()
	}
	if b.server != nil {
		b.server.stop()
	}
	b.host.Close()
	_ = os.RemoveAll(b.work)
}

// description returns the id of the described client.
func (b *bench) description() string { return b.host.URL + "/client.json" }

func (b *bench) describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"client_id": b.description(), "client_name": describedName, "redirect_uris": redirects,
		"token_endpoint_auth_method": "none", "grant_types": []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"},
	})
}

// server is an additional process on the judge's store.
type server struct {
	command     *exec.Cmd
	caldav, mcp string
	log         string
}

// serve starts one. It may fetch from the host of descriptions and trusts its certificate.
func (b *bench) serve(ctx context.Context, logged string) (*server, error) {
	certificate := filepath.Join(b.work, "host.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: b.host.Certificate().Raw}
	if err := os.WriteFile(certificate, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	dir := os.Getenv("OUT")
	if dir == "" {
		dir = os.TempDir()
	}
	s := &server{log: filepath.Join(dir, logged)}
	log, err := os.Create(s.log)
	if err != nil {
		return nil, err
	}
	s.command = exec.CommandContext(ctx, os.Getenv("COMPAT_BINARY"), "serve", "--no-first-user")
	s.command.Env = append(os.Environ(), "CALDAV_PORT=0", "MCP_PORT=0", "FETCH_ALLOW=127.0.0.1",
		"SSL_CERT_FILE="+certificate)
	said, err := s.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(io.TeeReader(said, log))
	for lines.Scan() {
		door, addr := field(lines.Text(), "door"), field(lines.Text(), "addr")
		switch {
		case !strings.Contains(lines.Text(), "msg=listening"):
		case door == "caldav":
			s.caldav = "http://" + addr
		case door == "mcp":
			s.mcp = "http://" + addr + "/mcp"
		}
		if strings.Contains(lines.Text(), "msg=ready") {
			go func() { _, _ = io.Copy(io.Discard, io.TeeReader(said, log)) }()
			return s, nil
		}
	}
	return nil, fmt.Errorf("the server did not start; its log is %s", s.log)
}

// field returns a value in a log line.
func field(line, key string) string {
	_, rest, _ := strings.Cut(line, " "+key+"=")
	value, _, _ := strings.Cut(rest, " ")
	return value
}

func (s *server) stop() {
	_ = s.command.Process.Signal(os.Interrupt)
	_ = s.command.Wait()
}

// command runs a command of the program on the server's store.
func (b *bench) command(ctx context.Context, into any, args ...string) error {
	c := exec.CommandContext(ctx, os.Getenv("COMPAT_BINARY"), args...)
	var said bytes.Buffer
	c.Stderr = &said
	data, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", args[0], err, said.Bytes())
	}
	return json.Unmarshal(data, into)
}

// answers receives the final redirect of a browser.
type answers struct {
	*httptest.Server
	got chan url.Values
}

func newAnswers() *answers {
	a := &answers{got: make(chan url.Values, 4)}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/callback" {
			a.got <- r.URL.Query()
		}
		_, _ = io.WriteString(w, "<title>done</title>")
	}))
	return a
}

func (a *answers) redirect() string { return a.URL + "/callback" }

// wait returns the received parameters.
func (a *answers) wait(ctx context.Context) (url.Values, error) {
	select {
	case got := <-a.got:
		if got.Get("error") != "" {
			return nil, errors.New(got.Get("error") + ": " + got.Get("error_description"))
		}
		return got, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// freePort returns a free port.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
