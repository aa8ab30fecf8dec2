package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// In are the keys of a file, which is made with a new key where there is none.
func In(file string) Keys {
	return func() ([]Key, error) {
		text, err := os.ReadFile(file) //nolint:gosec // the administrator names it
		if errors.Is(err, fs.ErrNotExist) {
			if err := create(file, []Key{NewKey()}); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			text, err = os.ReadFile(file) //nolint:gosec // as above
		}
		if err != nil {
			return nil, err
		}
		keys, err := ParseKeys(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return keys, nil
	}
}

// Given are keys that are known.
func Given(keys []Key) Keys { return func() ([]Key, error) { return keys, nil } }

// create writes a file that is not there yet, whole: another process may look for it meanwhile.
func create(file string, keys []Key) error {
	made, err := written(file, keys)
	if err != nil {
		return err
	}
	defer os.Remove(made) //nolint:errcheck // it has its other name by then
	return os.Link(made, file)
}

// Rewrite puts keys in the place of those of a file.
func Rewrite(file string, keys []Key) error {
	made, err := written(file, keys)
	if err != nil {
		return err
	}
	return os.Rename(made, file)
}

// written writes keys to a new file beside another one.
func written(file string, keys []Key) (name string, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // for its owner alone
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	var lines strings.Builder
	for _, k := range keys {
		lines.WriteString(k.String() + "\n")
	}
	if _, err := f.WriteString(lines.String()); err != nil {
		return "", err
	}
	return f.Name(), f.Sync()
}
