// Command pages-walker is a judge: a real browser walks through the pages as different people see them: on a small
// screen, in dark mode, without a mouse or without JavaScript. It runs axe-core on each page.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// trial is a test.
type trial struct {
	name string
	run  func(*walker) error
}

// trials returns all trials, in order: the last ones leave the user with a passkey.
func trials() []trial {
	all := []trial{
		{"a wrong password is refused, and a right one lets in", (*walker).signIn},
		{"a first visit is small", (*walker).firstVisit},
	}
	for _, m := range modes {
		all = append(all, trial{"every page, " + m.name, func(w *walker) error { return w.everyPage(m) }})
	}
	return append(all,
		trial{"by keyboard alone", (*walker).byKeyboard},
		trial{"without JavaScript", (*walker).withoutScripts},
		trial{"as a stranger, and as another user", (*walker).asStrangers},
		trial{"a passkey is made and signs in", (*walker).passkey},
	)
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: pages-walker URL USER PASSWORD")
		os.Exit(2)
	}
	if err := judge(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Println("pages:", err)
		os.Exit(1)
	}
}

func judge(address, user, password string) error {
	at, err := url.Parse(address)
	if err != nil {
		return err
	}
	if dir := os.Getenv("PICTURES"); dir != "" {
		h := &house{
			origin: strings.TrimSuffix(address, "/"), start: startChromium, user: user,
			passwords: map[string]string{user: password},
		}
		return h.run(func(h *house) { h.pictures(dir) })
	}
	if os.Getenv("SPEED") != "" {
		h := &house{
			origin: strings.TrimSuffix(address, "/"), start: startChromium, user: user,
			passwords: map[string]string{user: password},
		}
		return h.run((*house).speed)
	}
	if err := hostile(address, user, password); err != nil {
		return fmt.Errorf("putting an event: %w", err)
	}
	// Browsers do not support passkeys for an IP address.
	at.Host = "localhost:" + at.Port()
	axe, err := os.ReadFile(os.Getenv("NODE_MODULES") + "/axe-core/axe.min.js")
	if err != nil {
		return err
	}
	start, err := starterOf(os.Getenv("BROWSER"))
	if err != nil {
		return err
	}
	passed, failed, skipped := 0, 0, 0
	try := func(name string, run func() error) {
		began := time.Now()
		err := run()
		took := time.Since(began).Seconds()
		switch {
		case errors.Is(err, errUnable):
			fmt.Printf("skipped %s: %v\n", name, err)
			skipped++
		case err != nil:
			fmt.Printf("failed  %s: %v\n", name, err)
			failed++
		default:
			fmt.Printf("passed  %s (%.1f s)\n", name, took)
			passed++
		}
	}
	h := &house{
		origin: at.Scheme + "://" + at.Host, start: start, user: user, passwords: map[string]string{user: password},
		axe: string(axe),
	}
	defer h.close()
	chosen := os.Getenv("ERRANDS")
	for _, e := range append(errands(), bookingErrands()...) {
		often := e.often && (chosen == "" || chosen == "often")
		if often || chosen == "all" || chosen != "" && strings.Contains(e.name, chosen) {
			try("errand: "+e.name, func() error { return h.run(e.do) })
		}
	}
	// The trials beside the errands need Chromium's own protocol.
	if (chosen == "" || chosen == "all") && os.Getenv("BROWSER") == "" {
		w, err := newWalker(context.Background(), at.JoinPath("/account/").String(), user, password, string(axe))
		if err != nil {
			return err
		}
		defer w.close()
		for _, t := range trials() {
			try(t.name, func() error { return t.run(w) })
		}
	}
	fmt.Printf("pages: %d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 {
		return errors.New("some failed")
	}
	return nil
}

// hostile adds an event whose texts contain markup and control characters.
func hostile(address, user, password string) error {
	now := time.Now().UTC().Truncate(time.Hour).Add(24 * time.Hour)
	summary := `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script> ` +
		"\x07\x1b[31m\u202eright to left " + strings.Repeat("long", 2500)
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//walker//EN\r\nBEGIN:VEVENT\r\nUID:hostile\r\n" +
		"DTSTAMP:20260101T000000Z\r\nDTSTART:" +
		now.Format("20060102T150405Z") + "\r\nDURATION:PT1H\r\nSUMMARY:" + summary +
		"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	r, err := http.NewRequest(http.MethodPut, strings.TrimSuffix(address, "/")+"/dav/calendars/"+user+
		"/personal/hostile.ics", strings.NewReader(text))
	if err != nil {
		return err
	}
	r.SetBasicAuth(user, password)
	r.Header.Set("Content-Type", "text/calendar")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusCreated && res.StatusCode != http.StatusNoContent {
		return errors.New(res.Status)
	}
	return nil
}
