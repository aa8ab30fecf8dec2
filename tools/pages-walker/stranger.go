package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

func pause() { time.Sleep(50 * time.Millisecond) }

// asStrangers opens every page without signing in, and as another user without rights. Without signing in, every page
// leads to the same sign-in page. For the other user, a foreign page must look like one that does not exist.
func (w *walker) asStrangers() error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	secrets := w.own()
	if err := w.open(""); err != nil {
		return err
	}
	if err := w.signOut(); err != nil {
		return err
	}
	var wrong []error
	for _, path := range paths {
		if err := errors.Join(w.open(path), w.titled("Sign in"), w.quiet(secrets)); err != nil {
			wrong = append(wrong, fmt.Errorf("/account/%s without signing in: %w", path, err))
		}
	}
	if err := w.newcomer(); err != nil {
		return errors.Join(append(wrong, err)...)
	}
	for _, path := range paths {
		if err := w.open(path); err != nil {
			return err
		}
		err := w.quiet(secrets)
		if foreign(path) {
			err = errors.Join(err, w.sameAs(path))
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("/account/%s to another user: %w", path, err))
		}
	}
	if err := w.signOut(); err != nil {
		return err
	}
	return errors.Join(append(wrong, w.enter(w.password))...)
}

// foreign reports whether a page belongs to one user or to administrators.
func foreign(path string) bool {
	one := strings.HasPrefix(path, "calendars/") || strings.HasPrefix(path, "apps/") && path != "apps/new"
	return one || strings.HasPrefix(path, "people") || strings.HasPrefix(path, "groups/") ||
		slices.Contains([]string{"invite", "defaults", "checks"}, path)
}

// own returns texts that only the walker's user may see.
func (w *walker) own() []string {
	return []string{"Walkers", "Without <script>", "scripts</b>", "onerror", "right to left", w.user + "@example.com"}
}

// quiet checks that a page contains none of some texts, apart from words in its address.
func (w *walker) quiet(secrets []string) error {
	markup, err := ask[string](w,
		`document.documentElement.outerHTML.replaceAll(/<input type="hidden" name="next"[^>]*>/g, "")`)
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		if strings.Contains(markup, secret) {
			return fmt.Errorf("it has %q", secret)
		}
	}
	return nil
}

// identifier matches the beginning of a generated id.
var identifier = regexp.MustCompile(`/[0-9a-f]{8}-`)

// sameAs checks that the page equals the page of a path that does not exist.
func (w *walker) sameAs(path string) error {
	const page = `document.documentElement.outerHTML`
	is, err := ask[string](w, page)
	if err != nil {
		return err
	}
	nowhere := identifier.ReplaceAllString(path, "/ffffffff-")
	if nowhere == path {
		nowhere = missing
	}
	if err := w.open(nowhere); err != nil {
		return err
	}
	never, err := ask[string](w, page)
	if err != nil {
		return err
	}
	if id := identifier.FindString(path); id != "" {
		never = strings.ReplaceAll(never, "ffffffff-", id[1:])
	}
	// The menu marks the section of the page, which is in the address anyway.
	plain := strings.NewReplacer(` aria-current="page"`, "")
	if plain.Replace(is) != plain.Replace(never) {
		return fmt.Errorf("it differs from /account/%s:\n%s", nowhere, is)
	}
	return nil
}

// newcomer creates another user and signs in as them.
func (w *walker) newcomer() error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	make := exec.CommandContext(ctx, os.Getenv("COMPAT_BINARY"), "create-user", "newcomer", "--password-stdin")
	make.Stdin = strings.NewReader("what a newcomer types\n")
	if said, err := make.CombinedOutput(); err != nil {
		return fmt.Errorf("making another user: %w: %s", err, said)
	}
	if err := w.open("sign-in"); err != nil {
		return err
	}
	return w.follow(chromedp.SetValue("#name", "newcomer"), chromedp.SetValue("#password", "what a newcomer types"),
		chromedp.Click(`main form[action$="/sign-in"] button`))
}
