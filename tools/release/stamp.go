package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// stamp is the version of a release and the time of its commit.
type stamp struct {
	version string // from git describe, or as requested
	packed  string // the same in the syntax of package managers, which sorts correctly
	at      time.Time
}

func stampOf(ctx context.Context, root, version string) (stamp, error) {
	text, err := output(ctx, root, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return stamp{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return stamp{}, fmt.Errorf("the time of the commit: %w", err)
	}
	s := stamp{version: version, at: time.Unix(seconds, 0).UTC()}
	if s.version == "" {
		if s.version, err = output(ctx, root, "git", "describe", "--tags", "--always", "--dirty"); err != nil {
			return stamp{}, err
		}
	}
	s.packed, err = packedVersion(s.version, s.at)
	return s, err
}

var (
	tagged    = regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(?:-([a-z][a-z0-9.]*))?(?:-(\d+)-(g[0-9a-f]+))?$`)
	untagged  = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
	beforeAll = "0.0.0~" // sorts before every future version
)

// packedVersion converts a version so that dpkg and rpm sort it correctly: v0.2.0-rc1 before v0.2.0, and commits after
// a tag after it.
func packedVersion(version string, at time.Time) (string, error) {
	clean, changed := strings.CutSuffix(version, "-dirty")
	var packed string
	glue := "."
	switch m := tagged.FindStringSubmatch(clean); {
	case m != nil && !untagged.MatchString(clean):
		packed = m[1]
		if m[2] != "" {
			packed += "~" + m[2]
		}
		if m[3] == "" {
			glue = "+"
		} else {
			packed += "+" + m[3] + "." + m[4]
		}
	case untagged.MatchString(clean):
		packed = beforeAll + at.Format("20060102150405") + "." + clean
	default:
		return "", fmt.Errorf("%q is no version such as v0.1.0, v0.1.0-rc1 or what git describe says", version)
	}
	if changed {
		packed += glue + "dirty"
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
			return "", fmt.Errorf("%s %s: %w: %s", command, strings.Join(args, " "), err, strings.TrimSpace(string(failed.Stderr)))
		}
		return "", err
	}
	return strings.TrimSpace(string(said)), nil
}
