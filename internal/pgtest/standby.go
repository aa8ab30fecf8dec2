package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Standby makes a standby of this server, which can take over from it, see Promote. It has the same settings, roles and
// passwords. The primary can wait for it by its name (synchronous_standby_names).
func (s *Server) Standby(ctx context.Context, name string) (*Server, error) {
	dir, err := os.MkdirTemp("", "pgtest-")
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	copied := &Server{programs: s.programs, account: s.account, dir: dir, password: s.password, settings: s.settings}
	if err := copied.copy(ctx, s, name); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := copied.startSomewhere(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return copied, nil
}

// copy fills the server's directory with a base backup of another server, configured to follow it.
func (s *Server) copy(ctx context.Context, from *Server, name string) error {
	if err := s.account.own(s.dir); err != nil {
		return fmt.Errorf("pgtest: giving the data directory to another user: %w", err)
	}
	// The programs in PATH may be links into a directory with the other programs.
	program, err := filepath.EvalSymlinks(s.programs.postgres)
	if err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	source := fmt.Sprintf("host=127.0.0.1 port=%s user=%s application_name=%s", strconv.Itoa(from.port), Superuser,
		name)
	cmd := command(ctx, s.account, s.dir, filepath.Join(filepath.Dir(program), "pg_basebackup"),
		"--pgdata="+s.data(), "--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--dbname="+source)
	cmd.Env = append(cmd.Env, "PGPASSWORD="+s.password)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtest: pg_basebackup: %w\n%s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

// Together returns the postgres:// address of several servers, which makes a program connect to the one that accepts
// writes.
func Together(servers ...*Server) (string, error) {
	var hosts []string
	for _, s := range servers {
		hosts = append(hosts, "127.0.0.1:"+strconv.Itoa(s.port))
	}
	address, err := url.Parse(servers[0].URL())
	if err != nil {
		return "", err
	}
	address.Host = strings.Join(hosts, ",")
	query := address.Query()
	query.Set("target_session_attrs", "read-write")
	address.RawQuery = query.Encode()
	return address.String(), nil
}
