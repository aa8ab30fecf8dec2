package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
)

//go:embed host.html
var hostPage []byte

// appsHost serves a host of MCP Apps, which uses the official library for hosts. It passes /mcp/TOKEN to the server.
func appsHost() *httptest.Server {
	server, err := url.Parse(os.Getenv("COMPAT_MCP"))
	must(err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(hostPage) })
	mux.HandleFunc("GET /modules/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".mjs") {
			w.Header().Set("Content-Type", "text/javascript")
		}
		http.StripPrefix("/modules", http.FileServer(http.Dir(os.Getenv("NODE_MODULES")))).ServeHTTP(w, r)
	})
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL, r.Out.Host = server, server.Host
		r.Out.Header.Set("Authorization", "Bearer "+r.In.PathValue("token"))
		r.Out.Header.Del("Origin")
		r.Out.Header.Del("Cookie")
	}}
	mux.HandleFunc("/mcp/{token}", func(w http.ResponseWriter, r *http.Request) {
		// net/http closes the body when the response begins. A proxy that has not read its end by then cuts the
		// response.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
	return httptest.NewServer(mux)
}

// viewer is a person in front of a host.
type viewer struct{ *person }

// shownAs says how a host shows a view.
type shownAs struct {
	Theme string `json:"theme"`
	Width int    `json:"width"`
	// Closed is set if the view has an origin of its own, so that only keys and the mouse reach it.
	Closed bool `json:"closed"`
}

// shows calls a tool, and waits until its view shows the result.
func (v viewer) shows(token, tool string, args map[string]any, as shownAs) {
	asked, err := json.Marshal(struct {
		Token string         `json:"token"`
		Tool  string         `json:"tool"`
		Args  map[string]any `json:"args"`
		shownAs
	}{token, tool, args, as})
	must(err)
	v.promised("showResult(" + string(asked) + ")")
	v.until("for the view of "+tool, "seen.shown && seen.height > 50")
}

// promised returns the value of a promise.
func (v viewer) promised(expression string) string {
	got, err := v.Eval(expression + ".then(String)")
	if err != nil {
		failf("%s: %w", expression, err)
	}
	return got
}

// inView returns the value of an expression about the document d of the view.
func (v viewer) inView(expression string) string {
	return v.tell("(d => " + expression + ")(seen.frame.contentDocument)")
}

// sees waits until the view shows a text.
func (v viewer) sees(text string) {
	v.until("to read "+text, fmt.Sprintf("seen.frame.contentDocument.body.innerText.includes(%q)", text))
}

// presses clicks on a button of the view.
func (v viewer) presses(text string) {
	v.inView(fmt.Sprintf(`[...d.querySelectorAll("button")].find(b => b.textContent.includes(%q)).click()`, text))
}

// fits checks that nothing of the view is cut, and that axe finds nothing.
func (v viewer) fits() {
	if over := v.inView("d.documentElement.scrollWidth - d.documentElement.clientWidth"); over != "0" {
		failf("the view is %s pixels too wide", over)
	}
	if found := v.promised("accessible()"); found != "" {
		failf("axe: %s", found)
	}
}

// conversation shows results of tools in their views: by mouse, by keyboard alone, in the dark, on a phone.
func conversation(h *house) {
	const script = `<script>parent.owned=1</script>`
	const hostile = `<img src=x onerror="parent.owned=1">` + script
	h.put(h.user, "view1", "SUMMARY:"+hostile, "LOCATION:"+hostile, "DTSTART:20290306T090000Z", "DTEND:20290306T100000Z")
	h.put(h.user, "view2", "SUMMARY:Beside it", "DTSTART:20290306T093000Z", "DTEND:20290306T103000Z")
	h.put(h.user, "view3", "SUMMARY:Fair", "DTSTART;VALUE=DATE:20290307", "DTEND;VALUE=DATE:20290309")
	h.put(h.user, "view4", "SUMMARY:Next week", "DTSTART:20290313T090000Z", "DTEND:20290313T100000Z")
	host := appsHost()
	defer host.Close()
	p := h.stranger(look{})
	v := viewer{p}
	must(p.Navigate(host.URL))
	v.until("for the host", "window.seen?.ready")
	token := func(scopes string) string {
		return tokenText.FindString(h.command("", "create-token", "--user", h.user, "--name", "Views", "--scope", scopes))
	}
	reads, writes, proposes := token("read"), token("read,write,delete,invite"), token("read,propose")

	weeks := map[string]any{"start": "2029-03-05", "end": "2029-03-18", "timezone": "UTC"}
	for _, as := range []shownAs{{"light", 720, false}, {"dark", 720, false}, {"light", 320, false}, {"dark", 320, false}} {
		v.shows(reads, "list_events", weeks, as)
		v.sees("Beside it")
		if got := v.inView(`d.querySelectorAll(".block").length + " " + d.querySelectorAll(".bar").length + " " +
			d.querySelector(".block b").textContent`); got != "2 2 "+hostile {
			failf("the week shows %q", got)
		}
		if dark := v.inView(`getComputedStyle(d.body).backgroundColor`); (dark == "rgb(21, 25, 30)") != (as.Theme == "dark") {
			failf("%s is on %s", as.Theme, dark)
		}
		beside := v.inView(`(([a, b]) => a.top < b.bottom && b.top < a.bottom && (a.right <= b.left + 1 || b.right <= a.left + 1))(
			[...d.querySelectorAll(".block")].map(e => e.getBoundingClientRect()))`)
		if (beside == "true") != (as.Width > 600) {
			failf("at %d pixels, events at the same time are beside each other: %s", as.Width, beside)
		}
		v.fits()
		v.presses("Later")
		v.sees("Next week")
	}
	// Further weeks come from the server, also one without events. The model does not hear of them.
	h.put(h.user, "view5", "SUMMARY:Far away", "DTSTART:20290327T090000Z", "DTEND:20290327T100000Z")
	v.presses("Later")
	v.sees("19 March – 25 March 2029")
	v.presses("Later")
	v.sees("Far away")
	v.fits()
	for _, text := range []string{"19 March – 25 March 2029", "Next week", "Beside it"} {
		v.presses("Earlier")
		v.sees(text)
	}
	if told := v.tell("seen.told.length"); told != "0" {
		failf("the model is told of %s weeks", told)
	}
	// By keyboard alone: the button keeps the focus, also while a week is asked for.
	v.shows(reads, "list_events", weeks, shownAs{"light", 720, false})
	v.tell("seen.frame.focus()")
	v.keys(keyTab + keyTab + keyEnter)
	for _, text := range []string{"Next week", "19 March – 25 March 2029"} {
		v.sees(text)
		v.keys(keyEnter)
	}
	v.sees("Far away")
	v.shows(reads, "get_free_busy", map[string]any{"start_time": "2029-03-06", "end_time": "2029-03-06"}, shownAs{"light", 720, false})
	v.sees("Busy")

	h.newcomer("zoe")
	_ = h.command("", "set-user", "zoe", "--display-name", hostile, "--timezone", "Asia/Tokyo")
	_ = h.command("", "share", "--user", "zoe", "--calendar", "Personal", "--with", h.user, "--permission", "freebusy")
	v.shows(reads, "find_time", map[string]any{
		"start": "2029-03-20", "end": "2029-03-20", "duration_minutes": 45, "timezone": "UTC", "usernames": []string{"zoe"},
	}, shownAs{"light", 720, false})
	v.sees(hostile)
	find := map[string]any{
		"start": "2029-03-20", "end": "2029-03-20", "duration_minutes": 45, "limit": 3, "timezone": "UTC",
	}
	v.shows(reads, "find_time", find, shownAs{"light", 320, false})
	if n := v.inView(`d.querySelectorAll("button").length`); n != "0" {
		failf("a token that only reads has %s buttons", n)
	}
	v.shows(writes, "find_time", find, shownAs{"light", 320, false})
	v.presses("March")
	v.sees("Title")
	v.fits()
	v.inView(`d.querySelector("input").value = "Tea by mouse"`)
	v.presses("Book")
	v.sees("Booked: Tea by mouse")
	v.until("that the model is told", `seen.told[0]?.includes("Tea by mouse")`)
	h.one(h.user, "VEVENT", "Tea by mouse")
	v.shows(writes, "find_time", find, shownAs{"dark", 320, true})
	v.tell("seen.frame.focus()")
	// This frame cannot be read. The view grows by the form, and then puts the focus in it.
	height := v.tell("seen.height")
	v.keys(keyTab + keyEnter)
	v.until("for the form", "seen.height > "+height)
	v.keys("Tea by keys" + keyEnter)
	v.until("that the model is told", `seen.told[0]?.includes("Tea by keys")`)
	h.one(h.user, "VEVENT", "Tea by keys")

	changes := map[string]any{"preview": true, "changes": []map[string]any{
		{"tool": "delete_event", "calendar_id": "primary", "event_uid": "view2"},
		{
			"tool": "patch_event", "calendar_id": "primary", "event_uid": "view4", "title": "Renamed",
			"start": "2029-03-06T09:15:00Z", "end": "2029-03-06T09:45:00Z",
		},
	}}
	v.shows(writes, "change_many", changes, shownAs{"dark", 320, false})
	v.sees("Renamed")
	v.fits()
	v.sees(script) // in the title of an event at the same time, in quotes
	v.inView(`d.querySelector("input").click()`)
	v.presses("Accept")
	v.sees("The changes are made.")
	h.one(h.user, "VEVENT", "Beside it")
	h.one(h.user, "VEVENT", "Renamed")

	rename := map[string]any{"tool": "patch_event", "calendar_id": "primary", "event_uid": "view3", "title": "Market"}
	cancel := map[string]any{"tool": "delete_event", "calendar_id": "primary", "event_uid": "view5"}
	v.shows(writes, "change_many", map[string]any{
		"preview": true, "changes": []map[string]any{cancel, rename},
	}, shownAs{"light", 720, false})
	v.tell("seen.frame.focus()")
	v.keys(keyTab + keySpace + keyTab + keyTab + keyEnter) // without the first, by keyboard alone
	v.sees("The changes are made.")
	h.one(h.user, "VEVENT", "Far away")
	h.one(h.user, "VEVENT", "Market")

	use(proposes, "create_event", map[string]any{
		"calendar_id": "primary", "title": hostile, "start": "2029-03-21T09:00:00Z",
	}, new(struct{}))
	v.shows(proposes, "list_proposals", map[string]any{}, shownAs{"light", 320, false})
	v.fits()
	if boxes := v.inView(`d.querySelectorAll("input").length`); boxes != "0" {
		failf("a token that may propose can accept: %s", boxes)
	}
	v.sees("parent.owned=1")
	v.presses("Look at it")
	v.until("for the page of the suggestion", `seen.links[0]?.includes("/account/suggestions/")`)
	v.presses("Withdraw")
	v.sees("Withdrawn.")
	v.shows(proposes, "list_proposals", map[string]any{}, shownAs{"light", 320, false})
	if n := v.inView(`d.querySelectorAll("section").length`); n != "0" {
		failf("%s suggestions are left", n)
	}
	if v.tell("window.owned") != "undefined" {
		failf("a text of an event ran as a script")
	}
}
