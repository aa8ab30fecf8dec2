package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// chromium drives a Chromium by its own protocol.
type chromium struct {
	tab   context.Context
	close func()
}

func startChromium(l look) (browser, error) {
	profile, err := os.MkdirTemp("", "pages-walker")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(profile))
	if l.language != "" {
		options = append(options, chromedp.Flag("accept-lang", l.language))
	}
	allocator, endAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	tab, endTab := chromedp.NewContext(allocator)
	c := &chromium{tab: tab, close: func() { endTab(); endAllocator(); _ = os.RemoveAll(profile) }}
	if err := c.take(l); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// take sets the screen, the zone and the use of scripts.
func (c *chromium) take(l look) error {
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	screen := chromedp.EmulateViewport(1280, 900)
	if l.tall {
		screen = chromedp.EmulateViewport(1280, 930)
	}
	if l.phone {
		screen = chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)
	}
	zone := l.zone
	if zone == "" {
		zone = "UTC"
	}
	_, first := chromedp.Call(c.tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	_, second := chromedp.Call(c.tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{
		TimezoneID: zone,
	})
	_, third := chromedp.Call(c.tab, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: l.noScripts})
	return errors.Join(first, second, third, c.do(screen))
}

func (c *chromium) do(steps ...chromedp.Action[chromedp.Void]) error {
	ctx, cancel := context.WithTimeout(c.tab, patience)
	defer cancel()
	return chromedp.Do(ctx, steps...)
}

func (c *chromium) Navigate(address string) error { return c.do(chromedp.Navigate(address)) }

func (c *chromium) Eval(expression string) (string, error) {
	ctx, cancel := context.WithTimeout(c.tab, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
}

func (c *chromium) Click(css string) error { return c.do(chromedp.Click(css)) }

var chromiumKeys = strings.NewReplacer(keyTab, kb.Tab, keyEnter, kb.Enter, keyDown, kb.ArrowDown,
	keyRight, kb.ArrowRight, keyClose, kb.Escape)

func (c *chromium) Keys(text string) error {
	return c.do(chromedp.KeyEvent(chromiumKeys.Replace(text)))
}

func (c *chromium) Drag(path [][2]float64) error {
	from, to := path[0], path[len(path)-1]
	steps := []chromedp.Action[chromedp.Void]{
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, from[0], from[1]),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, from[0], from[1], chromedp.ButtonLeft,
			chromedp.ClickCount(1)),
	}
	for _, at := range path[1:] {
		steps = append(steps, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1],
			chromedp.ButtonLeft))
	}
	return c.do(append(steps, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, to[0], to[1],
		chromedp.ButtonLeft, chromedp.ClickCount(1)))...)
}

func (c *chromium) Attach(css, file string) error {
	return c.do(chromedp.SetUploadFiles(css, []string{file}))
}

func (c *chromium) PDF() ([]byte, error) {
	ctx, cancel := context.WithTimeout(c.tab, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.PrintToPDF())
}

func (c *chromium) Close() { c.close() }
