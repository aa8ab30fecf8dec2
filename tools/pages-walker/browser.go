package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Keys, as WebDriver encodes them.
const (
	keyTab   = "\ue004"
	keyEnter = "\ue007"
	keySpace = " "
	keyDown  = "\ue015"
	keyRight = "\ue014"
	keyClose = "\ue00c" // Escape
)

// look describes how a person uses a browser.
type look struct {
	phone, dark, noScripts bool
	tall                   bool   // a window for six weeks
	zone                   string // empty for UTC
	language               string // empty for English
}

// browser is one window. Elements are found by CSS selectors.
type browser interface {
	Navigate(address string) error
	// Eval evaluates an expression, which is a string or a promise of one. It also works if scripts of pages are off.
	Eval(expression string) (string, error)
	Click(css string) error
	// Keys types into the focused element.
	Keys(text string) error
	// Drag moves the mouse along a path with the button down.
	Drag(path [][2]float64) error
	// Attach chooses a file in a form.
	Attach(css, file string) error
	PDF() ([]byte, error)
	Close()
}

// stuck is a panic of a person who cannot go on. An errand ends there.
type stuck struct{ error }

func must(err error) {
	if err != nil {
		panic(stuck{err})
	}
}

func failf(format string, values ...any) { must(fmt.Errorf(format, values...)) }

// person is a user with a browser.
type person struct {
	browser
	name   string
	origin string
	// axe is the source of axe-core, if it can run.
	axe string
}

// house is the server with its users, and the kind of browser that they use.
type house struct {
	origin    string
	start     func(look) (browser, error)
	passwords map[string]string
	user      string
	axe       string
	open      []*person
	// mailing is a server that sends mail, once an errand needs it.
	mailing *mailing
}

// run performs an errand. A failure includes the pages that are open.
func (h *house) run(errand func(*house)) (err error) {
	defer func() {
		r := recover()
		s, ok := r.(stuck)
		if r != nil && !ok {
			panic(r)
		}
		err = s.error
		for _, p := range h.open {
			if err != nil {
				page, _ := p.Eval(`location.href + "\n" + document.querySelector("main")?.innerText`)
				err = fmt.Errorf("%w\n--- %s is at %s", err, p.name, page)
			}
			p.Close()
		}
		h.open = nil
	}()
	errand(h)
	return nil
}

// newcomer creates a user with an address.
func (h *house) newcomer(name string) {
	if h.passwords[name] != "" {
		return
	}
	_ = h.command(name+" has a password\n", "create-user", name, "--email", name+"@example.com", "--password-stdin")
	h.passwords[name] = name + " has a password"
}

// command runs the server's program and returns its output.
func (h *house) command(input string, arguments ...string) string {
	c := exec.Command(os.Getenv("COMPAT_BINARY"), arguments...)
	c.Stdin = strings.NewReader(input)
	said, err := c.CombinedOutput()
	if err != nil {
		failf("%s: %w: %s", arguments[0], err, said)
	}
	return string(said)
}

// stranger opens a browser without signing in.
func (h *house) stranger(l look) *person {
	b, err := h.start(l)
	must(err)
	p := &person{browser: b, name: "a stranger", origin: h.origin}
	if !l.noScripts {
		p.axe = h.axe
	}
	h.open = append(h.open, p)
	return p
}

// enter opens a browser and signs in.
func (h *house) enter(name string, l look) *person {
	p := h.stranger(l)
	p.name = name
	p.visit("/account/sign-in")
	p.set("#name", name)
	p.set("#password", h.passwords[name])
	p.press(`main form[action$="/sign-in"] button`)
	p.until("to be signed in", `!document.querySelector("#password")`)
	return p
}

// until waits until an expression holds.
func (p *person) until(what, expression string) {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); pause() {
		var got string
		if got, err = p.Eval("String(Boolean(" + expression + "))"); got == "true" {
			return
		}
	}
	failf("%s waits %s: %w", p.name, what, cmp.Or(err, errors.New("it does not come")))
}

// tell returns the value of an expression.
func (p *person) tell(expression string) string {
	got, err := p.Eval("String(" + expression + ")")
	must(err)
	return got
}

// visit opens a page.
func (p *person) visit(path string) {
	must(p.Navigate(p.origin + path))
	p.until("for "+path, `document.readyState == "complete"`)
}

// there waits for a visible element.
func (p *person) there(css string) {
	p.until("for "+css, fmt.Sprintf(`document.querySelector(%q)?.checkVisibility()`, css))
}

// says waits until the page shows a text.
func (p *person) says(text string) {
	p.until("to read "+text, fmt.Sprintf(`document.querySelector("main")?.innerText.includes(%q)`, text))
}

func (p *person) click(css string) {
	p.there(css)
	must(p.Click(css))
}

// leave does something that opens another page, and waits for it.
func (p *person) leave(do func()) {
	p.tell(`document.documentElement.dataset.walked = "yes"`)
	do()
	p.until("for the next page", `document.readyState == "complete" && !document.documentElement.dataset.walked`)
}

// press clicks on an element that leads to another page.
func (p *person) press(css string) { p.leave(func() { p.click(css) }) }

// set fills in a field.
func (p *person) set(css, value string) {
	p.until("for "+css, fmt.Sprintf("document.querySelector(%q)", css))
	p.tell(fmt.Sprintf(`(e => { e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector(%q))`, value, css))
}

// tick selects a box or a radio button, which may be in a closed part of the page.
func (p *person) tick(css string) {
	p.tell(fmt.Sprintf(`(e => { for (let d = e; d = d.closest("details:not([open])");) d.open = true; })(
		document.querySelector(%q))`, css))
	p.click(css)
	if p.tell(fmt.Sprintf(`document.querySelector(%q).checked`, css)) != "true" {
		failf("%s is not ticked", css)
	}
}

// write types into a field.
func (p *person) write(css, text string) {
	p.there(css)
	p.tell(fmt.Sprintf(`document.querySelector(%q).focus()`, css))
	must(p.Keys(text))
}

func (p *person) keys(text string) { must(p.Keys(text)) }

// tabTo presses the tab key until an element has the focus.
func (p *person) tabTo(css string) {
	p.there(css)
	for range 250 {
		p.keys(keyTab)
		if p.tell(fmt.Sprintf(`document.activeElement.matches(%q)`, css)) == "true" {
			return
		}
	}
	must(errors.New("no key leads to " + css))
}

// unfold opens and closes a menu by keys. The button has the focus again at the end.
func (p *person) unfold(opener, menu string) {
	p.tabTo(opener)
	p.keys(keyEnter)
	p.there(menu)
	p.keys(keyTab)
	p.until("for the focus in the menu", fmt.Sprintf(`document.activeElement.closest(%q)`, menu))
	p.keys(keyClose)
	p.until("for the menu to close", fmt.Sprintf(`!document.querySelector(%q).checkVisibility() &&
		document.activeElement.matches(%q)`, menu, opener))
}

// typeTime types a time into the focused field, which is one field or several segments.
func (p *person) typeTime(hour, minute string) {
	half := "AM"
	if hour > "11" {
		half = "PM"
	}
	for _, keys := range []string{hour + minute + half, "\ue009a\ue000" + hour + ":" + minute} {
		p.keys(keys)
		if p.tell(`document.activeElement.value`) == hour+":"+minute {
			return
		}
	}
	failf("the field of the time is %s", p.tell(`document.activeElement.outerHTML`))
}
