package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/server"
)

// config holds the parsed settings.
type config struct {
	caldav, mcp address
	// databaseURL is empty for the SQLite file in dataDir.
	databaseURL string
	// secondURL is DATABASE_READ_URL.
	secondURL string
	dataDir   string
	maxConns  int
	baseURL   *url.URL
	// mcpAt is MCP_URL.
	mcpAt *url.URL
	oauth bool
	// masterKeys is MASTER_KEY, the current key first.
	masterKeys []vault.Key
	// push is PUSH.
	push bool
	// fetchAllow is FETCH_ALLOW.
	fetchAllow  server.Proxies
	origins     []string
	proxies     server.Proxies
	metricsAddr string
	// auditLog is AUDIT_LOG.
	auditLog string
	// tlsCert and tlsKey are files; empty if a proxy terminates TLS.
	tlsCert, tlsKey string
	// acme holds the settings for automatic certificates.
	acme      acmeConfig
	stopDelay int
	mcpCalls  int
	// service holds serve's values for settings that the store also keeps for all processes. declared has the values
	// that were given, by name; the store supplies the others.
	service  serviceConfig
	declared map[string]string
	signIn   signInConfig
	linked   linkConfig
	trace    traceConfig
	logLevel slog.Level
	logJSON  bool
	mail     mailConfig
}

type address struct{ host, port string }

func (a address) String() string { return net.JoinHostPort(a.host, a.port) }

// reachable is the address of a listener for requests from this machine. A server on all interfaces also listens on the
// loopback interface.
func (a address) reachable() string {
	switch a.host {
	case "0.0.0.0", "":
		return net.JoinHostPort("127.0.0.1", a.port)
	case "::":
		return net.JoinHostPort("::1", a.port)
	}
	return a.String()
}

// loadConfig reads some groups of settings. Flags override the environment, and the environment overrides defaults. An
// empty value counts as unset.
func loadConfig(groups group, environ []string, flags given) (config, error) {
	var c config
	if groups&serveSettings != 0 {
		if err := checkUnknown(environ); err != nil {
			return c, err
		}
	}
	env := environment(environ)
	for _, s := range settings(environ) {
		if s.groups&groups == 0 {
			continue
		}
		from, value, err := s.find(env, flags)
		if err != nil {
			return c, err
		}
		if value == "" {
			continue
		}
		if err := s.set(&c, value); err != nil {
			return c, s.malformed(from, value, err)
		}
		if s.groups&serviceSettings != 0 && s.told(env, flags) {
			c.declare(s.env, value)
		}
	}
	if groups&mailSettings != 0 {
		if err := c.mail.check(); err != nil {
			return c, err
		}
	}
	return c, c.signIn.check(c.service.createUsers)
}

// pagesURL is the URL of the web pages for users.
func (c config) pagesURL() string { return c.caldavURL() + "account/" }

// malformed says which setting is invalid, and why. It does not repeat a secret.
func (s setting) malformed(from, value string, err error) error {
	if s.secret {
		return fmt.Errorf("%s is malformed: %w", from, err)
	}
	return fmt.Errorf("%s is malformed: %q %w", from, value, err)
}

func environment(environ []string) map[string]string {
	env := make(map[string]string)
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		env[key] = value
	}
	return env
}

// find returns a setting's value and names its source.
func (s setting) find(env map[string]string, flags given) (from, value string, err error) {
	if !s.secret {
		switch {
		case flags[s.flag()] != "":
			return "--" + s.flag(), flags[s.flag()], nil
		case env[s.env] != "":
			return s.env, env[s.env], nil
		}
		return "the default of " + s.env, s.fallback, nil
	}
	if value := flags[s.flag()]; value != "" {
		return "--" + s.flag(), value, checkArgument(s, value)
	}
	if file := flags[s.flag()+"-file"]; file != "" {
		return readSecret("--"+s.flag()+"-file", file)
	}
	file := env[s.env+"_FILE"]
	if file != "" && env[s.env] != "" {
		return "", "", fmt.Errorf("both %s and %s_FILE are set: use one of them", s.env, s.env)
	}
	if file != "" {
		return readSecret(s.env+"_FILE", file)
	}
	return s.env, cmp.Or(env[s.env], s.fallback), nil
}

// told reports whether the environment or a flag gives a setting that is not secret.
func (s setting) told(env map[string]string, flags given) bool {
	return flags[s.flag()] != "" || env[s.env] != ""
}

func (c *config) declare(name, value string) {
	if c.declared == nil {
		c.declared = map[string]string{}
	}
	c.declared[name] = value
}

// checkArgument refuses a password in an argument, where every user of the machine can read it.
func checkArgument(s setting, value string) error {
	u, err := url.Parse(value)
	if err != nil {
		return fmt.Errorf("--%s is malformed: it is not a URL", s.flag())
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return fmt.Errorf("--%s contains a password, which every user of this machine could see: use %s, %s_FILE or --%s-file",
			s.flag(), s.env, s.env, s.flag())
	}
	return nil
}

func readSecret(from, file string) (string, string, error) {
	data, err := os.ReadFile(file) //nolint:gosec // the administrator names the program's files
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", fmt.Errorf("%s names %s, which is not there", from, file)
	case errors.Is(err, fs.ErrPermission):
		return "", "", fmt.Errorf("%s names %s, which this user may not read", from, file)
	case err != nil:
		return "", "", fmt.Errorf("%s names %s, which cannot be read: %w", from, file, errors.Unwrap(err))
	}
	value := strings.TrimSpace(string(data))
	if value == "" {
		return "", "", fmt.Errorf("%s names %s, which is empty", from, file)
	}
	return from, value, nil
}

// dataHome is the platform's directory for application data, or "" if there is none.
func dataHome(environ []string) string {
	env := environment(environ)
	roots := map[string]string{
		"windows": env["LOCALAPPDATA"],
		"darwin":  under(env["HOME"], "Library", "Application Support"),
		"ios":     under(env["HOME"], "Library", "Application Support"),
	}
	root, ok := roots[runtime.GOOS]
	if !ok {
		// XDG base directory specification: a relative path must be ignored.
		root = under(env["HOME"], ".local", "share")
		if xdg := env["XDG_DATA_HOME"]; filepath.IsAbs(xdg) {
			root = xdg
		}
	}
	return under(root, console.Program)
}

func under(root string, elements ...string) string {
	if root == "" {
		return ""
	}
	return filepath.Join(append([]string{root}, elements...)...)
}

// database returns the URL of the store.
func (c config) database() (string, error) {
	if c.secondURL != "" && !isPostgres(c.databaseURL) {
		return "", console.WrongUsage("DATABASE_READ_URL needs a DATABASE_URL for Postgres: SQLite has no read replicas")
	}
	if c.databaseURL != "" {
		return c.databaseURL, nil
	}
	if c.dataDir == "" {
		return "", console.WrongUsage("there is no home directory for the data: set DATA_DIR or DATABASE_URL")
	}
	return "sqlite:" + filepath.Join(c.dataDir, "calendar.db"), nil
}

// caldavURL and mcpURL are the URLs for clients. Behind a proxy one name serves both.
func (c config) caldavURL() string {
	if c.baseURL != nil {
		return c.baseURL.JoinPath("/").String()
	}
	return "http://" + c.caldav.reachable() + "/"
}

func (c config) mcpURL() string {
	if c.mcpAt != nil {
		return c.mcpAt.String()
	}
	if c.baseURL != nil {
		return c.baseURL.JoinPath("mcp").String()
	}
	return "http://" + c.mcp.reachable() + "/mcp"
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == port
}

// acmeConfig holds the ACME settings.
type acmeConfig struct {
	// directory is empty if ACME is off.
	directory, email, roots, httpAddr string
}

// publicURLs are the configured public URLs of the server.
func (c config) publicURLs() []*url.URL {
	return slices.DeleteFunc([]*url.URL{c.baseURL, c.mcpAt}, func(u *url.URL) bool { return u == nil })
}

// hosts are the public host names of the server.
func (c config) hosts() []string {
	if c.baseURL == nil {
		return nil
	}
	return console.Each(c.publicURLs(), func(u *url.URL) string { return strings.ToLower(u.Hostname()) })
}

// basePath is the path that a proxy publishes the server under: "" or "/cal".
func (c config) basePath() string {
	if c.baseURL == nil {
		return ""
	}
	return c.baseURL.EscapedPath()
}
