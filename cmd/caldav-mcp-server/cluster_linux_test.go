package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clusterPrograms are Debian's, beside Postgres: packages patroni, etcd-server and haproxy.
var clusterPrograms = []string{"patroni", "etcd", "haproxy"}

const (
	members = 3
	// clusterPassword opens databases that listen on this machine's loopback for some minutes.
	clusterPassword = "loopback"
	// forgets is how many seconds a leader that says nothing stays the leader: the fewest that Patroni takes.
	forgets = 20
)

// cluster is three Postgres servers under Patroni, with three etcd servers for consensus. HAProxy routes one URL to the
// leader and another to the standbys.
type cluster struct {
	dir              string
	account          *syscall.Credential
	members          [members]*member
	leading, standby string
}

// member is a Postgres server with its Patroni. Other members reach its database through followers, and it reaches etcd
// through agreement.
type member struct {
	name                 string
	api, port            int
	followers, agreement *valve
	patroni              *exec.Cmd
	dir                  string
}

// newCluster starts all of it, and returns when there is a leader that two follow.
func newCluster(t *testing.T, synchronous bool) *cluster {
	t.Helper()
	c := &cluster{account: clusterAccount(t)}
	dir, err := os.MkdirTemp("", "cluster-") //nolint:usetesting // Postgres' user may not enter the test's
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log("what its programs said is in ", dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	c.dir = dir
	c.own(t, dir)
	agreement := c.startEtcd(t)
	for n := range c.members {
		m := &member{
			name: fmt.Sprint("n", n+1), api: unusedPort(t), port: unusedPort(t),
			dir: filepath.Join(dir, fmt.Sprint("n", n+1)),
		}
		m.followers, m.agreement = newValve(t, m.port), newValve(t, agreement[n])
		c.members[n] = m
		c.write(t, m.name+".yml", m.settings(t, synchronous))
		c.startPatroni(t, m)
	}
	c.startHAProxy(t)
	c.awaitWhole(t, synchronous)
	return c
}

// clusterAccount is whom Postgres runs as where the caller is root.
func clusterAccount(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	found, err := user.Lookup("postgres")
	if err != nil {
		t.Skip("Postgres refuses to run as root, and there is no user postgres")
	}
	uid, _ := strconv.ParseUint(found.Uid, 10, 32)
	gid, _ := strconv.ParseUint(found.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (c *cluster) own(t *testing.T, path string) {
	t.Helper()
	if c.account == nil {
		return
	}
	if err := os.Chown(path, int(c.account.Uid), int(c.account.Gid)); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) write(t *testing.T, file, text string) {
	t.Helper()
	path := filepath.Join(c.dir, file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c.own(t, path)
}

// start runs a program until the test ends, with its output in a file next to its settings.
func (c *cluster) start(t *testing.T, as, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	log, err := os.OpenFile(filepath.Join(c.dir, as+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Credential: c.account}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// startEtcd returns the client ports. Patroni uses version 2 of the API: with version 3, Patroni before 3.0.3 lets a
// frozen leader take the lead back from its successor (its pull request 2689).
func (c *cluster) startEtcd(t *testing.T) [members]int {
	t.Helper()
	var clients, peers [members]int
	var all []string
	for n := range clients {
		clients[n], peers[n] = unusedPort(t), unusedPort(t)
		all = append(all, fmt.Sprintf("e%d=http://127.0.0.1:%d", n, peers[n]))
	}
	for n := range clients {
		name, client, peer := fmt.Sprint("e", n), fmt.Sprint("http://127.0.0.1:", clients[n]),
			fmt.Sprint("http://127.0.0.1:", peers[n])
		c.start(t, name, "etcd", "--name", name, "--data-dir", filepath.Join(c.dir, name), "--initial-cluster",
			strings.Join(all, ","),
			"--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
			"--initial-advertise-peer-urls", peer,
			"--heartbeat-interval", "300", "--election-timeout", "3000", "--logger", "zap", "--enable-v2")
	}
	for _, port := range clients {
		until(t, "etcd has agreed on its version", func() bool {
			var version struct{ EtcdCluster string }
			ask(t.Context(), port, "/version", &version)
			return strings.Contains(version.EtcdCluster, ".")
		})
	}
	return clients
}

// ask reads the JSON status of a program in the cluster; nothing if it does not respond.
func ask(ctx context.Context, port int, path string, told any) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprint("http://127.0.0.1:", port, path), nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	_ = json.NewDecoder(answer.Body).Decode(told)
}

func (m *member) settings(t *testing.T, synchronous bool) string {
	t.Helper()
	postgres, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(postgres) == 0 {
		t.Skip("there are no server programs of Postgres in /usr/lib/postgresql")
	}
	return fmt.Sprintf(`
scope: calendars
name: %[1]s
restapi: {listen: "127.0.0.1:%[2]d", connect_address: "127.0.0.1:%[2]d"}
etcd: {hosts: ["127.0.0.1:%[3]d"], use_proxies: true}
bootstrap:
  dcs:
    ttl: %[4]d
    loop_wait: 2
    retry_timeout: 4
    maximum_lag_on_failover: 1099511627776
    synchronous_mode: %[5]t
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 200, wal_log_hints: "on", fsync: "off"}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, data-checksums, no-sync]
  pg_hba: ["host all all 127.0.0.1/32 md5", "host replication all 127.0.0.1/32 md5"]
postgresql:
  listen: 127.0.0.1:%[6]d
  connect_address: 127.0.0.1:%[7]d
  data_dir: %[8]s
  bin_dir: %[9]s
  pgpass: %[8]s.pgpass
  parameters: {unix_socket_directories: ""}
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser: {username: postgres, password: %[10]s}
    replication: {username: replicator, password: %[10]s}
`, m.name, m.api, m.agreement.port, forgets, synchronous, m.port, m.followers.port, m.dir, postgres[len(postgres)-1],
		clusterPassword)
}

func (c *cluster) startPatroni(t *testing.T, m *member) {
	t.Helper()
	m.patroni = c.start(t, m.name, "patroni", filepath.Join(c.dir, m.name+".yml"))
	t.Cleanup(func() { m.signal(syscall.SIGKILL) })
}

func (c *cluster) startHAProxy(t *testing.T) {
	t.Helper()
	text := `
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
`
	for role, at := range map[string]*string{"primary": &c.leading, "replica": &c.standby} {
		port := unusedPort(t)
		text += fmt.Sprintf("listen %s\n  bind 127.0.0.1:%d\n  option httpchk OPTIONS /%s\n", role, port, role)
		for _, m := range c.members {
			text += fmt.Sprintf("  server %s 127.0.0.1:%d check port %d\n", m.name, m.port, m.api)
		}
		address := url.URL{
			Scheme: "postgres", User: url.UserPassword("postgres", clusterPassword),
			Host: fmt.Sprint("127.0.0.1:", port), Path: "/postgres", RawQuery: "sslmode=disable",
		}
		*at = address.String()
	}
	c.write(t, "haproxy.cfg", text)
	c.start(t, "haproxy", "haproxy", "-db", "-f", filepath.Join(c.dir, "haproxy.cfg"))
}

// role is a member's role according to Patroni.
type role struct{ Name, Role, State string }

// roles are the roles that a member knows; none if it does not respond.
func (m *member) roles(ctx context.Context) []role {
	var cluster struct{ Members []role }
	ask(ctx, m.api, "/cluster", &cluster)
	return cluster.Members
}

// leader is the leader according to a member other than besides.
func (c *cluster) leader(ctx context.Context, besides *member) *member {
	for _, asked := range c.members {
		if asked == besides {
			continue
		}
		for _, s := range asked.roles(ctx) {
			if m := c.named(s.Name); s.Role == "leader" && s.State == "running" && m != besides {
				return m
			}
		}
	}
	return nil
}

func (c *cluster) named(name string) *member {
	for _, m := range c.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// awaitWhole waits until two follow the leader, and it waits for one of them where the cluster is synchronous.
func (c *cluster) awaitWhole(t *testing.T, synchronous bool) {
	t.Helper()
	until(t, "two follow a leader", func() bool {
		counts := map[string]int{}
		for _, s := range c.members[0].roles(t.Context()) {
			if s.State == "running" || s.State == "streaming" {
				counts[s.Role]++
			}
		}
		return counts["leader"] == 1 && counts["replica"]+counts["sync_standby"] == members-1 &&
			(!synchronous || counts["sync_standby"] > 0)
	})
}

// signal reaches Patroni, Postgres, and all that Postgres has started.
func (m *member) signal(s syscall.Signal) {
	_ = m.patroni.Process.Signal(s)
	text, err := os.ReadFile(filepath.Join(m.dir, "postmaster.pid"))
	if err != nil {
		return
	}
	first, _, _ := strings.Cut(string(text), "\n")
	postmaster, err := strconv.Atoi(first)
	if err != nil {
		return
	}
	started := childrenOf(postmaster)
	_ = syscall.Kill(postmaster, s)
	for _, child := range started {
		_ = syscall.Kill(child, s)
	}
}

func childrenOf(parent int) (children []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The name in parentheses may contain blanks; the state and the parent follow it.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			children = append(children, pid)
		}
	}
	return children
}

func unusedPort(t *testing.T) int {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatal(errors.New("a listener without a port"))
	}
	return addr.Port
}
