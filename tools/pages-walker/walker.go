package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// patience is the timeout of a step.
const patience = 30 * time.Second

// walker is a browser with its user.
type walker struct {
	root, user, password, axe string
	tab                       context.Context
	close                     func()
	// back is the redirect target of assistants.
	back *httptest.Server

	mu sync.Mutex
	// complaints are the browser's reports of policy violations.
	complaints []string
}

func newWalker(ctx context.Context, root, user, password, axe string) (*walker, error) {
	profile, err := os.MkdirTemp("", "pages-walker")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(profile))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(allocator)
	w := &walker{
		root: root, user: user, password: password, axe: axe, tab: tab,
		back: httptest.NewServer(http.NotFoundHandler()),
	}
	w.close = func() { endTab(); endAllocator(); w.back.Close(); _ = os.RemoveAll(profile) }
	err = chromedp.Listen(tab, w.hear)
	if err == nil {
		_, err = chromedp.Call(tab, log.Enable, struct{}{})
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("starting Chromium: %w", err)
	}
	return w, nil
}

// hear records a violation of a page's policy.
func (w *walker) hear(event any) {
	entry, ok := event.(*log.EventEntryAdded)
	if !ok || !strings.Contains(entry.Entry.Text, "Content Security Policy") {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.complaints = append(w.complaints, entry.Entry.Text)
}

// complained returns the recorded violations and clears them.
func (w *walker) complained() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	heard := w.complaints
	w.complaints = nil
	if len(heard) > 0 {
		return errors.New(strings.Join(heard, "; "))
	}
	return nil
}

// do performs steps in the browser. An error includes the location.
func (w *walker) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		return fmt.Errorf("%w, at %s", err, w.where())
	}
	return nil
}

// follow performs steps; the last one opens another page.
func (w *walker) follow(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, steps...); err != nil {
		return fmt.Errorf("%w, at %s", err, w.where())
	}
	return nil
}

func ask[T any](w *walker, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// where returns the browser's location.
func (w *walker) where() string {
	at, _ := ask[string](w, `location.pathname + " " + document.title`)
	return at
}

// open opens one of our pages, below /account/ or by its whole path.
func (w *walker) open(path string) error {
	if strings.HasPrefix(path, "/") {
		return w.do(chromedp.Navigate(w.origin() + path))
	}
	return w.do(chromedp.Navigate(w.root + path))
}

// origin is the address of the server.
func (w *walker) origin() string { return strings.TrimSuffix(w.root, "/account/") }

// titled checks the page's title.
func (w *walker) titled(want string) error {
	title, err := ask[string](w, "document.title")
	if err == nil && title != want+" · Calendars" {
		err = fmt.Errorf("the page is called %q, want %q", title, want)
	}
	return err
}

// inCalendar checks that the page is the calendar, where a sign-in leads to.
func (w *walker) inCalendar() error {
	there, err := ask[bool](w, `Boolean(document.querySelector(".planner"))`)
	if err == nil && !there {
		err = errors.New("the page is not the calendar")
	}
	return err
}

// enter submits a name and a password.
func (w *walker) enter(password string) error {
	return w.follow(chromedp.SetValue("#name", w.user),
		chromedp.SetValue("#password", password), chromedp.Click(`main form[action$="/sign-in"] button`))
}

// signOut presses the button, which is in a menu on a narrow screen.
func (w *walker) signOut() error {
	const button = "header form button"
	menu, err := ask[bool](w, `!document.querySelector("`+button+`").checkVisibility()`)
	if err == nil && menu {
		err = w.do(chromedp.Click("header .opener"))
	}
	return errors.Join(err, w.follow(chromedp.Click(button)))
}

func (w *walker) signIn() error {
	if err := w.open(""); err != nil {
		return err
	}
	if err := w.enter("not this one"); err != nil {
		return err
	}
	if wrong, err := ask[string](w, `document.querySelector("[role=alert]").textContent`); err != nil ||
		!strings.Contains(wrong, "did not match") {
		return fmt.Errorf("a wrong password is answered %q, %w", wrong, err)
	}
	if err := w.look("sign-in with a wrong password"); err != nil {
		return err
	}
	if err := w.enter(w.password); err != nil {
		return err
	}
	// A user who has no app yet sees the first steps.
	if err := errors.Join(w.look("the first page"), w.open("")); err != nil {
		return err
	}
	return w.titled("Home")
}

// firstVisit counts the bytes that pages take with an empty cache, and those of later visits.
func (w *walker) firstVisit() error {
	if _, err := chromedp.Call(w.tab, network.ClearBrowserCache, struct{}{}); err != nil {
		return err
	}
	// Bytes from the service worker did not come over the network.
	bypass := func(on bool) error {
		_, err := chromedp.Call(w.tab, network.SetBypassServiceWorker, network.SetBypassServiceWorkerParams{Bypass: on})
		return err
	}
	if err := bypass(true); err != nil {
		return err
	}
	const day = "/2027-05-03"
	for _, visit := range []struct {
		path string
		most float64
	}{
		{"", 50 << 10},
		{"connect", 50 << 10},
		{"/calendar/week" + day, 60 << 10},
		{"/calendar/month" + day, 20 << 10},
		{"/calendar/week" + day, 20 << 10},
	} {
		path := visit.path
		if err := w.open(path); err != nil {
			return err
		}
		const bytes = `performance.getEntries().reduce((sum, e) => sum + (e.transferSize || 0), 0)`
		size, err := ask[float64](w, bytes)
		if err != nil {
			return err
		}
		if size == 0 || size > visit.most {
			return fmt.Errorf("%q takes %.0f bytes", path, size)
		}
		others, err := ask[float64](w,
			`performance.getEntriesByType("resource").filter(e => !e.name.startsWith(location.origin)).length`)
		if err != nil || others > 0 {
			return fmt.Errorf("%q asks other hosts %.0f times, %w", path, others, err)
		}
	}
	return bypass(false)
}

// mode is a way to view the pages.
type mode struct {
	name, scheme string
	width        int64
}

var modes = []mode{
	{"light", "light", 1280},
	{"dark", "dark", 1280},
	{"in 320 pixels", "light", 320},
	{"in 320 pixels, dark", "dark", 320},
}

func (w *walker) see(m mode) error {
	_, err := chromedp.Call(w.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: m.scheme}},
	})
	if err != nil {
		return err
	}
	return w.do(chromedp.EmulateViewport(m.width, 800))
}

// everyPage opens all pages and checks each.
func (w *walker) everyPage(m mode) error {
	if err := w.see(m); err != nil {
		return err
	}
	paths, err := w.paths()
	if err != nil {
		return err
	}
	var wrong []error
	for _, path := range append(paths, missing) {
		if err := w.open(path); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if err := w.look(path); err != nil {
			wrong = append(wrong, err)
		}
		if is := w.titled("Page not found"); (is == nil) != (path == missing) {
			wrong = append(wrong, fmt.Errorf("/account/%s is there, or is not: %w", path, is))
		}
	}
	return errors.Join(append(wrong, w.harmless())...)
}

// paths returns all pages for a signed-in administrator.
func (w *walker) paths() ([]string, error) {
	calendar, err := w.found("calendars", `main a[href*='/account/calendars/']`)
	if err != nil {
		return nil, err
	}
	narrow, err := w.found("apps", `main a[href$='/narrow']`)
	if err != nil {
		return nil, err
	}
	change, err := w.change(calendar)
	if err != nil {
		return nil, err
	}
	group, err := w.group()
	if err != nil {
		return nil, err
	}
	event, err := w.found("/calendar/list/", `main .agenda a[href*='/calendar/event/']`)
	if err != nil {
		return nil, err
	}
	edit, err := w.found(event, `main a[href*='/edit?']`)
	if err != nil {
		return nil, err
	}
	consent, err := w.consent()
	return []string{
		"/calendar/day/", "/calendar/week/", "/calendar/month/", "/calendar/list/", "/calendar/new", event, edit,
		strings.Replace(edit, "/edit?", "/delete?", 1), "/calendar/search?q=long", "/tasks/",
		"", "calendars", calendar, calendar + "/links", "connect", "connect/apple", "connect/android", "apps",
		"apps/new", narrow, consent, "booking", "polls", "polls/new", "journal", change, "trash",
		"settings", "security", "security/password", "security/passkey", "security/codes", "confirm", "delete",
		"people", "invite", "defaults", "checks", "welcome", "people/" + w.user, group, "linked", "webhooks",
		"webhooks/new",
	}, err
}

// found returns the path of the first matching link on a page.
func (w *walker) found(page, link string) (string, error) {
	if err := w.open(page); err != nil {
		return "", err
	}
	path, err := ask[string](w,
		fmt.Sprintf(`document.querySelector(%q).getAttribute("href").replace(/^\/account\//, "")`, link))
	if err != nil {
		return "", fmt.Errorf("/account/%s has no %s: %w", page, link, err)
	}
	return path, nil
}

// change edits a calendar and returns the page of the change.
func (w *walker) change(calendar string) (string, error) {
	if err := w.open(calendar); err != nil {
		return "", err
	}
	text := fmt.Sprintf("Said <b>anew</b> %d", time.Now().UnixNano())
	if err := w.follow(chromedp.SetValue("#description", text), chromedp.Click("#settings ~ form button")); err != nil {
		return "", err
	}
	return w.found("journal", `main a[href*='/account/journal/']`)
}

// group creates a group with the walker, unless it exists, and returns its page.
func (w *walker) group() (string, error) {
	const path = "groups/walkers"
	if err := w.open(path); err != nil || w.titled("Walkers") == nil {
		return path, err
	}
	if err := w.open("people"); err != nil {
		return "", err
	}
	if err := w.follow(chromedp.SetValue("#group-name", "walkers"), chromedp.SetValue("#group-title", "Walkers"),
		chromedp.Click("#group-title ~ button")); err != nil {
		return "", err
	}
	return path, w.follow(chromedp.SetValue("#members-wanted", w.user), chromedp.Click("#members-wanted ~ button"))
}

// missing is a path that does not exist.
const missing = "nothing-here"

// harmless checks that the hostile event is on the home page, as text.
func (w *walker) harmless() error {
	if err := w.open(""); err != nil {
		return err
	}
	text, err := ask[string](w, `document.querySelector("main").textContent`)
	if err == nil && !strings.Contains(text, "<script>document.title") {
		err = errors.New("the home page does not show the hostile event")
	}
	return err
}

// look checks that a page violates no policy, is unaffected by hostile texts, fits the screen, and passes axe's rules
// for WCAG 2.2, A and AA.
func (w *walker) look(path string) error {
	if err := w.complained(); err != nil {
		return fmt.Errorf("/account/%s: %w", path, err)
	}
	if title, err := ask[string](w, "document.title"); err != nil || title == "owned" {
		return fmt.Errorf("/account/%s is called %q, %w", path, title, err)
	}
	over, err := ask[float64](w, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
	if err != nil || over > 0 {
		return fmt.Errorf("/account/%s is %.0f pixels too wide, %w", path, over, err)
	}
	if err := w.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[any](w.axe+"; 1"))
		return err
	})); err != nil {
		return err
	}
	found, err := ask[string](w, `axe.run(document, {
		runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
	}).then(r =>
		JSON.stringify(r.violations.map(v => v.id + ": " + v.nodes.map(n => n.html.slice(0, 120)).join(" | "))
			.concat(r.passes.length > 5 ? [] : ["axe looked at nothing"])))`)
	if err != nil {
		return fmt.Errorf("/account/%s: %w", path, err)
	}
	var violations []string
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		return err
	}
	_ = w.complained() // caused by axe itself
	if len(violations) > 0 {
		return fmt.Errorf("/account/%s: %s", path, strings.Join(violations, "\n  "))
	}
	return nil
}

// passkey creates a passkey with the browser's virtual authenticator, and signs in with it.
func (w *walker) passkey() error {
	if _, err := chromedp.Call(w.tab, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		return err
	}
	_, err := chromedp.Call(w.tab, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: "ctap2", Ctap2version: "ctap2_1", Transport: "internal", HasResidentKey: true,
			HasUserVerification: true, IsUserVerified: true,
			AutomaticPresenceSimulation: true, DefaultBackupEligibility: true, DefaultBackupState: true,
		},
	})
	if err != nil {
		return err
	}
	if err := w.open("security/passkey"); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click("form.passkey button")); err != nil {
		return err
	}
	if err := w.titled("Your recovery codes"); err != nil {
		return err
	}
	if err := w.look("recovery codes"); err != nil {
		return err
	}
	if err := w.open("security"); err != nil {
		return err
	}
	if err := w.look("security with a passkey"); err != nil {
		return err
	}
	if err := w.signOut(); err != nil {
		return err
	}
	if err := w.follow(chromedp.Click("form.passkey button")); err != nil {
		return err
	}
	if err := w.open(""); err != nil {
		return err
	}
	return w.titled("Home")
}
