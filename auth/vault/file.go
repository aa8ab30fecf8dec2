package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// In reads the keys from a file. If the file is missing, it creates it with a new key.
func In(file string) Keys {
	return func() ([]Key, error) {
		keys, err := Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			if err := create(file, []Key{NewKey()}); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
			keys, err = Read(file)
		}
		return keys, err
	}
}

// Read reads the keys from an existing file.
func Read(file string) ([]Key, error) {
	text, err := os.ReadFile(file) // the administrator names it
	if err != nil {
		return nil, err
	}
	keys, err := ParseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return keys, nil
}

// Given returns the given keys.
func Given(keys []Key) Keys { return func() ([]Key, error) { return keys, nil } }

// create writes a new file atomically: another process may look for it at the same time.
func create(file string, keys []Key) error {
	made, err := written(file, keys)
	if err != nil {
		return err
	}
	defer os.Remove(made) //nolint:errcheck // it has its other name by then
	return os.Link(made, file)
}

// Rewrite replaces the keys in a file.
func Rewrite(file string, keys []Key) error {
	made, err := written(file, keys)
	if err != nil {
		return err
	}
	return os.Rename(made, file)
}

// written writes keys to a temporary file in the same directory.
func written(file string, keys []Key) (name string, err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*") // readable only by its owner
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
