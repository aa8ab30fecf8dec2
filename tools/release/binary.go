package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// platform is a target of binaries. arm is ARMv7.
type platform struct{ os, arch string }

func platforms() []platform {
	return []platform{
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"linux", "arm"},
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
	}
}

func (p platform) String() string { return p.os + "/" + p.arch }

// variant is the version of the instruction set in the name of an image's platform.
func (p platform) variant() string {
	if p.arch == "arm" {
		return "v7"
	}
	return ""
}

// packaged is the architecture in the packages of a format.
func (p platform) packaged(format string) string {
	names := map[string]map[string]string{
		"deb": {"arm": "armhf"},
		"rpm": {"amd64": "x86_64", "arm64": "aarch64", "arm": "armv7hl"},
		"apk": {"amd64": "x86_64", "arm64": "aarch64", "arm": "armv7"},
	}
	return cmp.Or(names[format][p.arch], p.arch)
}

// suffix returns the file extension of programs.
func (p platform) suffix() string {
	if p.os == "windows" {
		return ".exe"
	}
	return ""
}

// choose parses a list of platforms; an empty one means all.
func choose(list string) ([]platform, error) {
	if list == "" {
		return platforms(), nil
	}
	var chosen []platform
	for word := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(platforms(), func(p platform) bool { return p.String() == word })
		if i < 0 {
			return nil, fmt.Errorf("there is no platform %q; there are %v", word, platforms())
		}
		chosen = append(chosen, platforms()[i])
	}
	return chosen, nil
}

// binary returns the path of a platform's binary.
func (r *release) binary(p platform) string {
	return filepath.Join(r.work, "bin", p.os+"_"+p.arch, name+p.suffix())
}

// of returns the selected platforms of an operating system.
func (r *release) of(system string) []platform {
	return slices.DeleteFunc(slices.Clone(r.platforms), func(p platform) bool { return p.os != system })
}

// buildAll builds the binaries with the Makefile's rule, one after the other: each build compiles the whole program.
func (r *release) buildAll(ctx context.Context) error {
	host := platform{runtime.GOOS, runtime.GOARCH}
	for _, p := range r.platforms {
		if err := r.build(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	if !slices.Contains(r.platforms, host) {
		if err := r.build(ctx, host); err != nil {
			return fmt.Errorf("%s, which writes the manual: %w", host, err)
		}
	}
	r.host = r.binary(host)
	return nil
}

func (r *release) build(ctx context.Context, p platform) error {
	fmt.Fprintf(r.log, "%s\n", p)
	c := exec.CommandContext(ctx, "make", "--no-print-directory", "build",
		"COMMIT="+r.stamp.commit, "OUT="+filepath.Dir(r.binary(p))+"/")
	c.Dir = r.root
	c.Env = append(os.Environ(), "GOOS="+p.os, "GOARCH="+p.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOARM=7", "GOFLAGS=",
		"GOWORK=off", "GOEXPERIMENT=")
	c.Stdout, c.Stderr = r.log, r.log
	return c.Run()
}
