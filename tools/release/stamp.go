package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// stamp is the version of a release, its commit and the commit's time.
type stamp struct {
	version string // the constant in the program
	commit  string // abbreviated, with -dirty if files are changed
	packed  string // the version in the syntax of package managers, which sorts correctly
	at      time.Time
}

// constant is where the program has its version.
const constant = "cmd/caldav-mcp-server/main.go"

var releaseLine = regexp.MustCompile(`(?m)^const release = "([^"]+)"$`)

func stampOf(ctx context.Context, root string) (stamp, error) {
	source, err := os.ReadFile(filepath.Join(root, constant))
	if err != nil {
		return stamp{}, err
	}
	found := releaseLine.FindSubmatch(source)
	if found == nil {
		return stamp{}, fmt.Errorf("%s has no version", constant)
	}
	text, err := output(ctx, root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return stamp{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return stamp{}, fmt.Errorf("the time of the commit: %w", err)
	}
	s := stamp{version: string(found[1]), at: time.Unix(seconds, 0).UTC()}
	if s.commit, err = output(ctx, root, "git", "describe", "--exclude=*", "--always", "--dirty"); err != nil {
		return stamp{}, err
	}
	s.packed, err = packedVersion(s.version, s.commit, s.at)
	return s, err
}

var wellFormed = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-([a-z][a-z0-9.]*))?$`)

// packedVersion converts a version so that dpkg and rpm sort it correctly: 0.2.0-dev by the time of its commit, then
// 0.2.0-rc1, then 0.2.0.
func packedVersion(version, commit string, at time.Time) (string, error) {
	m := wellFormed.FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("%q is no version such as 0.2.0, 0.2.0-rc1 or 0.2.0-dev", version)
	}
	packed := m[1]
	clean, changed := strings.CutSuffix(commit, "-dirty")
	if m[2] != "" {
		packed += "~" + m[2]
	}
	if m[2] == "dev" {
		packed += "." + at.Format("20060102150405") + "." + clean
	}
	if changed {
		packed += "+dirty"
	}
	return packed, nil
}

// output runs a command and returns its output.
func output(ctx context.Context, dir, command string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, command, args...)
	c.Dir = dir
	said, err := c.Output()
	if err != nil {
		if failed, ok := err.(*exec.ExitError); ok {
			return "", fmt.Errorf("%s %s: %w: %s", command, strings.Join(args, " "), err,
				strings.TrimSpace(string(failed.Stderr)))
		}
		return "", err
	}
	return strings.TrimSpace(string(said)), nil
}
