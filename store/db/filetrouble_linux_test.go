package db

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// nobody owns no files.
const nobody = 65534

// asNobody makes this goroutine access files as another user, if the tests run as root, who may write everything.
func asNobody(t *testing.T, work func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		work()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0); errno != 0 {
			t.Error(errno)
			return
		}
		work()
	}()
	<-done
}

// TestUnwritableFiles: an error about the file names the path, the reason and a remedy (operation F3).
func TestUnwritableFiles(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		fault string
		make  func(t *testing.T, dir string) error
		want  string
	}{
		{"the directory", func(_ *testing.T, dir string) error { return os.Chmod(dir, 0o500) }, "cannot write DIR: "},
		{"the file", func(_ *testing.T, dir string) error {
			return os.Chmod(filepath.Join(dir, "calendar.db"), 0o400)
		}, "cannot write DIR/calendar.db: "},
		{"no directory", func(_ *testing.T, dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.Chmod(filepath.Dir(dir), 0o555)
		}, "cannot create DIR: "},
	} {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			path := filepath.Join(dir, "calendar.db")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			d, err := Open(t.Context(), path, Options{}, fstest.MapFS{}, Hooks{})
			if err == nil {
				err = d.Close()
			}
			if err == nil {
				err = test.make(t, dir)
			}
			if err == nil && os.Geteuid() == 0 {
				err = filepath.Walk(filepath.Dir(dir), func(path string, _ os.FileInfo, err error) error {
					if err != nil || path == filepath.Dir(dir) {
						return err
					}
					return os.Chown(path, nobody, nobody)
				})
			}
			if err == nil {
				err = os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700); _ = os.Chmod(filepath.Dir(dir), 0o700) })
			asNobody(t, func() {
				d, err = Open(t.Context(), path, Options{}, fstest.MapFS{}, Hooks{})
			})
			want := strings.ReplaceAll(test.want, "DIR", dir) + "permission denied: give the directory"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
