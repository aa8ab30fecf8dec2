package settings

import (
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/server"
)

const everySetting = StoreGroup | SecondGroup | DoorGroup | AddressGroup | ServiceGroup | ServeGroup | MailGroup

func TestDefaults(t *testing.T) {
	t.Parallel()
	c, err := Load(everySetting, []string{"HOME=/home/ann", "XDG_DATA_HOME=/data", "LOCALAPPDATA=/data"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c.DataDir = "" // the platform's
	want := Config{
		CalDAV: Address{"127.0.0.1", "5232"}, MCP: Address{"127.0.0.1", "5233"}, MCPCalls: 600,
		LogLevel: slog.LevelInfo, OAuth: true, Push: true, FeedBudget: 500_000_000,
		Service: Service{JournalDays: 30, NewUsers: auth.Defaults{Reminder: calendar.NoReminder}},
		Mail:    Mail{PerHour: 500}, Linked: Link{MicrosoftTenantID: "common"},
		Trace: Trace{Service: console.Program, Sampler: "parentbased_always_on"}, SignIn: SignIn{GroupsClaim: "groups"},
	}
	if diff := compareConfigs(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFlagsWinOverEnvironment(t *testing.T) {
	t.Parallel()
	environ := []string{
		"CALDAV_PORT=1", "MCP_PORT=2", "CALDAV_HOST=[::1]", "BASE_URL=https://cal.example/a/", "LOG_LEVEL=DEBUG",
		"LOG_FORMAT=json",
		"TRUSTED_PROXIES=10.0.0.0/8", "ALLOWED_ORIGINS=https://A.example, http://b.example:8080", "METRICS_ADDR=:9090",
		"JOURNAL_DAYS=7", "MCP_CALLS_PER_MINUTE=90", "DB_MAX_CONNS=3", "DATABASE_URL=postgres://u:p@h/d",
		"DATA_DIR=/data", "MCP_HOST=", "OTHER=1", "USER_DIRECTORY=true",
		"SHARES_NEED_ACCEPTANCE=false", "OAUTH=off", "FETCH_ALLOW=10.0.0.0/8", "MCP_URL=https://mcp.example/mcp/",
		"SMTP_URL=smtps://u:p@mail.example", "MAIL_FROM=Calendar@Mail.example",
		"MAIL_FROM_DOMAINS=a.example, B.example",
		"MAIL_PER_HOUR=9", "IMAP_URL=imaps://u:p@mail.example/In", "LMTP_ADDR=unix:/run/lmtp",
		"MAIL_AUTHSERV_ID=mx.mail.example",
	}
	c, err := Load(everySetting, environ, Given{"caldav-port": "0", "log-format": "text", "journal-days": ""})
	if err != nil {
		t.Fatal(err)
	}
	proxies, err := server.ParseProxies("10.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		CalDAV: Address{"::1", "0"}, MCP: Address{"127.0.0.1", "2"}, DatabaseURL: "postgres://u:p@h/d",
		DataDir:  filepath.FromSlash("/data"),
		MaxConns: 3, BaseURL: &url.URL{Scheme: "https", Host: "cal.example", Path: "/a"}, Proxies: proxies,
		MetricsAddr: ":9090",
		Origins:     []string{"https://a.example", "http://b.example:8080"}, MCPCalls: 90, LogLevel: slog.LevelDebug,
		Service: Service{
			Policy: calendar.Policy{OpenDirectory: true}, JournalDays: 7,
			NewUsers: auth.Defaults{Reminder: calendar.NoReminder},
		},
		Declared: map[string]string{"JOURNAL_DAYS": "7", "USER_DIRECTORY": "true", "SHARES_NEED_ACCEPTANCE": "false"},
		Push:     true, Linked: Link{MicrosoftTenantID: "common"}, SignIn: SignIn{GroupsClaim: "groups"},
		Trace: Trace{Service: console.Program, Sampler: "parentbased_always_on"},
		MCPAt: &url.URL{Scheme: "https", Host: "mcp.example", Path: "/mcp"}, FetchAllow: proxies,
		FeedBudget: 500_000_000,
		Mail: Mail{
			SMTPURL: "smtps://u:p@mail.example", IMAPURL: "imaps://u:p@mail.example/In", From: "calendar@mail.example",
			PerHour:     9,
			FromDomains: []string{"a.example", "b.example"}, LMTPAddr: "unix:/run/lmtp", AuthServer: "mx.mail.example",
		},
	}
	if diff := compareConfigs(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func compareConfigs(want, got Config) string {
	return cmp.Diff(want, got, cmp.AllowUnexported(Config{}, Address{}, Mail{}, SignIn{}, Link{}, Trace{}, Service{},
		ACME{}), cmp.Transformer("proxies", func(ps server.Proxies) []string {
		return console.Each(ps, func(p netip.Prefix) string { return p.String() })
	}))
}

// Each malformed value stops the start, with a sentence that names the setting and the fault (security L16).
func TestMalformed(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"SMTP_URL=http://u:secret@h":   "SMTP_URL is malformed: its scheme is neither smtps nor smtp",
		"SMTP_URL=smtps://u:p@h":       "MAIL_FROM is not",
		"IMAP_URL=imaps://h":           "IMAP_URL is malformed: it names no user",
		"MAIL_FROM=nobody":             `MAIL_FROM is malformed: "nobody" is not a mail address`,
		"MAIL_FROM_DOMAINS=a.b, c":     `contains "c", which is not a domain`,
		"LMTP_ADDR=0.0.0.0:24":         `LMTP_ADDR is malformed: "0.0.0.0:24" is neither an address of this machine`,
		"MAIL_AUTHSERV_ID=a b":         `"a b" is not a name`,
		"CALDAV_PORT=http":             `CALDAV_PORT is malformed: "http" is not a port`,
		"CALDAV_PORT=70000":            `"70000" is not a port`,
		"MCP_PORT=-1":                  `MCP_PORT is malformed: "-1" is not a port`,
		"MCP_PORT=tcp://10.0.0.1:5233": `"tcp://10.0.0.1:5233" is not a port`,
		"CALDAV_HOST=localhost:80": `CALDAV_HOST is malformed: "localhost:80" is neither an address nor a host ` +
			`name`,
		"MCP_HOST=http://x":             `MCP_HOST is malformed`,
		"BASE_URL=cal.example.org":      `"cal.example.org" is not a URL such as`,
		"BASE_URL=ftp://cal.example":    `is not a URL such as`,
		"BASE_URL=https://u@x.example":  `may contain a path`,
		"BASE_URL=https://x.example/?a": `may contain a path`,
		"MCP_URL=mcp.example.org":       `MCP_URL is malformed: "mcp.example.org" is not a URL such as`,
		"MCP_URL=https://mcp.example":   `has no path: give the URL of the endpoint`,
		"OAUTH=true":                    `OAUTH is malformed: "true" is not on or off`,
		"FETCH_ALLOW=home":              `FETCH_ALLOW is malformed: "home" is not a list of networks`,
		"ALLOWED_ORIGINS=*":             `contains "*", which is not an origin`,
		"ALLOWED_ORIGINS=https://a/b":   `contains "https://a/b"`,
		"TRUSTED_PROXIES=10.0.0.0/99":   `"10.0.0.0/99" is neither an address`,
		"METRICS_ADDR=9090":             `"9090" is not HOST:PORT`,
		"MCP_CALLS_PER_MINUTE=0":        `"0" is not a number from 1 to 1000000`,
		"JOURNAL_DAYS=0":                `"0" is not a number from 1 to 36500`,
		"JOURNAL_DAYS=a month":          `"a month" is not a number`,
		"USER_DIRECTORY=yes":            `"yes" is not true or false`,
		"DB_MAX_CONNS=many":             `"many" is not a number from 1 to 1000`,
		"LOG_LEVEL=loud":                `"loud" is not debug, info, warn or error`,
		"LOG_FORMAT=xml":                `"xml" is not text or json`,
		"CALDAV_PROT=1": "CALDAV_PROT in the environment is not a setting of this program; did you " +
			"mean CALDAV_PORT?",
		"MCP_TIMEOUT=1":                 "MCP_TIMEOUT in the environment is not a setting",
		"CALDAV_PORT_FILE=x":            "CALDAV_PORT_FILE in the environment is not a setting",
		"DATABASE_URL=mysql://u:pa55@h": "DATABASE_URL is malformed: its scheme is neither postgres nor sqlite",
		"DATABASE_READ_URL=sqlite:x": "DATABASE_READ_URL is malformed: its scheme is not postgres: only Postgres " +
			"has read replicas",
		"DATABASE_URL=postgres://a%b@h": "special characters in the password",
		"DATABASE_URL_FILE=/not/there":  "DATABASE_URL_FILE names /not/there, which is not there",
	}
	for entry, want := range tests {
		_, err := Load(everySetting, []string{entry}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want …%s…", entry, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "pa55") {
			t.Errorf("%s: the error tells a secret: %v", entry, err)
		}
	}
}

// A variable that is not serve's is not looked at by a command that does not read it.
func TestCommandsReadTheirOwnSettings(t *testing.T) {
	t.Parallel()
	if _, err := Load(StoreGroup, []string{"CALDAV_PORT=http", "MCP_TIMEOUT=1"}, nil); err != nil {
		t.Error(err)
	}
}

func TestSecretFromFile(t *testing.T) {
	t.Parallel()
	const secret = "postgres://u:p@h/d"
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		environ []string
		flags   Given
		fault   string
	}{
		"variable":       {environ: []string{"DATABASE_URL=" + secret}},
		"file":           {environ: []string{"DATABASE_URL_FILE=" + file}},
		"flag of a file": {environ: []string{"DATABASE_URL=sqlite:x"}, flags: Given{"database-url-file": file}},
		"both": {
			environ: []string{"DATABASE_URL=" + secret, "DATABASE_URL_FILE=" + file},
			fault:   "both DATABASE_URL and DATABASE_URL_FILE are set",
		},
		"an empty file":      {environ: []string{"DATABASE_URL_FILE=" + empty}, fault: "which is empty"},
		"password in a flag": {flags: Given{"database-url": secret}, fault: "every user of this machine could see"},
		"password parameter": {
			flags: Given{"database-url": "postgres://h/d?password=p"}, fault: "every user of this machine could see",
		},
		"password of a key": {
			flags: Given{"database-url": "postgres://h/d?sslkey=k&sslpassword=p"},
			fault: "every user of this machine could see",
		},
	}
	for name, test := range tests {
		c, err := Load(StoreGroup, test.environ, test.flags)
		if test.fault != "" {
			if err == nil || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%s: got %v, want …%s…", name, err, test.fault)
			}
			continue
		}
		if err != nil || c.DatabaseURL != secret {
			t.Errorf("%s: read %q, %v", name, c.DatabaseURL, err)
		}
	}
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	if got, err := (Config{DataDir: "/data"}).Database(); err != nil ||
		got != "sqlite:"+filepath.Join("/data", "calendar.db") {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := (Config{DataDir: "/data", DatabaseURL: "sqlite:x"}).Database(); err != nil || got != "sqlite:x" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := (Config{}).Database(); err == nil {
		t.Errorf("without any place there is %q", got)
	}
}

func TestAddressesForPeople(t *testing.T) {
	t.Parallel()
	c := Config{CalDAV: Address{"0.0.0.0", "5232"}, MCP: Address{"::", "5233"}}
	if got, want := c.CalDAVURL(), "http://127.0.0.1:5232/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.MCPURL(), "http://[::1]:5233/mcp"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.BaseURL = &url.URL{Scheme: "https", Host: "cal.example", Path: "/a"}
	if got, want := c.CalDAVURL(), "https://cal.example/a/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := c.MCPURL(), "https://cal.example/a/mcp"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
