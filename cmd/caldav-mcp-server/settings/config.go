// Package settings has the table of the settings, and reads them from flags, the environment and files.
package settings

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

// MCPPath is the path of the MCP endpoint, without BASE_URL.
const MCPPath = "/mcp"

// Config holds the parsed settings.
type Config struct {
	CalDAV, MCP Address
	// DatabaseURL is empty for the SQLite file in DataDir.
	DatabaseURL string
	// SecondURL is DATABASE_READ_URL.
	SecondURL string
	DataDir   string
	MaxConns  int
	BaseURL   *url.URL
	// MCPAt is MCP_URL.
	MCPAt *url.URL
	OAuth bool
	// MasterKeys is MASTER_KEY, the current key first.
	MasterKeys []vault.Key
	// Push is PUSH.
	Push bool
	// FetchAllow is FETCH_ALLOW.
	FetchAllow server.Proxies
	// FeedBudget is FEED_BUDGET.
	FeedBudget  int64
	Origins     []string
	Proxies     server.Proxies
	MetricsAddr string
	// AuditLog is AUDIT_LOG.
	AuditLog string
	// TLSCert and TLSKey are files; empty if a proxy terminates TLS.
	TLSCert, TLSKey string
	// ACME holds the settings for automatic certificates.
	ACME      ACME
	StopDelay int
	MCPCalls  int
	// Service holds serve's values for settings that the store also keeps for all processes. declared has the values
	// that were given, by name; the store supplies the others.
	Service  Service
	Declared map[string]string
	SignIn   SignIn
	Linked   Link
	Trace    Trace
	LogLevel slog.Level
	LogJSON  bool
	Mail     Mail
}

// Address is the host and the port of a listener.
type Address struct{ host, Port string }

func (a Address) String() string { return net.JoinHostPort(a.host, a.Port) }

// Reachable is the address of a listener for requests from this machine. A server on all interfaces also listens on the
// loopback interface.
func (a Address) Reachable() string {
	switch a.host {
	case "0.0.0.0", "":
		return net.JoinHostPort("127.0.0.1", a.Port)
	case "::":
		return net.JoinHostPort("::1", a.Port)
	}
	return a.String()
}

// Load reads some groups of settings. Flags override the environment, and the environment overrides defaults. An
// empty value counts as unset.
func Load(groups Group, environ []string, flags Given) (Config, error) {
	var c Config
	if groups&ServeGroup != 0 {
		if err := checkUnknown(environ); err != nil {
			return c, err
		}
	}
	env := Environment(environ)
	for _, s := range All(environ) {
		if s.Groups&groups == 0 {
			continue
		}
		from, value, err := s.find(env, flags)
		if err != nil {
			return c, err
		}
		if value == "" {
			continue
		}
		if err := s.Set(&c, value); err != nil {
			return c, s.Malformed(from, value, err)
		}
		if s.Groups&ServiceGroup != 0 && s.told(env, flags) {
			c.declare(s.Env, value)
		}
	}
	if groups&MailGroup != 0 {
		if err := c.Mail.check(); err != nil {
			return c, err
		}
	}
	return c, c.SignIn.check(c.Service.CreateUsers)
}

// PagesURL is the URL of the web pages for users.
func (c Config) PagesURL() string { return c.CalDAVURL() + "account/" }

// Malformed says which setting is invalid, and why. It does not repeat a secret.
func (s Setting) Malformed(from, value string, err error) error {
	if s.secret {
		return fmt.Errorf("%s is malformed: %w", from, err)
	}
	return fmt.Errorf("%s is malformed: %q %w", from, value, err)
}

// Environment returns the variables of an environment by name.
func Environment(environ []string) map[string]string {
	env := make(map[string]string)
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		env[key] = value
	}
	return env
}

// find returns a setting's value and names its source.
func (s Setting) find(env map[string]string, flags Given) (from, value string, err error) {
	if !s.secret {
		switch {
		case flags[s.Flag()] != "":
			return "--" + s.Flag(), flags[s.Flag()], nil
		case env[s.Env] != "":
			return s.Env, env[s.Env], nil
		}
		return "the default of " + s.Env, s.Fallback, nil
	}
	if value := flags[s.Flag()]; value != "" {
		return "--" + s.Flag(), value, checkArgument(s, value)
	}
	if file := flags[s.Flag()+"-file"]; file != "" {
		return ReadSecret("--"+s.Flag()+"-file", file)
	}
	file := env[s.Env+"_FILE"]
	if file != "" && env[s.Env] != "" {
		return "", "", fmt.Errorf("both %s and %s_FILE are set: use one of them", s.Env, s.Env)
	}
	if file != "" {
		return ReadSecret(s.Env+"_FILE", file)
	}
	return s.Env, cmp.Or(env[s.Env], s.Fallback), nil
}

// told reports whether the environment or a flag gives a setting that is not secret.
func (s Setting) told(env map[string]string, flags Given) bool {
	return flags[s.Flag()] != "" || env[s.Env] != ""
}

func (c *Config) declare(name, value string) {
	if c.Declared == nil {
		c.Declared = map[string]string{}
	}
	c.Declared[name] = value
}

// checkArgument refuses a password in an argument, where every user of the machine can read it.
func checkArgument(s Setting, value string) error {
	u, err := url.Parse(value)
	if err != nil {
		return fmt.Errorf("--%s is malformed: it is not a URL", s.Flag())
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		return fmt.Errorf("--%s contains a password, which every user of this machine could see: use %s, %s_FILE or "+
			"--%s-file",
			s.Flag(), s.Env, s.Env, s.Flag())
	}
	return nil
}

// ReadSecret reads a secret from a file. It returns the source's name and the value.
func ReadSecret(from, file string) (string, string, error) {
	data, err := os.ReadFile(file) // the administrator names the program's files
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
	env := Environment(environ)
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

// Database returns the URL of the store.
func (c Config) Database() (string, error) {
	if c.SecondURL != "" && !isPostgres(c.DatabaseURL) {
		return "",
			console.WrongUsage("DATABASE_READ_URL needs a DATABASE_URL for Postgres: SQLite has no read replicas")
	}
	if c.DatabaseURL != "" {
		return c.DatabaseURL, nil
	}
	if c.DataDir == "" {
		return "", console.WrongUsage("there is no home directory for the data: set DATA_DIR or DATABASE_URL")
	}
	return "sqlite:" + filepath.Join(c.DataDir, "calendar.db"), nil
}

// CalDAVURL is the URL for apps. Behind a proxy one name serves both.
func (c Config) CalDAVURL() string {
	if c.BaseURL != nil {
		return c.BaseURL.JoinPath("/").String()
	}
	return "http://" + c.CalDAV.Reachable() + "/"
}

// MCPURL is the URL of the MCP endpoint for clients.
func (c Config) MCPURL() string {
	if c.MCPAt != nil {
		return c.MCPAt.String()
	}
	if c.BaseURL != nil {
		return c.BaseURL.JoinPath("mcp").String()
	}
	return "http://" + c.MCP.Reachable() + MCPPath
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && strconv.FormatUint(n, 10) == port
}

// ACME holds the ACME settings.
type ACME struct {
	// Directory is empty if ACME is off.
	Directory, Email, Roots, HTTPAddr string
}

// publicURLs are the configured public URLs of the server.
func (c Config) publicURLs() []*url.URL {
	return slices.DeleteFunc([]*url.URL{c.BaseURL, c.MCPAt}, func(u *url.URL) bool { return u == nil })
}

// Hosts are the public host names of the server.
func (c Config) Hosts() []string {
	if c.BaseURL == nil {
		return nil
	}
	return console.Each(c.publicURLs(), func(u *url.URL) string { return strings.ToLower(u.Hostname()) })
}

// BasePath is the path that a proxy publishes the server under: "" or "/cal".
func (c Config) BasePath() string {
	if c.BaseURL == nil {
		return ""
	}
	return c.BaseURL.EscapedPath()
}
