package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// byKeyboard uses only keys: it signs out and in, skips to the content, reaches every usable element of each page, and
// grants an assistant access.
func (w *walker) byKeyboard() error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	if err := w.open(""); err != nil {
		return err
	}
	if err := w.signOut(); err != nil {
		return err
	}
	// The name field has the initial focus.
	if err := w.do(chromedp.WaitVisible("#name:focus")); err != nil {
		return err
	}
	if err := w.follow(chromedp.KeyEvent(w.user + kb.Tab + w.password + kb.Enter)); err != nil {
		return err
	}
	if err := w.inCalendar(); err != nil {
		return err
	}
	if err := w.do(chromedp.KeyEvent(kb.Tab)); err != nil {
		return err
	}
	shown, err := ask[string](w,
		`getComputedStyle(document.activeElement).outlineStyle + " " + document.activeElement.textContent`)
	if err != nil || shown != "solid Skip to the content" {
		return fmt.Errorf("the first stop is %q, %w", shown, err)
	}
	var wrong []error
	for _, path := range paths {
		if err := w.stops(path); err != nil {
			wrong = append(wrong, fmt.Errorf("/account/%s: %w", path, err))
		}
	}
	return errors.Join(append(wrong, w.allowByKeyboard())...)
}

// usable are the interactive elements. A group of radio buttons has only one tab stop.
const usable = `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
	.filter(e => !e.disabled && e.tabIndex >= 0 && e.checkVisibility() && (e.type != "radio" || e.checked))`

// stops goes through a page with the tab key, and checks that it reaches all usable elements with a visible focus.
func (w *walker) stops(path string) error {
	if err := w.open(path); err != nil {
		return err
	}
	// Remove the initial focus, since the round would begin there.
	count, err := ask[int](w, `document.activeElement.blur(); window.left = new Set(`+usable+`); left.size`)
	if err != nil {
		return err
	}
	// A date or time field has several tab stops.
	for range 2*count + 30 {
		if err := w.do(chromedp.KeyEvent(kb.Tab)); err != nil {
			return err
		}
		left, err := ask[string](w, `(() => {
			const at = document.activeElement;
			if (left.delete(at) && getComputedStyle(at).outlineStyle == "none") return "unseen: " + at.outerHTML;
			return left.size ? "more" : "";
		})()`)
		if err != nil || left == "" {
			return err
		}
		if left != "more" {
			return errors.New(left)
		}
	}
	missed, err := ask[string](w, `[...left].map(e => e.outerHTML.slice(0, 120)).join(" | ")`)
	return fmt.Errorf("no key leads to %s, %w", missed, err)
}

// allowByKeyboard grants an assistant access on the consent page.
func (w *walker) allowByKeyboard() error {
	consent, err := w.consent()
	if err != nil {
		return err
	}
	if err := w.open(consent); err != nil {
		return err
	}
	for range 60 {
		if err := w.do(chromedp.KeyEvent(kb.Tab)); err != nil {
			return err
		}
		at, err := ask[string](w, `document.activeElement.name + "=" + document.activeElement.value`)
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(at, "=allow"):
			return w.allowed(chromedp.KeyEvent(kb.Enter))
		case strings.HasPrefix(at, "all="):
			if err := w.do(chromedp.KeyEvent(" ")); err != nil {
				return err
			}
		}
	}
	return errors.New("no key leads to the button that lets an assistant in")
}

// allowed grants access, and checks that the browser is redirected to the assistant.
func (w *walker) allowed(yes chromedp.Action[chromedp.Void]) error {
	if err := w.do(yes); err != nil {
		return err
	}
	at, err := "", error(nil)
	for range 100 {
		if at, err = ask[string](w, `document.URL`); err == nil && strings.Contains(at, "/callback?") &&
			strings.Contains(at, "code=") {
			return nil
		}
		pause()
	}
	return fmt.Errorf("after yes the browser is at %s, %w", at, err)
}

// withoutScripts does everyday tasks with JavaScript turned off, and opens all pages.
func (w *walker) withoutScripts() error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	scripts := func(off bool) error {
		_, err := chromedp.Call(w.tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{
			Value: off,
		})
		return err
	}
	if err := scripts(true); err != nil {
		return err
	}
	defer func() { _ = scripts(false) }()
	if err := w.open(""); err != nil {
		return err
	}
	if err := w.signOut(); err != nil {
		return err
	}
	if err := w.enter(w.password); err != nil {
		return err
	}
	for _, path := range paths {
		if err := w.open(path); err != nil {
			return err
		}
		shown, err := chromedp.Run(w.tab, chromedp.Text("h1"))
		if err != nil || shown == "" || shown == "Page not found" {
			return fmt.Errorf("/account/%s is %q, %w", path, shown, err)
		}
	}
	for _, deed := range []struct {
		page, field, value, button, says string
	}{
		{"settings", "#display-name", "Without <script>", "#display-name ~ button", "Saved."},
		{"calendars", "#name", "Made <b>without</b> scripts", "#new + form button", "The calendar is made."},
		{"apps/new", "#name", "A token made without scripts", "#name ~ button", ""},
	} {
		if err := w.open(deed.page); err != nil {
			return err
		}
		if err := w.follow(chromedp.SetValue(deed.field, deed.value), chromedp.Click(deed.button)); err != nil {
			return err
		}
		if deed.says == "" {
			continue
		}
		if notice, err := chromedp.Run(w.tab, chromedp.Text(".notice")); err != nil || notice != deed.says {
			return fmt.Errorf("/account/%s says %q, %w", deed.page, notice, err)
		}
	}
	consent, err := w.consent()
	if err != nil {
		return err
	}
	if err := w.open(consent); err != nil {
		return err
	}
	if err := w.do(chromedp.Click(`input[name="all"]`)); err != nil {
		return err
	}
	return w.allowed(chromedp.Click(`button[value="allow"]`))
}
