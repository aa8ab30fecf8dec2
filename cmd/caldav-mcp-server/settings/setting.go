package settings

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/server"
)

// Group is a set of settings that the same commands read.
type Group uint16

const (
	// StoreGroup locate the data.
	StoreGroup Group = 1 << iota
	// DoorGroup are the listeners' addresses, for commands that open or call them.
	DoorGroup
	// AddressGroup are the public URLs of the listeners.
	AddressGroup
	// ServiceGroup are in the store and the same for all processes: see Service.
	ServiceGroup
	// ServeGroup are only for serve.
	ServeGroup
	// MailGroup configure mail.
	MailGroup
	// PostGroup only show whether mail is sent.
	PostGroup
	// LinkGroup are for commands that fetch calendars from other servers.
	LinkGroup
	// FetchGroup name the permitted networks, for commands that take an address.
	FetchGroup
	// SecondGroup name the read replica, for commands that use or check it.
	SecondGroup
)

// Setting is a row of the table of settings.
type Setting struct {
	// Env is the name of the environment variable; the flag's name follows from it.
	Env         string
	Placeholder string
	Fallback    string
	About       string
	Groups      Group
	// secret settings can be read from a file, and no error repeats their values.
	secret bool
	// Hidden settings are entirely secret, so they have no flag: every user of the machine could read it.
	Hidden bool
	Set    func(*Config, string) error
}

// Flag returns the name of the setting's flag: CALDAV_PORT has --caldav-port.
func (s Setting) Flag() string {
	return strings.ReplaceAll(strings.ToLower(s.Env), "_", "-")
}

// All are all settings. The environment determines the platform's data directory.
func All(environ []string) []Setting {
	return slices.Concat([]Setting{
		{
			Env: "CALDAV_HOST", Placeholder: "HOST", Fallback: "127.0.0.1", Groups: DoorGroup | AddressGroup,
			About: "address that the CalDAV server listens on; 0.0.0.0 or :: for all",
			Set:   setHost(func(c *Config) *string { return &c.CalDAV.host }),
		},
		{
			Env: "CALDAV_PORT", Placeholder: "PORT", Fallback: "5232", Groups: DoorGroup | AddressGroup,
			About: "its port; 0 chooses a free one",
			Set:   setText(func(c *Config) *string { return &c.CalDAV.Port }, checkPort),
		},
		{
			Env: "MCP_HOST", Placeholder: "HOST", Fallback: "127.0.0.1", Groups: DoorGroup | AddressGroup,
			About: "address that the MCP server listens on", Set: setHost(func(c *Config) *string {
				return &c.MCP.host
			}),
		},
		{
			Env: "MCP_PORT", Placeholder: "PORT", Fallback: "5233", Groups: DoorGroup | AddressGroup,
			About: "its port; 0 chooses a free one",
			Set:   setText(func(c *Config) *string { return &c.MCP.Port }, checkPort),
		},
		{
			Env: "DATABASE_URL", Placeholder: "URL", Groups: StoreGroup, secret: true,
			About: "postgres://USER:PASSWORD@HOST/NAME, or sqlite:PATH; without it a SQLite file in DATA_DIR",
			Set:   setDatabase,
		},
		{
			Env: "DATABASE_READ_URL", Placeholder: "URL", Groups: SecondGroup, secret: true,
			About: "a read replica of that Postgres, which answers large reads while it is up to date", Set: setSecond,
		},
		{
			Env: "DATA_DIR", Placeholder: "DIR", Fallback: dataHome(environ), Groups: StoreGroup,
			About: "directory of the SQLite file", Set: setDataDir,
		},
		{
			Env: "DB_MAX_CONNS", Placeholder: "N", Groups: StoreGroup,
			About: "most connections to Postgres (default 16), or readers of the SQLite file (default 4)",
			Set:   setNumber(1, 1000, func(c *Config) *int { return &c.MaxConns }),
		},
		{
			Env: "BASE_URL", Placeholder: "URL", Groups: AddressGroup,
			About: "public URL of the CalDAV server, such as https://calendar.example.org", Set: setBaseURL,
		},
		{
			Env: "MCP_URL", Placeholder: "URL", Groups: AddressGroup,
			About: "public URL of the MCP server; default BASE_URL followed by /mcp", Set: setMCPURL,
		},
		{
			Env: "OAUTH", Placeholder: "ON|OFF", Fallback: "on", Groups: ServeGroup,
			About: "off disables OAuth: all assistants need access tokens", Set: setOnOff(func(c *Config) *bool {
				return &c.OAuth
			}),
		},
		{
			Env: "PUSH", Placeholder: "ON|OFF", Fallback: "on", Groups: ServeGroup,
			About: "off sends no push messages and no webhook messages", Set: setOnOff(func(c *Config) *bool {
				return &c.Push
			}),
		},
		{
			Env: "FETCH_ALLOW", Placeholder: "LIST", Groups: ServeGroup | LinkGroup | FetchGroup,
			About: "private addresses or networks that the server may send requests to, for URLs that users give",
			Set:   setNetworks(func(c *Config) *server.Proxies { return &c.FetchAllow }),
		},
		{
			Env: "FEED_BUDGET", Placeholder: "SIZE", Fallback: "500MB", Groups: ServeGroup | LinkGroup,
			About: "work that the feeds of one user may cause in a day: bytes fetched, and 5 kB for each changed " +
				"entry; CalDAV accounts may cause four times as much",
			Set: func(c *Config, value string) (err error) {
				c.FeedBudget, err = calendar.ParseAmount(value)
				return err
			},
		},
		{
			Env: "MASTER_KEY", Placeholder: "KEY", Groups: ServeGroup | LinkGroup, secret: true, Hidden: true,
			About: "32 random bytes in base64 that encrypt the secrets of linked accounts; default master.key in " +
				"DATA_DIR", Set: setMasterKey,
		},
		{
			Env: "ALLOWED_ORIGINS", Placeholder: "LIST", Groups: ServeGroup,
			About: "web origins whose pages may call the server, such as https://app.example.org", Set: setOrigins,
		},
		{
			Env: "TRUSTED_PROXIES", Placeholder: "LIST", Groups: ServeGroup,
			About: "addresses or networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Host are trusted",
			Set:   setNetworks(func(c *Config) *server.Proxies { return &c.Proxies }),
		},
		{
			Env: "TLS_CERT", Placeholder: "FILE", Groups: DoorGroup,
			About: "certificate chain (PEM), for HTTPS without a proxy; a new file is loaded automatically",
			Set:   setText(func(c *Config) *string { return &c.TLSCert }),
		},
		{
			Env: "TLS_KEY", Placeholder: "FILE", Groups: DoorGroup,
			About: "its private key (PEM)", Set: setText(func(c *Config) *string { return &c.TLSKey }),
		},
		{
			Env: "ACME", Placeholder: "ON|OFF|URL", Fallback: "off", Groups: DoorGroup,
			About: "on gets certificates for the names in BASE_URL and MCP_URL from Let's Encrypt, whose terms you " +
				"accept; a URL is the ACME directory of another authority",
			Set: setACME,
		},
		{
			Env: "ACME_EMAIL", Placeholder: "ADDRESS", Groups: ServeGroup,
			About: "your contact address for the authority", Set: setText(func(c *Config) *string {
				return &c.ACME.Email
			}),
		},
		{
			Env: "ACME_HTTP_ADDR", Placeholder: "HOST:PORT", Groups: ServeGroup,
			About: "address for ACME challenges and redirects to HTTPS; it must be reachable at port 80",
			Set:   setText(func(c *Config) *string { return &c.ACME.HTTPAddr }, checkListen),
		},
		{
			Env: "ACME_ROOTS", Placeholder: "FILE", Groups: ServeGroup,
			About: "root certificates (PEM) of the authority, if the machine does not trust it",
			Set:   setText(func(c *Config) *string { return &c.ACME.Roots }),
		},
		{
			Env: "METRICS_ADDR", Placeholder: "HOST:PORT", Groups: ServeGroup,
			About: "address for Prometheus metrics at /metrics; off if not set",
			Set:   setText(func(c *Config) *string { return &c.MetricsAddr }, checkListen),
		},
		{
			Env: "AUDIT_LOG", Placeholder: "FILE", Groups: StoreGroup,
			About: "file for audit events as JSON lines, or stdout; off if not set",
			Set:   setText(func(c *Config) *string { return &c.AuditLog }),
		},
		{
			Env: "JOURNAL_DAYS", Placeholder: "N", Fallback: "30", Groups: ServiceGroup,
			About: "days to keep old versions and deleted objects", Set: setNumber(1, 36500, func(c *Config) *int {
				return &c.Service.JournalDays
			}),
		},
		{
			Env: "JOURNAL_LINE_DAYS", Placeholder: "N", Fallback: "0", Groups: ServiceGroup,
			About: "days to keep the author and time of each change, at least JOURNAL_DAYS; 0 for ever",
			Set:   setNumber(0, 36500, func(c *Config) *int { return &c.Service.LineDays }),
		},
		{
			Env: "STOP_DELAY", Placeholder: "SECONDS", Fallback: "0", Groups: ServeGroup,
			About: "how long the server keeps running after a signal to stop, while /readyz reports that it is " +
				"stopping",
			Set: setNumber(0, 600, func(c *Config) *int { return &c.StopDelay }),
		},
		{
			Env: "USER_DIRECTORY", Placeholder: "BOOL", Fallback: "false", Groups: ServiceGroup,
			About: "true lets users see and search all users; otherwise only users they share calendars with",
			Set:   setSwitch(func(c *Config) *bool { return &c.Service.OpenDirectory }),
		},
		{
			Env: "SHARES_NEED_ACCEPTANCE", Placeholder: "BOOL", Fallback: "false", Groups: ServiceGroup,
			About: "true requires users to accept a calendar that another user shares with them",
			Set:   setSwitch(func(c *Config) *bool { return &c.Service.NeedAcceptance }),
		},
		{
			Env: "MCP_CALLS_PER_MINUTE", Placeholder: "N", Fallback: "600", Groups: ServeGroup,
			About: "requests per minute that one access token may send to the MCP server",
			Set:   setNumber(1, 1_000_000, func(c *Config) *int { return &c.MCPCalls }),
		},
		{
			Env: "LOG_LEVEL", Placeholder: "LEVEL", Fallback: "info", Groups: ServeGroup,
			About: "debug, info, warn or error", Set: setLogLevel,
		},
		{
			Env: "LOG_FORMAT", Placeholder: "FORMAT", Fallback: "text", Groups: ServeGroup,
			About: "text or json", Set: setLogFormat,
		},
	}, quotaRows(), newUserRows(), mailRows(), signInRows(), linkRows(), traceRows())
}

// Given holds the values of settings' flags, by flag.
type Given map[string]string

// AddFlags declares a flag for each setting.
func AddFlags(flags *flag.FlagSet, groups Group) Given {
	values := make(Given)
	for _, s := range All(nil) {
		if s.Groups&groups == 0 {
			continue
		}
		for _, name := range s.flags() {
			flags.Func(name, s.About, func(value string) error {
				values[name] = value
				return nil
			})
		}
	}
	return values
}

func (s Setting) flags() []string {
	switch {
	case s.Hidden:
		return []string{s.Flag() + "-file"}
	case s.secret:
		return []string{s.Flag(), s.Flag() + "-file"}
	}
	return []string{s.Flag()}
}

// checkUnknown refuses unknown variables that look like settings. A misspelled one would otherwise be ignored silently.
func checkUnknown(environ []string) error {
	known := make(map[string]bool)
	var names []string
	for _, s := range All(environ) {
		known[s.Env], known[s.Env+"_FILE"] = true, s.secret
		names = append(names, s.Env)
	}
	for _, entry := range environ {
		env, value, _ := strings.Cut(entry, "=")
		ours := strings.HasPrefix(env, "CALDAV_") || strings.HasPrefix(env, "MCP_")
		if ours && value != "" && !known[env] {
			return fmt.Errorf("%s in the environment is not a setting of this program%s (%s serve --help lists them; "+
				"unset it if it is another program's)",
				env, console.DidYouMean("", console.Nearest(env, names)), console.Program)
		}
	}
	return nil
}
