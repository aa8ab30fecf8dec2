// Package pgtest runs a throw-away Postgres for tests.
//
// A server from Start listens on a free port of 127.0.0.1, has its own data directory and a random password, and is
// gone after Stop. If the caller is root, Postgres runs as another user, since it refuses to run as root.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Superuser is the only role of a server from Start.
const Superuser = "postgres"

// bindAttempts is how often Start tries another port: another process may take a free port before Postgres does.
const bindAttempts = 5

// ErrNoPostgres means that Postgres' programs are not on this machine.
var ErrNoPostgres = errors.New(
	"pgtest: initdb and postgres not found in PATH, by pg_config --bindir or in /usr/lib/postgresql; " +
		"install them (Debian: apt-get install postgresql) or set " + EnvURL + " to a running server's URL")

// Options change the server's configuration. The zero value suits most tests.
type Options struct {
	// Durable leaves fsync and full-page writes on, as in production. Killing the server does not require it: commits
	// survive the death of Postgres anyway, but not a crash of the machine.
	Durable bool
	// MaxConnections is the server's limit, 300 if zero: many packages run their tests at the same time.
	MaxConnections int
	// Settings are further lines of postgresql.conf, by name.
	Settings map[string]string
}

// Server is a Postgres that this process started.
type Server struct {
	programs programs
	account  *account
	dir      string
	password string
	port     int
	settings map[string]string
	running  *process
}

// Start makes a new, empty database cluster and starts Postgres on it. The context bounds only the start; a server
// lives until Stop. If Postgres is not installed, the error is ErrNoPostgres.
func Start(ctx context.Context, options Options) (*Server, error) {
	found, err := findPrograms(ctx)
	if err != nil {
		return nil, err
	}
	runAs, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	s := &Server{programs: found, account: runAs, dir: dir, password: rand.Text(), settings: settings(options)}
	if err := s.initialise(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.startSomewhere(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// URL returns the postgres:// address of the server's database.
func (s *Server) URL() string {
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(Superuser, s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

// Stop shuts the server down, closing its connections, and removes its data. A second Stop does nothing.
func (s *Server) Stop() error {
	return errors.Join(s.end(shutdownFast), os.RemoveAll(s.dir))
}

// Kill ends the server like a crash: it writes nothing, and the next start has to recover. The server stays down until
// Restart.
func (s *Server) Kill() error {
	return s.end(shutdownImmediate)
}

// Restart starts the server again with the same data at the same address, ending it first if it still runs.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.end(shutdownFast); err != nil {
		return err
	}
	return s.launch(ctx)
}

// end shuts the running process down, if there is one, and waits for it.
func (s *Server) end(how shutdown) error {
	if s.running == nil {
		return nil
	}
	err := s.running.end(how)
	s.running = nil
	return err
}

// initialise fills the server's directory with a new cluster.
func (s *Server) initialise(ctx context.Context) error {
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	if err := s.account.own(s.dir, secret); err != nil {
		return fmt.Errorf("pgtest: giving the data directory to another user: %w", err)
	}
	collation, err := s.programs.collation(ctx)
	if err != nil {
		return err
	}
	arguments := append([]string{
		"--pgdata=" + s.data(), "--username=" + Superuser, "--pwfile=" + secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-sync",
	}, collation...)
	cmd := command(ctx, s.account, s.dir, s.programs.initdb, arguments...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: initdb: %w\n%s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// startSomewhere launches the server on a free port.
func (s *Server) startSomewhere(ctx context.Context) error {
	var err error
	for range bindAttempts {
		if s.port, err = freePort(ctx); err != nil {
			return err
		}
		if err = s.launch(ctx); err == nil || !errors.Is(err, errPortTaken) {
			return err
		}
	}
	return err
}

// launch starts Postgres on the server's port and waits until it accepts connections.
func (s *Server) launch(ctx context.Context) error {
	arguments := []string{"-D", s.data()}
	for name, value := range s.settings {
		arguments = append(arguments, "-c", name+"="+value)
	}
	arguments = append(arguments, "-c", "port="+strconv.Itoa(s.port))
	// The server outlives the call: its context must not end it.
	cmd := command(context.WithoutCancel(ctx), s.account, s.dir, s.programs.postgres, arguments...)
	running, err := startProcess(ctx, cmd)
	if err != nil {
		return err
	}
	s.running = running
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// settings returns the configuration of a server for tests.
func settings(options Options) map[string]string {
	limit := options.MaxConnections
	if limit == 0 {
		limit = 300
	}
	all := map[string]string{
		"listen_addresses": "127.0.0.1",
		// No socket: its path is limited to 107 bytes, and a temporary directory's path is often longer.
		"unix_socket_directories": "",
		"max_connections":         strconv.Itoa(limit),
		// Dropping a schema takes a lock for each of its tables and indexes.
		"max_locks_per_transaction": "256",
	}
	if !options.Durable {
		// synchronous_commit stays on: a commit must survive Kill, as it does in production.
		all["fsync"], all["full_page_writes"] = "off", "off"
	}
	maps.Copy(all, options.Settings)
	return all
}

// freePort returns a port of the loopback address that is free at this moment.
func freePort(ctx context.Context) (int, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("pgtest: looking for a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
