package main

import (
	"os"
	"path/filepath"
	"strings"

	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

// machineZone returns the IANA name of the machine's time zone. It uses TZ, else the target of /etc/localtime, else
// /etc/timezone. It returns "" for UTC, because that does not reveal where the users live, and containers are almost
// always in UTC.
func machineZone(environ []string, etc string) string {
	name, set := settings.Environment(environ)["TZ"]
	if !set {
		if to, err := filepath.EvalSymlinks(filepath.Join(etc, "localtime")); err == nil {
			_, name, _ = strings.Cut(filepath.ToSlash(to), "/zoneinfo/")
		}
	}
	if !set && name == "" {
		if text, err := os.ReadFile(filepath.Join(etc, "timezone")); err == nil { // a system file
			name = strings.TrimSpace(string(text))
		}
	}
	name = strings.TrimPrefix(name, ":")
	if _, found, is := strings.Cut(name, "/zoneinfo/"); is {
		name = found // TZ may be a path, too
	}
	if !strings.Contains(name, "/") || strings.HasPrefix(name, "Etc/") {
		return ""
	}
	z, err := zone.Lookup(name)
	if err != nil {
		return ""
	}
	return z.Name()
}
