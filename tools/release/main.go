// Command release builds everything that people install: binaries, packages for Debian and Fedora, a container image, a
// software bill of materials (SBOM) and checksums. It unpacks and runs the result before it succeeds.
//
//	go run . -root ../.. [-out dist] [-platforms linux/amd64,linux/arm64]
//
// Environment variables name the repository and hold the keys; see setting.
//
// The build is reproducible: the same source and Go version give the same bytes, since all times are the commit's.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// name is the name of the program and its packages.
const name = "caldav-mcp-server"

// release is one run.
type release struct {
	root, out string
	work      string // a directory that is removed at the end
	stamp     stamp
	setting   setting
	platforms []platform
	host      string // the binary for this machine, which generates the manual and completions
	log       io.Writer
}

// steps are the steps of a run, in order.
func steps() []step {
	return []step{
		{"binaries", (*release).buildAll},
		{"archives", (*release).archives},
		{"contents (SBOM)", (*release).contents},
		{"packages", (*release).packages},
		{"image", (*release).image},
		{"trial", (*release).try},
		{"repositories", (*release).repositories},
		{"checksums", (*release).checksums},
		{"signature", (*release).sign},
		{"what is behind", (*release).behind},
	}
}

type step struct {
	name string
	run  func(*release, context.Context) error
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	root := flags.String("root", ".", "the `DIRECTORY` of the source")
	out := flags.String("out", "", "the `DIRECTORY` that gets the files (default dist in the root)")
	only := flags.String("platforms", "", "comma `LIST` of platforms, such as linux/amd64 (default all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := &release{log: log}
	var err error
	if r.root, err = filepath.Abs(*root); err != nil {
		return err
	}
	if r.out = *out; r.out == "" {
		r.out = filepath.Join(r.root, "dist")
	}
	if r.out, err = filepath.Abs(r.out); err != nil {
		return err
	}
	if r.platforms, err = choose(*only); err != nil {
		return err
	}
	if r.stamp, err = stampOf(ctx, r.root); err != nil {
		return err
	}
	if r.setting, err = settingOf(os.Getenv, r.stamp.version); err != nil {
		return err
	}
	return r.make(ctx)
}

// make runs all steps. It first removes the output of an earlier run, so that the checksums cover only this one.
func (r *release) make(ctx context.Context) error {
	if err := r.clear(); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r.work = work
	fmt.Fprintf(r.log, "%s %s, of %s\n", name, r.stamp.version, r.stamp.at.UTC().Format(time.DateTime))
	for _, s := range steps() {
		fmt.Fprintf(r.log, "== %s\n", s.name)
		if err := s.run(r, ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// clear removes the output of an earlier run, and refuses a directory with any other file.
func (r *release) clear() error {
	entries, err := os.ReadDir(r.out)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) && !strings.HasPrefix(e.Name(), sums) {
			return fmt.Errorf("%s has %s in it, which is of no release: name another directory with -out", r.out,
				e.Name())
		}
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(r.out, e.Name())); err != nil {
			return err
		}
	}
	return os.MkdirAll(r.out, 0o755)
}
