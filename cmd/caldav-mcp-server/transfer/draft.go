package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// draft is a file that gets its name once it is complete.
type draft struct {
	*os.File
	// publish gives the file its name; it fails if there is one already.
	publish func(path string) error
	// discard removes the temporary name, if there is one.
	discard func() error
}

// draftPrefix begins the temporary names of drafts.
const draftPrefix = ".backup-"

// namedDraft creates a draft with a temporary name. If the program is killed, the next backup removes it.
func namedDraft(dir string) (draft, error) {
	f, err := os.CreateTemp(dir, draftPrefix)
	if err != nil {
		return draft{}, err
	}
	return draft{
		f, func(path string) error { return os.Link(f.Name(), path) }, func() error { return os.Remove(f.Name()) },
	}, nil
}

// draftAge is the time without a write after which the program of a draft must have been killed.
const draftAge = time.Hour

// removeDrafts removes the drafts of programs that were killed.
func removeDrafts(dir string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), draftPrefix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < draftAge {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
