package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMachineZone(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		environ        []string
		link, timezone string
		want           string
	}{
		"the link": {link: "Europe/Berlin", timezone: "Asia/Tokyo\n", want: "Europe/Berlin"},
		"the file": {timezone: "Asia/Tokyo\n", want: "Asia/Tokyo"},
		"TZ": {
			environ: []string{"TZ=America/New_York"}, link: "Europe/Berlin", want: "America/New_York",
		},
		"TZ with a colon": {environ: []string{"TZ=:America/New_York"}, want: "America/New_York"},
		"TZ as a path": {
			environ: []string{"TZ=:/usr/share/zoneinfo/America/New_York"}, want: "America/New_York",
		},
		"TZ by another case":     {environ: []string{"TZ=europe/berlin"}, want: "Europe/Berlin"},
		"an empty TZ is UTC":     {environ: []string{"TZ="}, link: "Europe/Berlin"},
		"UTC says nothing":       {link: "Etc/UTC"},
		"nor does a bare offset": {environ: []string{"TZ=CET-1CEST"}},
		"nor what is no zone":    {link: "Europe/Atlantis"},
		"nor nothing at all":     {},
	} {
		etc := t.TempDir()
		if c.link != "" {
			to := filepath.Join(etc, "zoneinfo", filepath.FromSlash(c.link))
			must(os.MkdirAll(filepath.Dir(to), 0o700))
			must(os.WriteFile(to, nil, 0o600))
			must(os.Symlink(to, filepath.Join(etc, "localtime")))
		}
		if c.timezone != "" {
			must(os.WriteFile(filepath.Join(etc, "timezone"), []byte(c.timezone), 0o600))
		}
		if got := machineZone(c.environ, etc); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
