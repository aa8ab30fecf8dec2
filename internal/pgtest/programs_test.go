package pgtest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// install puts empty programs into a directory.
func install(t *testing.T, dir string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDebianDirsNewestFirst(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, version := range []string{"9.6", "15", "9", "17"} {
		install(t, filepath.Join(root, version, "bin"))
	}
	var got []string
	for _, dir := range debianDirs(root) {
		got = append(got, filepath.Base(filepath.Dir(dir)))
	}
	if diff := cmp.Diff([]string{"17", "15", "9", "9.6"}, got); diff != "" {
		t.Errorf("order of versions (-want +got):\n%s", diff)
	}
}

// A directory with one program only, as of a client package, must not be mixed with another version's.
func TestFirstOfWantsBothPrograms(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("programs have another name on Windows")
	}
	half, whole := t.TempDir(), t.TempDir()
	install(t, half, "initdb")
	install(t, whole, "initdb", "postgres")

	got, err := firstOf([]string{filepath.Join(half, "missing"), half, whole})
	if err != nil {
		t.Fatal(err)
	}
	if want := (programs{filepath.Join(whole, "initdb"), filepath.Join(whole, "postgres")}); got != want {
		t.Errorf("found %v, want %v", got, want)
	}
	if _, err := firstOf([]string{half}); !errors.Is(err, ErrNoPostgres) {
		t.Errorf("half an installation: %v, want ErrNoPostgres", err)
	}
}
