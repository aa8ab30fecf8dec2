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

// programs are the paths of the two programs that create and run a cluster.
type programs struct{ initdb, postgres string }

// findPrograms looks in PATH, asks pg_config, and then looks in Debian's directories outside of PATH.
func findPrograms(ctx context.Context) (programs, error) {
	return firstOf(candidates(ctx))
}

// firstOf returns the programs of the first directory that has both.
func firstOf(dirs []string) (programs, error) {
	for _, dir := range dirs {
		if found, err := programsIn(dir); err == nil {
			return found, nil
		}
	}
	return programs{}, ErrNoPostgres
}

// candidates returns the directories that may contain the programs, the preferred one first.
func candidates(ctx context.Context) []string {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if output, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(output)))
	}
	return append(dirs, debianDirs("/usr/lib/postgresql")...)
}

// debianDirs returns Debian's program directories below root, the newest version first.
func debianDirs(root string) []string {
	dirs, err := filepath.Glob(filepath.Join(root, "*", "bin"))
	if err != nil { // the pattern is constant except for root: a root with a bracket contains no Postgres
		return nil
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	return dirs
}

// version returns the major version in a path such as /usr/lib/postgresql/15/bin, or 0 if there is none.
func version(dir string) int {
	major, err := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
	if err != nil {
		return 0
	}
	return major
}

// programsIn returns both programs of one directory, so that they have the same version.
func programsIn(dir string) (programs, error) {
	initdb, err1 := exec.LookPath(filepath.Join(dir, "initdb"))
	postgres, err2 := exec.LookPath(filepath.Join(dir, "postgres"))
	return programs{initdb, postgres}, errors.Join(err1, err2)
}

// collation returns the arguments for a cluster that sorts like people do ("a" before "B"), if initdb supports ICU
// (version 15 and later). Most users' servers do so. A query that silently relies on byte order, as in SQLite, must
// fail in the tests.
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
