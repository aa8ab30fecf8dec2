package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// kept are the tokens that a client stores in files below a directory, in any format.
type kept struct{ dir string }

var (
	accessText  = regexp.MustCompile(`mcpa_[A-Za-z0-9_-]{20,}`)
	refreshText = regexp.MustCompile(`mcpr_[A-Za-z0-9_-]{20,}`)
)

// find returns the access and the refresh token, and their file.
func (k kept) find() (access, refresh, file string, err error) {
	err = filepath.WalkDir(k.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if a, r := accessText.Find(data), refreshText.Find(data); a != nil && r != nil {
			access, refresh, file = string(a), string(r), path
		}
		return nil
	})
	if err == nil && file == "" {
		err = errors.New("it kept no tokens")
	}
	return access, refresh, file, err
}

// renewed removes the access token, makes the client do something, and checks that it got new tokens.
func (k kept) renewed(again func() error) error {
	_, before, file, err := k.find()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, accessText.ReplaceAll(data, []byte("mcpa_ended")), 0o600); err != nil {
		return err
	}
	if err := again(); err != nil {
		return fmt.Errorf("a call when its access has ended: %w", err)
	}
	_, after, _, err := k.find()
	if err != nil {
		return fmt.Errorf("after a call when its access has ended: %w", err)
	}
	if before == after {
		return errors.New("the access was not renewed")
	}
	return nil
}
