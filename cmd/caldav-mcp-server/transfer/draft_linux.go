package transfer

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// newDraft creates a file without a name (O_TMPFILE), which vanishes if the program is killed. Some file systems cannot
// do that.
func newDraft(dir string) (draft, error) {
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600)
	if err != nil {
		return namedDraft(dir)
	}
	publish := func(path string) error {
		unnamed := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
		if err := unix.Linkat(unix.AT_FDCWD, unnamed, unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW); err != nil {
			return &os.PathError{Op: "create", Path: path, Err: err}
		}
		return nil
	}
	return draft{f, publish, func() error { return nil }}, nil
}
