package db

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"syscall"
)

// Besides the database, SQLite writes these files next to it.
const walSuffix, shmSuffix = "-wal", "-shm"

// notWritable returns the error of the first file of a database, or of its directory, that this user cannot write.
func notWritable(path string) error {
	for _, file := range []string{path, path + walSuffix, path + shmSuffix} {
		f, err := os.OpenFile(file, os.O_RDWR, 0)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".writable-")
	if err != nil {
		return &fs.PathError{Op: "write", Path: filepath.Dir(path), Err: cause(err)}
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// cause is the reason in an error about a path.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// elsewhere names the settings that move the database.
const elsewhere = "choose another directory with DATA_DIR or DATABASE_URL"

// unusable explains why the database's file cannot be used: the path, the reason and the remedy.
func unusable(err error) error {
	p, ok := errors.AsType[*fs.PathError](err)
	if !ok || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	remedy := elsewhere
	switch {
	case errors.Is(err, fs.ErrPermission):
		remedy = "give the directory and its files to this user with chown, start the program as their owner, or " +
			elsewhere
	case errors.Is(err, syscall.EROFS):
		remedy = "mount the file system for writing (in a container, mount a volume there), or " + elsewhere
	case errors.Is(err, syscall.ENOSPC):
		remedy = "free space on its disk, or " + elsewhere
	}
	verb := "write"
	if p.Op == "mkdir" {
		verb = "create"
	}
	return fmt.Errorf("%s cannot %s %s: %w: %s", thisUser(), verb, p.Path, p.Err, remedy)
}

// thisUser names the user that the process runs as.
func thisUser() string {
	if u, err := user.Current(); err == nil {
		return fmt.Sprintf("the user %s (%s)", u.Username, u.Uid)
	}
	return fmt.Sprintf("the user with the id %d", os.Geteuid())
}
