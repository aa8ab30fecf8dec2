package main

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// webdriver is a browser that its driver controls by WebDriver (W3C), such as Firefox with geckodriver.
type webdriver struct {
	driver  *exec.Cmd
	session string // its address
	kind    string
	// plain: scripts are off, so promises never end.
	plain bool
}

// errUnable is an errand's need that a browser's driver does not meet.
var errUnable = errors.New("the driver of this browser cannot do that")

// starterOf returns how a browser is started: chromium, firefox or webkit.
func starterOf(kind string) (func(look) (browser, error), error) {
	switch kind {
	case "", "chromium":
		return startChromium, nil
	case "firefox", "webkit":
		return func(l look) (browser, error) { return startWebDriver(kind, l) }, nil
	}
	return nil, fmt.Errorf("there is no browser %q", kind)
}

func startWebDriver(kind string, l look) (browser, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	program, arguments := "geckodriver", []string{"--port", port, "--websocket-port", "0"}
	if kind == "webkit" {
		if l.noScripts {
			return nil, errUnable
		}
		program, arguments = "WebKitWebDriver", []string{"--port=" + port}
	}
	w := &webdriver{driver: exec.Command(program, arguments...), kind: kind, plain: l.noScripts}
	w.driver.Env = os.Environ()
	if l.zone == "" {
		l.zone = "UTC"
	}
	w.driver.Env = append(w.driver.Env, "TZ="+l.zone)
	if kind == "webkit" && l.dark {
		w.driver.Env = append(w.driver.Env, "GTK_THEME=Adwaita:dark")
	}
	if err := w.driver.Start(); err != nil {
		return nil, err
	}
	if err := w.begin("http://127.0.0.1:"+port, l); err != nil {
		w.Close()
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	return w, nil
}

// miniBrowser returns WebKitGTK's own browser, which is not in PATH: Debian's is in a directory of its version.
func miniBrowser() string {
	found, _ := filepath.Glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser")
	return cmp.Or(os.Getenv("MINIBROWSER"), strings.Join(found[:min(1, len(found))], ""))
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// begin opens a session and a window of the right size.
func (w *webdriver) begin(driver string, l look) error {
	preferences := map[string]any{"javascript.enabled": !l.noScripts, "layout.css.prefers-color-scheme.content-override": 1}
	if l.dark {
		preferences["layout.css.prefers-color-scheme.content-override"] = 0
	}
	// A Firefox without profile asks for translations and shows news.
	preferences["browser.translations.enable"] = false
	options := map[string]any{"args": []string{"-headless"}, "prefs": preferences}
	wanted := map[string]any{"browserName": "firefox", "moz:firefoxOptions": options}
	if w.kind == "webkit" {
		wanted = map[string]any{"browserName": "MiniBrowser", "webkitgtk:browserOptions": map[string]any{
			"binary": miniBrowser(), "args": []string{"--automation"},
		}}
	}
	var made struct{ SessionID string }
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); pause() {
		err = call(http.MethodPost, driver+"/session", map[string]any{
			"capabilities": map[string]any{"alwaysMatch": wanted},
		}, &made)
		if _, refused := errors.AsType[*net.OpError](err); !refused {
			break
		}
	}
	if err != nil {
		return err
	}
	w.session = driver + "/session/" + made.SessionID
	width, height := 1280, 900
	if l.phone {
		width, height = 390, 844
	}
	return w.ask("/window/rect", map[string]any{"width": width, "height": height}, nil)
}

// call makes a request to a driver.
func call(method, address string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(method, address, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := (&http.Client{Timeout: 2 * patience}).Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode == http.StatusNotFound && bytes.Contains(said, []byte("unknown command")) {
		return errUnable
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.300s", answer.Status, said)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(said, &struct{ Value any }{into})
}

func (w *webdriver) ask(path string, body, into any) error {
	return call(http.MethodPost, w.session+path, body, into)
}

func (w *webdriver) Navigate(address string) error {
	return w.ask("/url", map[string]any{"url": address}, nil)
}

func (w *webdriver) Eval(expression string) (string, error) {
	expression = strings.TrimSuffix(strings.TrimSpace(expression), ";")
	if w.plain {
		var value string
		err := w.ask("/execute/sync", map[string]any{
			"script": "return String(" + expression + ")", "args": []any{},
		}, &value)
		return value, err
	}
	var got struct{ Value, Error string }
	err := w.ask("/execute/async", map[string]any{
		"script": `const done = arguments[0];
			new Promise(resolve => resolve(` + expression + `)).then(
				value => done({value: String(value)}), error => done({error: String(error)}));`,
		"args": []any{},
	}, &got)
	if err == nil && got.Error != "" {
		err = errors.New(got.Error)
	}
	return got.Value, err
}

// element returns the address of an element, which is scrolled into view.
func (w *webdriver) element(css string) (string, error) {
	if _, err := w.Eval(fmt.Sprintf(`document.querySelector(%q)?.scrollIntoView({block: "center"})`, css)); err != nil {
		return "", err
	}
	var found map[string]string
	if err := w.ask("/element", map[string]any{"using": "css selector", "value": css}, &found); err != nil {
		return "", err
	}
	for _, id := range found {
		return "/element/" + url.PathEscape(id), nil
	}
	return "", fmt.Errorf("there is no %s", css)
}

func (w *webdriver) Click(css string) error {
	element, err := w.element(css)
	if err != nil {
		return err
	}
	return w.ask(element+"/click", map[string]any{}, nil)
}

func (w *webdriver) Keys(text string) error {
	var steps []map[string]any
	for _, key := range text {
		if key == '\n' {
			key = []rune(keyEnter)[0]
		}
		steps = append(steps, map[string]any{"type": "keyDown", "value": string(key)})
		if key == '\ue009' { // Control stays down until the null key.
			continue
		}
		if key == '\ue000' {
			steps[len(steps)-1] = map[string]any{"type": "keyUp", "value": "\ue009"}
			continue
		}
		steps = append(steps, map[string]any{"type": "keyUp", "value": string(key)})
	}
	return w.ask("/actions", map[string]any{
		"actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": steps}},
	}, nil)
}

func (w *webdriver) Drag(path [][2]float64) error {
	move := func(at [2]float64) map[string]any {
		return map[string]any{"type": "pointerMove", "origin": "viewport", "duration": 20, "x": int(at[0]), "y": int(at[1])}
	}
	steps := []any{move(path[0]), map[string]any{"type": "pointerDown", "button": 0}}
	for _, at := range path[1:] {
		steps = append(steps, move(at))
	}
	steps = append(steps, map[string]any{"type": "pointerUp", "button": 0})
	return w.ask("/actions", map[string]any{"actions": []any{map[string]any{
		"type": "pointer", "id": "mouse", "parameters": map[string]any{"pointerType": "mouse"}, "actions": steps,
	}}}, nil)
}

func (w *webdriver) Attach(css, file string) error {
	element, err := w.element(css)
	if err != nil {
		return err
	}
	return w.ask(element+"/value", map[string]any{"text": file}, nil)
}

func (w *webdriver) PDF() ([]byte, error) {
	var text string
	if err := w.ask("/print", map[string]any{"background": false}, &text); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}

func (w *webdriver) Close() {
	if w.session != "" {
		_ = call(http.MethodDelete, w.session, nil, nil)
	}
	_ = w.driver.Process.Kill()
	_ = w.driver.Wait()
}
