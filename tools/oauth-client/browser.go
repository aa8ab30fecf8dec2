package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// browser is a Chromium in which the user of the bench is signed in once they had to.
type browser struct {
	*bench
	tab   context.Context
	close func()
}

func newBrowser(ctx context.Context, b *bench) (*browser, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(b.work+"/profile"))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(allocator)
	if err := chromedp.Do(tab); err != nil {
		endTab()
		endAllocator()
		return nil, fmt.Errorf("starting Chromium: %w", err)
	}
	return &browser{b, tab, func() { endTab(); endAllocator() }}, nil
}

// patience is how long a person waits for a page.
const patience = 30 * time.Second

// title returns what the page is called.
func (w *browser) title(ctx context.Context) string {
	title, _ := chromedp.Run(ctx, chromedp.Title())
	return title
}

// lost says where the browser has come to.
func (w *browser) lost(err error) error {
	at, _ := chromedp.Run(w.tab, chromedp.Location())
	return fmt.Errorf("%w, at %s, %q", err, at, w.title(w.tab))
}

// allow opens the address that a client wants the user to see, signs in if that is asked for, and allows all.
func (w *browser) allow(address string) error {
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return w.lost(err)
	}
	return w.say(ctx)
}

// tick ticks all calendars and the scopes of everyday work: the page opens with reading alone ticked for a client that registered itself.
const tick = `document.querySelectorAll('input[name="all"], input[name="scope"]').forEach(e => {
	if (["yes", "read", "write", "delete", "share"].includes(e.value)) e.checked = true;
}); 1`

// say signs in where that is asked for, and allows all.
func (w *browser) say(ctx context.Context) error {
	if strings.HasPrefix(w.title(ctx), "Sign in") {
		_, err := chromedp.RunResponse(ctx, chromedp.SendKeys("#name", w.user), chromedp.SendKeys("#password", w.password), chromedp.Click("main form button"))
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

// revoke ends what a client may do, on the page for that.
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

// until asks the page again and again, also while it gives way to another, until an expression holds.
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
