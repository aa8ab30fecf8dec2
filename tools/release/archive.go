package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// archived are the source files that are packed with a bare binary.
var archived = []string{"LICENSE", "README.md", "CHANGELOG.md"}

// archives packs each binary with these files: as ZIP on Windows, otherwise as a tarball.
func (r *release) archives(context.Context) error {
	for _, p := range r.platforms {
		files := []file{{name + p.suffix(), r.binary(p), 0o755}}
		for _, paper := range archived {
			files = append(files, file{paper, filepath.Join(r.root, paper), 0o644})
		}
		write, ending := tarballed, ".tar.gz"
		if p.os == "windows" {
			write, ending = zipped, ".zip"
		}
		base := name + "_" + r.stamp.packed + "_" + p.os + "_" + p.arch
		for i := range files {
			files[i].name = base + "/" + files[i].name
		}
		if err := create(filepath.Join(r.out, base+ending), func(w io.Writer) error {
			return write(w, files, r.stamp.at)
		}); err != nil {
			return err
		}
	}
	return nil
}

// file is a file in an archive.
type file struct {
	name, source string
	mode         fs.FileMode
}

func tarballed(w io.Writer, files []file, at time.Time) error {
	packed := gzip.NewWriter(w)
	if err := tarred(packed, files, at); err != nil {
		return err
	}
	return packed.Close()
}

// tarred writes a tar without information about its author and origin.
func tarred(w io.Writer, files []file, at time.Time) error {
	t := tar.NewWriter(w)
	for _, f := range files {
		data, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		h := &tar.Header{
			Name: f.name, Mode: int64(f.mode), Size: int64(len(data)), ModTime: at, Format: tar.FormatUSTAR,
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(data); err != nil {
			return err
		}
	}
	return t.Close()
}

func zipped(w io.Writer, files []file, at time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		data, err := os.ReadFile(f.source)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		entry, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return z.Close()
}

// create writes a file and returns an error if it is incomplete.
func create(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
