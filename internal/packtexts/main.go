// Packtexts writes the catalogs of package locale into one compressed file, for builds with the tag packed. The same
// catalogs give the same bytes.
package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := pack("locale"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pack(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(names) == 0 {
		return fmt.Errorf("no catalogs in %s: %w", folder, err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		w, err := z.Create(filepath.Base(name)) // without a time
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return replace(filepath.Join(folder, "catalogs.zip"), b.Bytes())
}

// replace writes a file at once, because builds for several platforms run side by side.
func replace(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name))
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
