package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// sums is the checksum file, in the format of sha256sum --check.
const sums = "SHA256SUMS"

func (r *release) checksums(context.Context) error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	return create(filepath.Join(r.out, sums), func(w io.Writer) error {
		for _, e := range entries {
			f, err := os.Open(filepath.Join(r.out, e.Name()))
			if err != nil {
				return err
			}
			h := sha256.New()
			_, err = io.Copy(h, f)
			f.Close()
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%x  %s\n", h.Sum(nil), e.Name()); err != nil {
				return err
			}
		}
		return nil
	})
}
