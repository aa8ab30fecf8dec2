package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/apk" // packages for Alpine
	_ "github.com/goreleaser/nfpm/v2/deb" // packages for Debian and Ubuntu
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // packages for Fedora, openSUSE and their like
)

// format is a package format.
type format struct {
	name    string
	depends []string
	// completions is the directory where zsh looks for completions from packages.
	completions string
	// openrc is set for systems with OpenRC instead of systemd.
	openrc bool
}

// formats returns the supported formats.
func formats() []format {
	return []format{
		// systemd-sysusers creates the server's user; for systems without systemd, Debian has it in a separate package.
		{"deb", []string{"systemd | systemd-standalone-sysusers"}, "/usr/share/zsh/vendor-completions", false},
		{"rpm", []string{"systemd"}, "/usr/share/zsh/site-functions", false},
		{"apk", []string{"openrc"}, "/usr/share/zsh/site-functions", true},
	}
}

// written are the files that the program generates from its own tables, so that they are never out of date.
var written = []struct{ file, command string }{
	{name + ".1", "man"}, {"bash", "completion bash"}, {"zsh", "completion zsh"}, {"fish", "completion fish"},
}

func (r *release) packages(ctx context.Context) error {
	if len(r.of("linux")) == 0 {
		return nil
	}
	if err := r.papers(ctx); err != nil {
		return err
	}
	for _, p := range r.of("linux") {
		for _, f := range formats() {
			if err := r.pack(f, p); err != nil {
				return fmt.Errorf("%s, %s: %w", f.name, p, err)
			}
		}
	}
	return nil
}

func (r *release) paper(file string) string { return filepath.Join(r.work, "paper", file) }

// papers creates the package files other than the binary and packaging/.
func (r *release) papers(ctx context.Context) error {
	if err := os.MkdirAll(r.paper(""), 0o755); err != nil {
		return err
	}
	for _, w := range written {
		text, err := exec.CommandContext(ctx, r.host, strings.Fields(w.command)...).Output()
		if err != nil {
			return fmt.Errorf("%s: %w", w.command, err)
		}
		if err := os.WriteFile(r.paper(w.file), text, 0o644); err != nil {
			return err
		}
	}
	if err := squeeze(r.paper(name+".1"), r.paper("man.gz")); err != nil {
		return err
	}
	if err := squeeze(filepath.Join(r.root, "CHANGELOG.md"), r.paper("changelog.gz")); err != nil {
		return err
	}
	unit, err := os.ReadFile(filepath.Join(r.root, "packaging", name+".service"))
	if err != nil {
		return err
	}
	// A manual installation goes to /usr/local, which packages must not use.
	text := strings.ReplaceAll(string(unit), "/usr/local/bin/", "/usr/bin/")
	if text == string(unit) {
		return fmt.Errorf("the unit starts nothing of /usr/local/bin")
	}
	return os.WriteFile(r.paper("unit"), []byte(text), 0o644)
}

func squeeze(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return create(to, func(w io.Writer) error {
		z, _ := gzip.NewWriterLevel(w, gzip.BestCompression)
		if _, err := z.Write(data); err != nil {
			return err
		}
		return z.Close()
	})
}

// layout maps the files to their places.
func (r *release) layout(f format, p platform) files.Contents {
	source := func(path string) string { return filepath.Join(r.root, filepath.FromSlash(path)) }
	doc := "/usr/share/doc/" + name + "/"
	type place struct {
		from, to, kind string
		mode           os.FileMode
	}
	list := []place{
		{r.binary(p), "/usr/bin/" + name, "", 0o755},
		{source("packaging/environment"), "/etc/" + name + "/environment", "config|noreplace", 0o600},
		{r.paper("man.gz"), "/usr/share/man/man1/" + name + ".1.gz", "", 0o644},
		{r.paper("bash"), "/usr/share/bash-completion/completions/" + name, "", 0o644},
		{r.paper("zsh"), f.completions + "/_" + name, "", 0o644},
		{r.paper("fish"), "/usr/share/fish/vendor_completions.d/" + name + ".fish", "", 0o644},
		{source("packaging/copyright"), doc + "copyright", "", 0o644},
		{source("packaging/README.md"), doc + "packaging/README.md", "", 0o644},
		{source("packaging/environment"), doc + "packaging/environment", "", 0o644},
		{source("packaging/grafana.json"), doc + "packaging/grafana.json", "", 0o644},
		{source("packaging/alerts.yml"), doc + "packaging/alerts.yml", "", 0o644},
		{r.paper("changelog.gz"), doc + "changelog.gz", "", 0o644},
		{source("README.md"), doc + "README.md", "", 0o644},
	}
	if f.openrc {
		list = append(list, place{source("packaging/" + name + ".initd"), "/etc/init.d/" + name, "", 0o755})
	} else {
		list = append(list, place{r.paper("unit"), "/usr/lib/systemd/system/" + name + ".service", "", 0o644},
			place{source("packaging/" + name + ".sysusers"), "/usr/lib/sysusers.d/" + name + ".conf", "", 0o644})
	}
	var all files.Contents
	for _, l := range list {
		all = append(all, &files.Content{Source: l.from, Destination: l.to, Type: l.kind, FileInfo: r.info(l.mode)})
	}
	papers, _ := filepath.Glob(source("docs/*.md"))
	for _, paper := range papers {
		all = append(all, &files.Content{
			Source: paper, Destination: doc + "docs/" + filepath.Base(paper), FileInfo: r.info(0o644),
		})
	}
	// The unit has the same mode. The directory is readable: secrets in it are separate files with their own owners.
	return append(all, &files.Content{Destination: "/etc/" + name, Type: "dir", FileInfo: r.info(0o755)})
}

func (r *release) info(mode os.FileMode) *files.ContentFileInfo {
	return &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: r.stamp.at}
}

// pack writes a package.
func (r *release) pack(f format, p platform) error {
	scripts, version := "scripts", r.stamp.packed
	if f.openrc {
		scripts, version = "scripts-openrc", alpineVersion(version)
	}
	script := func(name string) string { return filepath.Join(r.root, "packaging", scripts, name) }
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: name, Arch: strings.Replace(p.arch+p.variant(), "armv7", "arm7", 1), Platform: "linux",
		Version: version, VersionSchema: "none", Release: "1",
		Section: "net", Priority: "optional", Maintainer: r.setting.maintainer, Homepage: r.setting.homepage(),
		Description: "calendar server for apps (CalDAV) and assistants (MCP)\n" +
			"Keeps calendars and tasks in a SQLite file or in Postgres. Programs and\n" +
			"phones reach them by CalDAV, assistants by the Model Context Protocol,\n" +
			"and people by a page in their browser.",
		License: "Apache-2.0", MTime: r.stamp.at, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Depends: f.depends, Contents: r.layout(f, p),
			Scripts: nfpm.Scripts{
				PostInstall: script("postinstall"), PreRemove: script("preremove"), PostRemove: script("postremove"),
			},
			RPM: nfpm.RPM{
				BuildHost: "localhost", Compression: "gzip",
				Summary: "Calendar server for apps (CalDAV) and assistants (MCP)",
			},
			Deb: nfpm.Deb{Compression: "xz"},
		},
	})
	if err := nfpm.PrepareForPackager(info, f.name); err != nil {
		return err
	}
	packager, err := nfpm.Get(f.name)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, packager.ConventionalFileName(info)), func(w io.Writer) error {
		return packager.Package(info, w)
	})
}

// alpineVersion converts a version to the syntax of apk, which has no ~: 0.2.0~rc1 is 0.2.0_rc1, and a version in
// development 0.2.0_alpha with the time of its commit.
func alpineVersion(packed string) string {
	packed, _, _ = strings.Cut(packed, "+")
	numbers, rest, before := strings.Cut(packed, "~")
	if at, ok := strings.CutPrefix(rest, "dev."); ok {
		at, _, _ = strings.Cut(at, ".")
		return numbers + "_alpha" + at
	}
	if before {
		return numbers + "_" + rest
	}
	return numbers
}
