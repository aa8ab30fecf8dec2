package main

import (
	"os"
	"path/filepath"
	"strings"

	"caldav-mcp-server/calendar/zone"
)

// machineZone returns the time zone that the machine is set to, by the name that IANA has for it: that of TZ, else
// the one that the link /etc/localtime leads to, else what /etc/timezone says. A machine in UTC says nothing of
// where its people live, and that of a container hardly ever anything else: for them it returns none.
func machineZone(environ []string, etc string) string {
	name, set := environment(environ)["TZ"]
	if !set {
		if to, err := filepath.EvalSymlinks(filepath.Join(etc, "localtime")); err == nil {
			_, name, _ = strings.Cut(filepath.ToSlash(to), "/zoneinfo/")
		}
	}
	if !set && name == "" {
		if text, err := os.ReadFile(filepath.Join(etc, "timezone")); err == nil { //nolint:gosec // a file of the system's
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
