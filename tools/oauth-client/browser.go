package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a Chromium. The user of the bench stays signed in after the first sign-in.
type browser struct {
	*bench
	tab   context.Context
	close func()
}

func newBrowser(ctx context.Context, b *bench) (*browser, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.UserDataDir(b.work+"/profile"))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(allocator)
	if err := chromedp.Do(tab); err != nil {
		endTab()
		endAllocator()
		return nil, fmt.Errorf("starting Chromium: %w", err)
	}
	return &browser{b, tab, func() { endTab(); endAllocator() }}, nil
}

// patience is the timeout for a page.
const patience = 30 * time.Second

// title returns the page's title.
func (w *browser) title(ctx context.Context) string {
	title, _ := chromedp.Run(ctx, chromedp.Title())
	return title
}

// lost adds the browser's location to an error.
func (w *browser) lost(err error) error {
	at, _ := chromedp.Run(w.tab, chromedp.Location())
	return fmt.Errorf("%w, at %s, %q", err, at, w.title(w.tab))
}

// allow opens a client's authorization page, signs in if necessary, and grants everything.
func (w *browser) allow(address string) error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return w.lost(err)
	}
	return w.say(ctx)
}

// tick ticks all calendars and the everyday scopes: for a client that registered itself, only reading is ticked at
// first.
const tick = `document.querySelectorAll('input[name="all"], input[name="scope"]').forEach(e => {
	if (["yes", "read", "write", "delete", "share"].includes(e.value)) e.checked = true;
}); 1`

// say signs in if necessary, and grants everything.
func (w *browser) say(ctx context.Context) error {
	if strings.HasPrefix(w.title(ctx), "Sign in") {
		_, err := chromedp.RunResponse(ctx, chromedp.SendKeys("#name", w.user),
			chromedp.SendKeys("#password", w.password), chromedp.Click(`main form[action$="/sign-in"] button`))
		if err != nil {
			return w.lost(err)
		}
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[int](tick)); err != nil {
		return w.lost(err)
	}
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(`button[value="allow"]`)); err != nil {
		return w.lost(err)
	}
	return nil
}

// revoke revokes a client's access, on the page for that.
func (w *browser) revoke(name string) error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(w.server.caldav+"/account/apps")); err != nil {
		return w.lost(err)
	}
	button := fmt.Sprintf(`//li[contains(., %q)]//form[contains(@action, "/revoke")]/button`, name+" (")
	if _, err := chromedp.RunResponse(ctx, chromedp.Click(button)); err != nil {
		return w.lost(err)
	}
	return nil
}

// until evaluates an expression repeatedly, even during navigation, until it is true.
func (w *browser) until(ctx context.Context, expression string) error {
	for {
		if holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && holds {
			return nil
		}
		select {
		case <-ctx.Done():
			shown, _ := chromedp.Run(w.tab, chromedp.Evaluate[string]("document.body.innerText"))
			return w.lost(fmt.Errorf("%w: not until %s: %.2000s", ctx.Err(), expression, shown))
		case <-time.After(100 * time.Millisecond):
		}
	}
}
