package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
)

// account is the user that runs Postgres; nil means the present user.
type account struct{ uid, gid int }

// accountNames are the users to run Postgres for a root caller; the first existing one is used.
func accountNames() []string { return []string{"postgres", "nobody"} }

// unprivileged returns the account for Postgres, which refuses to run as root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	var failures error
	for _, name := range accountNames() {
		found, err := lookup(name)
		if err == nil {
			return found, nil
		}
		failures = errors.Join(failures, err)
	}
	return nil, fmt.Errorf("pgtest: postgres refuses to run as root, and there is no other user to run it: %w",
		failures)
}

func lookup(name string) (*account, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.Atoi(found.Uid)
	gid, err2 := strconv.Atoi(found.Gid)
	return &account{uid, gid}, errors.Join(err1, err2)
}

// own gives files to the account.
func (a *account) own(paths ...string) error {
	if a == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, a.uid, a.gid); err != nil {
			return err
		}
	}
	return nil
}
