package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"caldav-mcp-server/store"
)

// troubles reports a present trouble of the server, such as a full disk.
func (x *Examination) troubles(ctx context.Context) (string, error) {
	if err := x.askItself(ctx); err != nil {
		return "", err
	}
	if x.itself.trouble != "" {
		return "", &checkError{
			x.itself.trouble,
			"free space on the disk of the database; for another reason, look at the server's log. The server goes " +
				"on by itself",
		}
	}
	return "nothing is in its way", nil
}

// clockSlack is how wrong a clock may be: codes of authenticator apps are accepted for about as long.
const clockSlack = time.Minute

// apart returns how far a clock is ahead of ours. It was read between two times of ours.
func apart(theirs, before, after time.Time) time.Duration {
	switch {
	case theirs.Before(before):
		return theirs.Sub(before)
	case theirs.After(after):
		return theirs.Sub(after)
	}
	return 0
}

// clock compares the server's clock with this machine's.
func (x *Examination) clock(ctx context.Context) (string, error) {
	if err := x.askItself(ctx); err != nil {
		return "", err
	}
	ahead := x.itself.ahead.Round(time.Second)
	if ahead.Abs() <= clockSlack {
		return "within a minute of this machine's", nil
	}
	how := "ahead of"
	if ahead < 0 {
		how = "behind"
	}
	return "", &checkError{
		fmt.Sprintf("the server's clock is %s %s this machine's", ahead.Abs(), how),
		"set the clock that is wrong, and let the machine synchronize it (timedatectl set-ntp true): otherwise " +
			"reminders come at the wrong time, sign-in codes are refused, and certificates seem invalid",
	}
}

// fileChecks are the checks of the SQLite file, if the doctor has its settings and it is on this machine.
func (x *Examination) fileChecks() []check {
	database, err := x.config.Database()
	path, isFile := store.File(database)
	if err != nil || !isFile || runtime.GOOS == "windows" {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	try := func(*Examination, context.Context) (string, error) { return private(path) }
	return []check{{itself, "only its user can read the database", try}}
}

// private checks that no other users of this machine can read the files of a database.
func private(path string) (string, error) {
	var open []string
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if info.Mode().Perm()&0o077 != 0 {
			open = append(open, file)
		}
	}
	if dir, err := os.Stat(filepath.Dir(path)); err == nil && dir.Mode().Perm()&0o077 == 0 || len(open) == 0 {
		return path, nil
	}
	return "", &checkError{
		"other users of this machine can read " + strings.Join(open, ", "),
		"chmod 600 " + strings.Join(open, " ") + ": the database has all calendars, and hashes of " +
			"passwords and tokens",
	}
}
