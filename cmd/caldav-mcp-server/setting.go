package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/server"
)

// group is a set of settings that the same commands read.
type group uint16

const (
	// storeSettings locate the data.
	storeSettings group = 1 << iota
	// doorSettings are the listeners' addresses, for commands that open or call them.
	doorSettings
	// addressSettings are the public URLs of the listeners.
	addressSettings
	// serviceSettings are in the store and the same for all processes: see serviceConfig.
	serviceSettings
	// serveSettings are only for serve.
	serveSettings
	// mailSettings configure mail. postSettings only show whether mail is sent.
	mailSettings
	postSettings
	// linkSettings are for commands that fetch calendars from other servers.
	linkSettings
	// secondSettings name the read replica, for commands that use or check it.
	secondSettings
)

// setting is a row of the table of settings.
type setting struct {
	// env is the name of the environment variable; the flag's name follows from it.
	env         string
	placeholder string
	fallback    string
	about       string
	groups      group
	// secret settings can be read from a file, and no error repeats their values.
	secret bool
	// hidden settings are entirely secret, so they have no flag: every user of the machine could read it.
	hidden bool
	set    func(*config, string) error
}

// flag returns the name of the setting's flag: CALDAV_PORT has --caldav-port.
func (s setting) flag() string {
	return strings.ReplaceAll(strings.ToLower(s.env), "_", "-")
}

// settings are all settings. The environment determines the platform's data directory.
func settings(environ []string) []setting {
	return slices.Concat([]setting{
		{
			env: "CALDAV_HOST", placeholder: "HOST", fallback: "127.0.0.1", groups: doorSettings | addressSettings,
			about: "address that the CalDAV server listens on; 0.0.0.0 or :: for all", set: setHost(func(c *config) *string { return &c.caldav.host }),
		},
		{
			env: "CALDAV_PORT", placeholder: "PORT", fallback: "5232", groups: doorSettings | addressSettings,
			about: "its port; 0 chooses a free one", set: setText(func(c *config) *string { return &c.caldav.port }, checkPort),
		},
		{
			env: "MCP_HOST", placeholder: "HOST", fallback: "127.0.0.1", groups: doorSettings | addressSettings,
			about: "address that the MCP server listens on", set: setHost(func(c *config) *string { return &c.mcp.host }),
		},
		{
			env: "MCP_PORT", placeholder: "PORT", fallback: "5233", groups: doorSettings | addressSettings,
			about: "its port; 0 chooses a free one", set: setText(func(c *config) *string { return &c.mcp.port }, checkPort),
		},
		{ //nolint:gosec // a URL pattern without a real password
			env: "DATABASE_URL", placeholder: "URL", groups: storeSettings, secret: true,
			about: "postgres://USER:PASSWORD@HOST/NAME, or sqlite:PATH; without it a SQLite file in DATA_DIR", set: setDatabase,
		},
		{
			env: "DATABASE_READ_URL", placeholder: "URL", groups: secondSettings, secret: true,
			about: "a read replica of that Postgres, which answers large reads while it is up to date", set: setSecond,
		},
		{
			env: "DATA_DIR", placeholder: "DIR", fallback: dataHome(environ), groups: storeSettings,
			about: "directory of the SQLite file", set: setDataDir,
		},
		{
			env: "DB_MAX_CONNS", placeholder: "N", groups: storeSettings,
			about: "most connections to Postgres (default 16), or readers of the SQLite file (default 4)", set: setNumber(1, 1000, func(c *config) *int { return &c.maxConns }),
		},
		{
			env: "BASE_URL", placeholder: "URL", groups: addressSettings,
			about: "public URL of the CalDAV server, such as https://calendar.example.org", set: setBaseURL,
		},
		{
			env: "MCP_URL", placeholder: "URL", groups: addressSettings,
			about: "public URL of the MCP server; default BASE_URL followed by /mcp", set: setMCPURL,
		},
		{
			env: "OAUTH", placeholder: "ON|OFF", fallback: "on", groups: serveSettings,
			about: "off disables OAuth: all assistants need access tokens", set: setOnOff(func(c *config) *bool { return &c.oauth }),
		},
		{
			env: "PUSH", placeholder: "ON|OFF", fallback: "on", groups: serveSettings,
			about: "off sends no push messages and no webhook messages", set: setOnOff(func(c *config) *bool { return &c.push }),
		},
		{
			env: "FETCH_ALLOW", placeholder: "LIST", groups: serveSettings | linkSettings,
			about: "private addresses or networks that the server may send requests to, for URLs that users give", set: setNetworks(func(c *config) *server.Proxies { return &c.fetchAllow }),
		},
		{
			env: "MASTER_KEY", placeholder: "KEY", groups: serveSettings | linkSettings, secret: true, hidden: true,
			about: "32 random bytes in base64 that encrypt the secrets of linked accounts; default master.key in DATA_DIR", set: setMasterKey,
		},
		{
			env: "ALLOWED_ORIGINS", placeholder: "LIST", groups: serveSettings,
			about: "web origins whose pages may call the server, such as https://app.example.org", set: setOrigins,
		},
		{
			env: "TRUSTED_PROXIES", placeholder: "LIST", groups: serveSettings,
			about: "addresses or networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Host are trusted", set: setNetworks(func(c *config) *server.Proxies { return &c.proxies }),
		},
		{
			env: "TLS_CERT", placeholder: "FILE", groups: doorSettings,
			about: "certificate chain (PEM), for HTTPS without a proxy; a new file is loaded automatically",
			set:   setText(func(c *config) *string { return &c.tlsCert }),
		},
		{
			env: "TLS_KEY", placeholder: "FILE", groups: doorSettings,
			about: "its private key (PEM)", set: setText(func(c *config) *string { return &c.tlsKey }),
		},
		{
			env: "ACME", placeholder: "ON|OFF|URL", fallback: "off", groups: doorSettings,
			about: "on gets certificates for the names in BASE_URL and MCP_URL from Let's Encrypt, whose terms you accept; a URL is the ACME directory of another authority",
			set:   setACME,
		},
		{
			env: "ACME_EMAIL", placeholder: "ADDRESS", groups: serveSettings,
			about: "your contact address for the authority", set: setText(func(c *config) *string { return &c.acme.email }),
		},
		{
			env: "ACME_HTTP_ADDR", placeholder: "HOST:PORT", groups: serveSettings,
			about: "address for ACME challenges and redirects to HTTPS; it must be reachable at port 80",
			set:   setText(func(c *config) *string { return &c.acme.httpAddr }, checkListen),
		},
		{
			env: "ACME_ROOTS", placeholder: "FILE", groups: serveSettings,
			about: "root certificates (PEM) of the authority, if the machine does not trust it",
			set:   setText(func(c *config) *string { return &c.acme.roots }),
		},
		{
			env: "METRICS_ADDR", placeholder: "HOST:PORT", groups: serveSettings,
			about: "address for Prometheus metrics at /metrics; off if not set", set: setText(func(c *config) *string { return &c.metricsAddr }, checkListen),
		},
		{
			env: "AUDIT_LOG", placeholder: "FILE", groups: storeSettings,
			about: "file for audit events as JSON lines, or stdout; off if not set",
			set:   setText(func(c *config) *string { return &c.auditLog }),
		},
		{
			env: "JOURNAL_DAYS", placeholder: "N", fallback: "30", groups: serviceSettings,
			about: "days to keep old versions and deleted objects", set: setNumber(1, 36500, func(c *config) *int { return &c.service.journalDays }),
		},
		{
			env: "JOURNAL_LINE_DAYS", placeholder: "N", fallback: "0", groups: serviceSettings,
			about: "days to keep the author and time of each change, at least JOURNAL_DAYS; 0 for ever",
			set:   setNumber(0, 36500, func(c *config) *int { return &c.service.lineDays }),
		},
		{
			env: "STOP_DELAY", placeholder: "SECONDS", fallback: "0", groups: serveSettings,
			about: "how long the server keeps running after a signal to stop, while /readyz reports that it is stopping",
			set:   setNumber(0, 600, func(c *config) *int { return &c.stopDelay }),
		},
		{
			env: "USER_DIRECTORY", placeholder: "BOOL", fallback: "false", groups: serviceSettings,
			about: "true lets users see and search all users; otherwise only users they share calendars with",
			set:   setSwitch(func(c *config) *bool { return &c.service.OpenDirectory }),
		},
		{
			env: "SHARES_NEED_ACCEPTANCE", placeholder: "BOOL", fallback: "false", groups: serviceSettings,
			about: "true requires users to accept a calendar that another user shares with them",
			set:   setSwitch(func(c *config) *bool { return &c.service.NeedAcceptance }),
		},
		{
			env: "MCP_CALLS_PER_MINUTE", placeholder: "N", fallback: "600", groups: serveSettings,
			about: "requests per minute that one access token may send to the MCP server", set: setNumber(1, 1_000_000, func(c *config) *int { return &c.mcpCalls }),
		},
		{
			env: "LOG_LEVEL", placeholder: "LEVEL", fallback: "info", groups: serveSettings,
			about: "debug, info, warn or error", set: setLogLevel,
		},
		{
			env: "LOG_FORMAT", placeholder: "FORMAT", fallback: "text", groups: serveSettings,
			about: "text or json", set: setLogFormat,
		},
	}, quotaRows(), mailRows(), signInRows(), linkRows(), traceRows())
}

// given holds the values of settings' flags, by flag.
type given map[string]string

// addSettings declares a flag for each setting.
func addSettings(flags *flag.FlagSet, groups group) given {
	values := make(given)
	for _, s := range settings(nil) {
		if s.groups&groups == 0 {
			continue
		}
		for _, name := range s.flags() {
			flags.Func(name, s.about, func(value string) error {
				values[name] = value
				return nil
			})
		}
	}
	return values
}

func (s setting) flags() []string {
	switch {
	case s.hidden:
		return []string{s.flag() + "-file"}
	case s.secret:
		return []string{s.flag(), s.flag() + "-file"}
	}
	return []string{s.flag()}
}

// checkUnknown refuses unknown variables that look like settings. A misspelled one would otherwise be ignored silently.
func checkUnknown(environ []string) error {
	known := make(map[string]bool)
	var names []string
	for _, s := range settings(environ) {
		known[s.env], known[s.env+"_FILE"] = true, s.secret
		names = append(names, s.env)
	}
	for _, entry := range environ {
		env, value, _ := strings.Cut(entry, "=")
		ours := strings.HasPrefix(env, "CALDAV_") || strings.HasPrefix(env, "MCP_")
		if ours && value != "" && !known[env] {
			return fmt.Errorf("%s in the environment is not a setting of this program%s (%s serve --help lists them; unset it if it is another program's)",
				env, console.DidYouMean("", console.Nearest(env, names)), console.Program)
		}
	}
	return nil
}
