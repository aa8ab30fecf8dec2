package settings

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"caldav-mcp-server/acme"
	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/server"
)

// Parsers for the values of settings. Each error continues a sentence after the value: `"abc" is not …`.

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$`)

func setHost(field func(*Config) *string) func(*Config, string) error {
	return func(c *Config, value string) error {
		bare := strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
		if _, err := netip.ParseAddr(bare); err != nil && !hostName.MatchString(value) {
			return errors.New("is neither an address nor a host name (the port is a setting of its own)")
		}
		*field(c) = bare
		return nil
	}
}

// setText accepts a text that passes all checks.
func setText(field func(*Config) *string, checks ...func(string) error) func(*Config, string) error {
	return func(c *Config, value string) error {
		*field(c) = value
		for _, check := range checks {
			if err := check(value); err != nil {
				return err
			}
		}
		return nil
	}
}

// setWord accepts one of several words, and stores its meaning.
func setWord[T any](fault string, words map[string]T, field func(*Config) *T) func(*Config, string) error {
	return func(c *Config, value string) error {
		meaning, known := words[value]
		if !known {
			return errors.New(fault)
		}
		*field(c) = meaning
		return nil
	}
}

func checkPort(value string) error {
	if !validPort(value) {
		return errors.New("is not a port: a number from 0 to 65535")
	}
	return nil
}

func setNumber(least, most int, field func(*Config) *int) func(*Config, string) error {
	return func(c *Config, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Errorf("is not a number from %d to %d", least, most)
		}
		*field(c) = n
		return nil
	}
}

func setSwitch(field func(*Config) *bool) func(*Config, string) error {
	return setWord("is not true or false", map[string]bool{"true": true, "false": false}, field)
}

// setDatabase accepts the URLs that the store supports. Its errors do not repeat the value, which contains a password.
func setDatabase(c *Config, value string) error {
	c.DatabaseURL = value
	if strings.HasPrefix(value, "sqlite:") {
		return nil
	}
	return checkPostgres(value, "its scheme is neither postgres nor sqlite")
}

func setSecond(c *Config, value string) error {
	c.SecondURL = value
	return checkPostgres(value, "its scheme is not postgres: only Postgres has read replicas")
}

func checkPostgres(value, other string) error {
	if !isPostgres(value) {
		return errors.New(other)
	}
	if _, err := url.Parse(value); err != nil {
		// url.Error repeats the URL.
		return errors.New("it is not a URL; are special characters in the password encoded, such as %40 for @?")
	}
	return nil
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres:") || strings.HasPrefix(url, "postgresql:")
}

func setDataDir(c *Config, value string) error {
	dir, err := filepath.Abs(value)
	if err != nil {
		return fmt.Errorf("is not a directory: %w", err)
	}
	c.DataDir = dir
	return nil
}

func setBaseURL(c *Config, value string) (err error) {
	c.BaseURL, err = publicURL(value, "https://calendar.example.org")
	return err
}

func setMCPURL(c *Config, value string) (err error) {
	c.MCPAt, err = publicURL(value, "https://calendar.example.org/mcp")
	if err == nil && c.MCPAt.Path == "" {
		return errors.New("has no path: give the URL of the endpoint, such as https://calendar.example.org/mcp")
	}
	return err
}

// publicURL parses a public URL of the server.
func publicURL(value, example string) (*url.URL, error) {
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, fmt.Errorf("is not a URL such as %s", example)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return nil, errors.New("may contain a path, but no user, query or fragment")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

// setOnOff is setSwitch for the words on and off.
func setOnOff(field func(*Config) *bool) func(*Config, string) error {
	return setWord("is not on or off", map[string]bool{"on": true, "off": false}, field)
}

func setOrigins(c *Config, value string) error {
	for origin := range strings.SplitSeq(value, ",") {
		origin = strings.TrimSpace(origin)
		if origin == "" {
			continue
		}
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("contains %q, which is not an origin such as https://app.example.org", origin)
		}
		c.Origins = append(c.Origins, strings.ToLower(origin))
	}
	return nil
}

func setNetworks(field func(*Config) *server.Proxies) func(*Config, string) error {
	return func(c *Config, value string) error {
		networks, err := server.ParseProxies(value)
		if err != nil {
			return fmt.Errorf("is not a list of networks: %w", err)
		}
		*field(c) = networks
		return nil
	}
}

func checkListen(value string) error {
	if _, port, err := net.SplitHostPort(value); err != nil || !validPort(port) {
		return errors.New("is not HOST:PORT, such as 127.0.0.1:9090")
	}
	return nil
}

func setACME(c *Config, value string) error {
	switch value {
	case "off":
		c.ACME.Directory = ""
	case "on":
		c.ACME.Directory = acme.LetsEncrypt
	default:
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return errors.New("is not on, off or the https:// address of an authority's directory")
		}
		c.ACME.Directory = value
	}
	return nil
}

func setLogLevel(c *Config, value string) error {
	return setWord("is not debug, info, warn or error", map[string]slog.Level{
		"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	}, func(c *Config) *slog.Level { return &c.LogLevel })(c, strings.ToLower(value))
}

func setLogFormat(c *Config, value string) error {
	words := map[string]bool{"json": true, "text": false}
	return setWord("is not text or json", words, func(c *Config) *bool { return &c.LogJSON })(c, strings.ToLower(value))
}

func setMasterKey(c *Config, text string) error {
	keys, err := vault.ParseKeys(text)
	c.MasterKeys = keys
	return err
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
