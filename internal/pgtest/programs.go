package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// programs are the paths of the two programs that make and run a cluster.
type programs struct{ initdb, postgres string }

// findPrograms looks in PATH, asks pg_config, and then looks where Debian keeps them out of everybody's PATH.
func findPrograms(ctx context.Context) (programs, error) {
	return firstOf(candidates(ctx))
}

// firstOf takes the programs from the first directory that has both.
func firstOf(dirs []string) (programs, error) {
	for _, dir := range dirs {
		if found, err := programsIn(dir); err == nil {
			return found, nil
		}
	}
	return programs{}, ErrNoPostgres
}

// candidates are the directories that may hold the programs, the preferred one first.
func candidates(ctx context.Context) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if output, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(output)))
	}
	return append(dirs, debianDirs("/usr/lib/postgresql")...)
}

// debianDirs lists the program directories below root, which Debian names by version, the newest first.
func debianDirs(root string) []string {
	dirs, err := filepath.Glob(filepath.Join(root, "*", "bin"))
	if err != nil { // the pattern is a constant but for root: a root with a bracket in it holds nothing of ours
		return nil
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	return dirs
}

// version is the major version in a path such as /usr/lib/postgresql/15/bin, 0 if there is none.
func version(dir string) int {
	major, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	if err != nil {
		return 0
	}
	return major
}

// programsIn takes both programs from one directory, so that they are of one version.
func programsIn(dir string) (programs, error) {
	initdb, err1 := exec.LookPath(filepath.Join(dir, "initdb"))
	postgres, err2 := exec.LookPath(filepath.Join(dir, "postgres"))
	return programs{initdb, postgres}, errors.Join(err1, err2)
}

// collation are the arguments that make a cluster sort as people do ("a" before "B"), where initdb knows ICU
// (version 15 and later). Most servers of users are like that, and a query that silently relies on the order of
// bytes, which is SQLite's, must fail here and not there.
func (p programs) collation(ctx context.Context) ([]string, error) {
	help, err := exec.CommandContext(ctx, p.initdb, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("pgtest: initdb --help: %w", err)
	}
	if bytes.Contains(help, []byte("--icu-locale")) {
		return []string{"--locale=C", "--locale-provider=icu", "--icu-locale=en-US"}, nil
	}
	return []string{"--locale=C"}, nil
}
