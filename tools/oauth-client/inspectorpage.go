package main

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/chromedp/chromedp"
)

// inspectorPage runs the Inspector as a page in the browser, as people use it, with redirects to the server and back.
func inspectorPage(ctx context.Context, b *bench) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	k := kept{filepath.Join(b.work, "inspector-page")}
	n, err := b.node(ctx, []string{
		"MCP_STORAGE_DIR=" + k.dir, "MCP_INSPECTOR_SECRET_STORE=file", "MCP_AUTO_OPEN_ENABLED=false",
		"CLIENT_PORT=" + port,
		"MCP_SANDBOX_PORT=0", "DANGEROUSLY_OMIT_AUTH=true",
	}, filepath.Join(b.modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--web",
		"--server-url", b.server.mcp, "--transport", "http")
	if err != nil {
		return err
	}
	defer n.stop()
	if _, err := n.until(ctx, b, regexp.MustCompile(`^(nothing)\.$`),
		regexp.MustCompile(`(http://\S+:`+port+`)`)); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	w := b.browser
	ctx, cancel := context.WithTimeout(w.tab, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("http://127.0.0.1:"+port+"/")); err != nil {
		return w.lost(err)
	}
	for _, step := range []string{
		`(() => { const one = document.querySelector("input[role=switch]"); one?.click(); return !!one; })()`,
		`document.title.startsWith("Sign in") || document.title.startsWith("Let ")`,
	} {
		if err := w.until(ctx, step); err != nil {
			return err
		}
	}
	if err := w.say(ctx); err != nil {
		return err
	}
	for _, step := range []string{
		`document.body.innerText.includes("Tools")`, press("Tools"), press("calendar_auth_status"),
		press("Execute Tool"), `document.body.innerText.includes("MCP Inspector (")`,
	} {
		if err := w.until(ctx, step); err != nil {
			return err
		}
	}
	return b.out(ctx, "MCP Inspector", k)
}

// press returns a script that clicks the element with a name, and is true once the element exists.
func press(name string) string {
	const find = `(() => {
		const called = e => (e.getAttribute("aria-label") || e.innerText || "").trim() == %q;
		const found = [...document.querySelectorAll("body *")].filter(e => called(e) && !e.disabled).pop();
		found?.click();
		return !!found;
	})()`
	return fmt.Sprintf(find, name)
}
