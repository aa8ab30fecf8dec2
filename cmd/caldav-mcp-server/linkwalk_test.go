package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/slowtest"
	"caldav-mcp-server/linked/rest/resttest"
)

// linkWalk changes both sides of a linked account at random, while the provider has trouble and our server is killed.
// The server is the real one, in a process of its own, on a real store; it asks the provider by its real name. Every
// write has a title of its own, by which it is known wherever it turns up.
type linkWalk struct {
	*testing.T
	*rand.Rand
	far  far
	keys *resttest.Keys
	env  []string
	c    client
	// cal and calendar are the address and the id of the calendar that is linked, account is the id of the account.
	cal, calendar, account string
	database               string
	step, made, version    int
	// mine are the titles that were sent to our server, lost the titles of edits that lost a conflict.
	mine map[string]bool
	lost []string
	// sent is the text that was sent last.
	sent string
	// said is all that anybody was told, logs what processes that are gone have logged.
	said, logs strings.Builder
	counts     map[string]int
	// renewed are the keys of events that may have another name at the provider than we know: they are deleted by the
	// known name.
	renewed map[string]bool
}

// secretWord is in all titles, and in no log.
const secretWord = "Zebrafink"

// begun is when the first series begins. The clock goes forward in Berlin eight days after it.
func begun() time.Time { return time.Date(2027, 3, 20, 9, 0, 0, 0, inBerlin()) }

// walkOf are the seed and the number of steps: LINK_WALK=SEED,STEPS says others.
func walkOf(t *testing.T) (seed uint64, steps int) {
	t.Helper()
	seed, steps = 20261123, 40
	if text := os.Getenv("LINK_WALK"); text != "" {
		if _, err := fmt.Sscanf(text, "%d,%d", &seed, &steps); err != nil {
			t.Fatalf("LINK_WALK=%s: it is SEED,STEPS", text)
		}
	}
	return seed, steps
}

// TestLinkedAccountsWalk: both sides of an account at Google or Microsoft change at random; answers are lost, cut and
// late, tokens end, keys take turns, the provider forgets where we were, gives things other names, moves them out of
// sight, and its clock is an hour behind; our server is killed at any point. In the end both sides are equal, nothing
// that was acknowledged is lost, nothing is there twice, no write was sent twice, and neither a log nor an error nor
// the database tells a token, nor anybody's events.
func TestLinkedAccountsWalk(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, slowtest.Crash, "kills servers with linked accounts")
	for provider, begin := range map[string]func(*resttest.Keys) far{
		"google":    func(k *resttest.Keys) far { return newGoogleFar(k) },
		"microsoft": func(k *resttest.Keys) far { return newGraphFar(k) },
	} {
		t.Run(provider, func(t *testing.T) {
			each(t, func(t *testing.T, database string) {
				seed, steps := walkOf(t)
				t.Logf("LINK_WALK=%d,%d", seed, steps)
				keys := &resttest.Keys{Turns: true}
				w := &linkWalk{
					T: t, Rand: rand.New(rand.NewPCG(seed, 41)), far: begin(keys), keys: keys, database: database,
					mine: map[string]bool{}, counts: map[string]int{}, renewed: map[string]bool{},
				}
				w.begin()
				w.killedInAWrite()
				for w.step = range steps {
					w.one()
					if w.step%10 == 9 {
						w.agree()
					}
				}
				w.agree()
				w.judge()
				t.Logf("%v, %d writes were taken", w.counts, len(w.far.taken()))
			})
		})
	}
}

// begin starts the server, and links the account, which has some content.
func (w *linkWalk) begin() {
	w.keys.Scope = "https://www.googleapis.com/auth/calendar.calendarlist.readonly " +
		"https://www.googleapis.com/auth/calendar.events Calendars.ReadWrite User.Read"
	w.env = append(on(w.database), "DATA_DIR="+w.TempDir(), "LOG_LEVEL=debug", "GOOGLE_CLIENT_ID=app",
		"GOOGLE_CLIENT_SECRET="+appSecret,
		"MICROSOFT_CLIENT_ID=app", "MICROSOFT_CLIENT_SECRET="+appSecret)
	w.env = append(w.env, elsewhere(w.T, w.far.hosts(w.keys))...)
	w.c = firstClient(w.T, serve(w.T, w.env))
	for _, k := range []kind{timed, allDay, series} {
		w.far.add(w.title(w.key()), begun(), k)
	}
	provider, calendar := w.far.names()
	w.said.WriteString(link(w.T, w.env, w.keys, "admin", provider))
	w.cal, w.calendar = w.c.calendarAt(w.T, calendar), calendarNamed(w.T, w.c, calendar)
	found := regexp.MustCompile(`"id": ?"([^"]+)"`).
		FindStringSubmatch(call(w.T, w.env, "", "list-accounts", "--user", "admin", "--json"))
	if found == nil {
		w.Fatal("no account is listed")
	}
	w.account = found[1]
	w.agree()
}

func (w *linkWalk) key() string {
	w.made++
	return "k" + strconv.Itoa(w.made)
}

// title is another one each time.
func (w *linkWalk) title(key string) string {
	w.version++
	return fmt.Sprintf("%s v%d %s", key, w.version, secretWord)
}

// ours is the title of a write of ours.
func (w *linkWalk) ours(key string) string {
	title := w.title(key)
	w.mine[title] = true
	return title
}

func (w *linkWalk) say(format string, args ...any) {
	if testing.Verbose() {
		w.Logf("%d: %s", w.step, fmt.Sprintf(format, args...))
	}
}

// one is a step: some fault, and an action during which the server may be killed.
func (w *linkWalk) one() {
	w.trouble()
	switch n := w.IntN(12); {
	case n < 4:
		w.there()
	case n < 6:
		do := w.deed() // on what is known by now
		w.there()
		do()
	case n < 10:
		w.deed()()
	case n == 10:
		w.killed(w.deed())
	default:
		w.killed(func() { _ = w.refresh() })
	}
}

// someday is a possible time for an event. Microsoft's calendars have a window; some events are moved out of it.
func (w *linkWalk) someday() time.Time {
	at := begun().AddDate(0, 0, w.IntN(40)).Add(time.Duration(w.IntN(8)) * time.Hour)
	if w.IntN(10) == 0 {
		at = at.AddDate(9, 0, 0)
	}
	return at
}

// there changes something at the provider.
func (w *linkWalk) there() {
	masters := w.far.masters()
	ids := slices.Sorted(maps.Keys(masters))
	if len(ids) < 4 || len(ids) < 9 && w.IntN(5) == 0 {
		w.far.add(w.title(w.key()), begun().AddDate(0, 0, w.IntN(4)), kind(w.IntN(3)))
		w.say("there: another one")
		return
	}
	id := ids[w.IntN(len(ids))]
	title, day := w.title(keyOf(masters[id])), begun().AddDate(0, 0, 4+w.IntN(14))
	deed := w.IntN(8)
	w.say("there: deed %d at %s, %s", deed, masters[id], title)
	switch deed {
	case 0, 1:
		w.far.retitle(id, title)
	case 2:
		w.far.move(id, w.someday())
	case 3:
		w.far.drop(id)
	case 4:
		w.far.cancel(id, day)
	case 5:
		w.far.except(id, title, day)
	case 6:
		w.far.renew(id)
		w.renewed[keyOf(masters[id])] = true
	case 7:
		w.far.drop(id)
		w.far.add(w.title(w.key()), begun(), series)
	}
}

// deed is a change through our server. Once acknowledged, it is at the provider.
func (w *linkWalk) deed() func() {
	all := w.c.entries(w.T, w.cal)
	if len(all) < 4 || len(all) < 9 && w.IntN(4) == 0 {
		return w.make
	}
	e := all[w.IntN(len(all))]
	switch deed := w.IntN(7); deed {
	case 0:
		return func() {
			w.done("delete "+e.key, "", e.key+"||", w.dav(http.MethodDelete, e.href, "", "If-Match", e.etag))
		}
	case 1:
		return func() {
			w.done("delete by MCP "+e.key, "", e.key+"||", w.tool("delete_event", map[string]any{
				"calendar_id": w.calendar, "event_uid": e.uid, "scope": "all",
			}))
		}
	case 2:
		return func() {
			title := w.ours(e.key)
			w.done("patch by MCP "+title, "||"+title+"|", "", w.tool("patch_event", map[string]any{
				"calendar_id": w.calendar, "event_uid": e.uid, "title": title, "scope": "all",
			}))
		}
	}
	return func() { w.edit(e) }
}

// edit overwrites a listed event. An edit that lost a conflict there is kept.
func (w *linkWalk) edit(e entry) {
	there := strings.Join(w.far.state(w.T), "\n")
	overtaken := slices.ContainsFunc(stateLines(w.T, e.text), func(line string) bool {
		return !strings.Contains(there, line)
	})
	title := w.ours(e.key)
	text, want := w.edited(e, title)
	w.sent = text
	status := w.dav(http.MethodPut, e.href, text, "If-Match", e.etag)
	if status == http.StatusPreconditionFailed && overtaken && strings.Contains(text, title) {
		w.lost = append(w.lost, title)
	}
	w.done("edit "+title, want, "", status)
}

// make makes an event here.
func (w *linkWalk) make() {
	key := w.key()
	title := w.ours(key)
	day := begun().AddDate(0, 0, w.IntN(4))
	if w.IntN(3) == 0 {
		w.makeByTool(key, title, day)
		return
	}
	times := "DTSTART;TZID=" + berlin + ":" + day.Format("20060102T150405") + "\r\nDTEND;TZID=" + berlin + ":" +
		day.Add(time.Hour).Format("20060102T150405")
	switch kind(w.IntN(3)) {
	case allDay:
		times = "DTSTART;VALUE=DATE:" + day.Format("20060102") + "\r\nDTEND;VALUE=DATE:" +
			day.AddDate(0, 0, 1).Format("20060102")
	case series:
		times += "\r\nRRULE:FREQ=DAILY;COUNT=20"
	case timed:
	}
	text := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//walk//EN\r\nBEGIN:VEVENT\r\nUID:" + key +
		"@walk\r\nDTSTAMP:20260301T000000Z\r\n" + times +
		"\r\nSUMMARY:" + title + "\r\nDESCRIPTION:" + title + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	status := w.dav(http.MethodPut, w.cal+key+".ics", text, "If-None-Match", "*")
	for n := 0; status == 0 || status == http.StatusServiceUnavailable; n++ { // a client asks again, until it knows
		if w.say("make %s again after %d", title, status); n == 2 {
			break
		}
		w.awake()
		status = w.dav(http.MethodPut, w.cal+key+".ics", text, "If-None-Match", "*")
	}
	w.done("make "+title, "||"+title+"|", "", status)
}

// makeByTool creates an event by a tool. Without a response, or with an error, it repeats the call with the same key.
func (w *linkWalk) makeByTool(key, title string, day time.Time) {
	call := map[string]any{
		"calendar_id": w.calendar, "title": title, "start": day.UTC().Format(instantForm),
		"end": day.Add(time.Hour).UTC().Format(instantForm), "idempotency_key": key,
	}
	status := w.tool("create_event", call)
	for n := 0; n < 2 && status != http.StatusOK; n++ {
		w.say("make %s by MCP again after %d", title, status)
		w.awake()
		w.inDatabase("UPDATE attempts SET at = at - 120") // the minute in which the first call may still be answered
		status = w.tool("create_event", call)
	}
	w.done("make by MCP "+title, "||"+title+"|", "", status)
}

// edited returns another text of an object, and the expected state at the provider.
func (w *linkWalk) edited(e entry, title string) (text, want string) {
	series := strings.Contains(e.text, "RRULE:FREQ=DAILY")
	day := begun().AddDate(0, 0, 4+w.IntN(14))
	local, utc := day.Format("20060102T150405"), day.UTC().Format(instantForm)
	known := strings.Contains(strings.Join(stateLines(w.T, e.text), "\n"), utc)
	switch deed := w.IntN(4); {
	case deed == 0 && series && !known:
		end := strings.LastIndex(e.text, "END:VCALENDAR")
		moved := day.Add(2 * time.Hour).Format("20060102T150405")
		over := day.Add(3 * time.Hour).Format("20060102T150405")
		text = e.text[:end] + "BEGIN:VEVENT\r\nUID:" + e.uid + "\r\nDTSTAMP:20260301T000000Z\r\nRECURRENCE-ID;TZID=" +
			berlin + ":" + local +
			"\r\nDTSTART;TZID=" + berlin + ":" + moved + "\r\nDTEND;TZID=" + berlin + ":" + over + "\r\nSUMMARY:" +
			title + "\r\nEND:VEVENT\r\n" + e.text[end:]
		return text, "|" + utc + "|" + title
	case deed == 1 && series && !known:
		return strings.Replace(e.text, "RRULE:FREQ=DAILY", "EXDATE;TZID="+berlin+":"+local+"\r\nRRULE:FREQ=DAILY", 1),
			"|" + utc + "|cancelled"
	}
	lines, within := strings.Split(e.text, "\r\n"), []int{}
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "SUMMARY"):
			within = append(within, i)
		case strings.HasPrefix(line, "RECURRENCE-ID"):
			within = append(within, -1) // a title of an instance is another one
		}
	}
	for n, i := range within {
		if i >= 0 && strings.Contains(lines[i], ":"+e.key+" ") && (n == 0 || within[n-1] >= 0) &&
			(n+1 == len(within) || within[n+1] >= 0 || n == 0) {
			lines[i] = "SUMMARY:" + title
			return strings.Join(lines, "\r\n"), "||" + title + "|"
		}
	}
	return e.text, ""
}

func stateLines(t *testing.T, text string) []string {
	t.Helper()
	_, lines := linesOf(t, text)
	return lines
}

// dav makes a request, and returns its status; 0 where there was no answer.
func (w *linkWalk) dav(method, path, body string, headers ...string) int {
	a, err := w.c.dav(w.Context(), method, path, body, append(headers, "Content-Type", "text/calendar")...)
	if err != nil {
		return 0
	}
	if a.status >= http.StatusBadRequest {
		w.said.WriteString(a.body + "\n")
	}
	return a.status
}

// tool uses a tool, and returns a status as CalDAV has it.
func (w *linkWalk) tool(tool string, arguments any) int {
	text, err := w.c.tool(w.Context(), tool, arguments)
	switch {
	case err == nil:
		return http.StatusOK
	case text == "" && strings.Contains(err.Error(), "answered "):
		w.said.WriteString(err.Error() + "\n")
		if strings.Contains(err.Error(), "NOT_AUTHORIZED") || strings.Contains(err.Error(), "INTERNAL") {
			w.Errorf("%d: %s is answered %v", w.step, tool, err)
		}
		return http.StatusPreconditionFailed
	}
	return 0
}

// done checks that an acknowledged change is there, and accepts the permitted errors.
func (w *linkWalk) done(what, want, gone string, status int) {
	w.say("%s: %d", what, status)
	w.counts[strconv.Itoa(status)]++
	there := strings.Join(w.far.state(w.T), "\n")
	switch status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		key, _, _ := strings.Cut(gone, "|")
		if !strings.Contains(there, want) || gone != "" && strings.Contains("\n"+there, "\n"+gone) && !w.renewed[key] {
			w.Fatalf("%d: %s was acknowledged (%d); there is\n%s\nand not %q\n%s", w.step, what, status, there, want,
				w.sent)
		}
	case 0, http.StatusForbidden, http.StatusNotFound, http.StatusPreconditionFailed, http.StatusServiceUnavailable:
	default:
		w.Errorf("%d: %s is answered %d", w.step, what, status)
	}
}

func (w *linkWalk) refresh() error {
	text, err := w.c.tool(w.Context(), "update_linked_account", map[string]any{
		"account": w.account, "action": "refresh",
	})
	if err != nil {
		w.said.WriteString(err.Error() + "\n")
	}
	w.say("refresh: %s %v", text, err)
	return err
}

// agree waits for the trouble to end, and holds that both sides are equal.
func (w *linkWalk) agree() {
	w.far.troubles().Clear()
	w.keys.Faults.Clear()
	until(w.T, "a look without trouble", func() bool { return w.refresh() == nil })
	if err := w.refresh(); err != nil { // what the look before had only begun
		w.Fatal(err)
	}
	here, there := w.c.stateOf(w.T, w.cal), w.far.state(w.T)
	// Microsoft shows a window of three years. An event moved out of it may be here or not.
	if provider, _ := w.far.names(); provider == "microsoft" {
		out := map[string]bool{}
		for _, line := range there {
			if at := line[strings.LastIndexByte(line, '|')+1:]; at > "2029" && at < "9" {
				out[keyOf(strings.Replace(line, "|", " ", 1))] = true
			}
		}
		away := func(line string) bool { return out[keyOf(strings.Replace(line, "|", " ", 1))] }
		here, there = slices.DeleteFunc(here, away), slices.DeleteFunc(there, away)
	}
	if diff := gocmp.Diff(there, here); diff != "" {
		w.Fatalf("%d: the sides differ, -there +here\n%s", w.step, diff)
	}
	clear(w.renewed)
	seen := map[string]bool{}
	for _, line := range here {
		if key, master := strings.CutSuffix(line[:strings.IndexByte(line, '|')+2], "||"); master {
			if seen[key] {
				w.Fatalf("%d: %s is there twice:\n%s", w.step, key, strings.Join(here, "\n"))
			}
			seen[key] = true
		}
	}
}
