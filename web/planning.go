package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/web/planner"
)

// planningPages are the calendar itself: days, weeks, months, the list, the search and the tasks. Their paths are
// outside /account/.
func (h *Handler) planningPages() []page {
	return slices.Concat([]page{
		get("/calendar/{$}", people, planningPages.open),
		get("/calendar/{view}/{$}", people, planningPages.view),
		get("/calendar/{view}/{date}", people, planningPages.view),
		get("/calendar/go", people, planningPages.goTo),
		get("/calendar/keys", people, showing("keys", planningPages.keys)),
		get("/calendar/changes", people, planningPages.changes),
		get("/calendar/met", people, planningPages.met),
		post("/calendar/tick", people, planningPages.tick),
		post("/calendar/seen", people, planningPages.seen),
		get("/calendar/search", people, showing("search", planningPages.search)),
		get("/tasks/{$}", people, showing("tasks", planningPages.tasks)),
		post("/tasks/{$}", people, planningPages.addTask),
		get("/tasks/{calendar}", people, showing("task", planningPages.task)),
		post("/tasks/{calendar}", people, planningPages.saveTask),
		post("/tasks/{calendar}/tick", people, planningPages.tickTask),
		post("/tasks/{calendar}/delete", people, planningPages.deleteTask),
	}, h.eventPages())
}

const (
	// viewCookie remembers the last view, untickedCookie the calendars that are not shown.
	viewCookie     cookieName = "view"
	untickedCookie cookieName = "unticked"
	// maxEventForm is the size of the form of an event: its text may be long.
	maxEventForm = 512 << 10
	// settingAge is how long a browser remembers them.
	settingAge = 400 * 24 * time.Hour
)

// planningPages show the calendar.
type planningPages struct{ *pageRequest }

// planner returns the planner of the visitor. The caller must call end.
func (p *pageRequest) planner() (pl *planner.Planner, end func(), err error) {
	who := p.caller()
	if who.Mails, err = p.Service.Mails(p.r.Context(), who.User); err != nil {
		return nil, nil, err
	}
	pl = &planner.Planner{
		Service: p.Service, Caller: who, Zone: p.clock().zone, Now: p.Now(), Language: p.lang, Base: p.base,
	}
	if name := who.User.View.SecondZone; name != "" {
		pl.Second, _ = zone.Lookup(name) // without one that a new version of the zones lacks
	}
	for id := range strings.FieldsSeq(strings.ReplaceAll(p.cookie(untickedCookie), ".", " ")) {
		pl.Unticked = append(pl.Unticked, calendar.CalendarID(id))
	}
	return pl, pl.Begin(p.r.Context()), nil
}

// open leads to the view that the visitor used last. A phone begins with three days.
func (p planningPages) open() error {
	view := planner.Kind(p.cookie(viewCookie))
	if !slices.Contains(planner.Kinds, view) {
		view = planner.Week
		if strings.Contains(p.r.UserAgent(), "Mobi") {
			view = planner.Days
		}
	}
	return p.leadTo("/calendar/" + string(view) + "/")
}

// viewContent is the data of a calendar page.
type viewContent struct {
	*planner.View
	Shared []sharedCalendar
	// Undo is the change that the bar undoes, Here the address of the page.
	Undo, Here string
}

func (p planningPages) view() error {
	view := planner.Kind(p.r.PathValue("view"))
	if !slices.Contains(planner.Kinds, view) {
		return errMissing()
	}
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	day, err := pl.Day(p.r.PathValue("date"))
	if err != nil {
		return err
	}
	pl.ListDays, _ = strconv.Atoi(p.r.URL.Query().Get("days")) // without a number it is as usual
	shown, err := pl.Show(p.r.Context(), view, day)
	if err != nil {
		return err
	}
	shared, err := p.newlyShared(shown.Side.Others)
	if err != nil {
		return err
	}
	if p.cookie(viewCookie) != string(view) {
		p.setCookie(viewCookie, string(view), settingAge)
	}
	return p.show("view", viewContent{shown, shared, p.undoable(), p.here()})
}

// undoable returns the change that the address names for the bar with Undo; "" if it names none.
func (p planningPages) undoable() string {
	id, err := calendar.ParseChangeID(p.r.URL.Query().Get("undo"))
	if err != nil {
		return ""
	}
	return id.String()
}

// here returns the address of the page below the base, without the outcome of the previous action.
func (p planningPages) here() string {
	q := p.r.URL.Query()
	q.Del("undo")
	q.Del("done")
	if len(q) == 0 {
		return p.r.URL.Path
	}
	return p.r.URL.Path + "?" + q.Encode()
}

// keys lists the shortcuts. It reports whether they are switched on.
func (p planningPages) keys() (bool, error) { return !p.user().View.ShortcutsOff, nil }

// goTo leads to a day that a form names.
func (p planningPages) goTo() error {
	q := p.r.URL.Query()
	view := planner.Kind(q.Get("view"))
	if !slices.Contains(planner.Kinds, view) {
		view = planner.Week
	}
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	day, err := pl.Day(strings.TrimSpace(q.Get("date")))
	if err != nil {
		return err
	}
	return p.leadTo("/calendar/" + string(view) + "/" + day.Format(time.DateOnly))
}

// changes is the stream of changes that were made elsewhere.
func (p planningPages) changes() error {
	secret := p.cookie(sessionCookie)
	return p.streams.Serve(p.r.Context(), p.w, p.Service.Hub, p.caller(), func(ctx context.Context) error {
		_, err := p.Auth.Session(ctx, secret)
		return err
	})
}

// met answers the script of the form with the people that the visitor met in events.
func (p planningPages) met() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	list, err := pl.Met(p.r.Context())
	if err != nil {
		return err
	}
	sendJSON(p.w, http.StatusOK, list)
	return nil
}

// tick remembers the calendars to show. The form lists all of them, so that a new calendar is shown.
func (p planningPages) tick() error {
	var off []string
	for _, id := range p.r.PostForm["listed"] {
		if !slices.Contains(p.r.PostForm["shown"], id) && !strings.ContainsAny(id, ". ;,\"\\") {
			off = append(off, id)
		}
	}
	p.setCookie(untickedCookie, strings.Join(off, "."), settingAge)
	return p.leadTo(p.nextOr("/calendar/"))
}

// nextOr returns the next page that a form names, or another one.
func (p *pageRequest) nextOr(path string) string {
	if next := p.next(); next != "" {
		return next
	}
	return path
}

// searchContent is the data of the search.
type searchContent struct {
	planner.Results
	Words       string
	Past, Asked bool
	// Meant are the corrected words.
	Meant string
}

func (p planningPages) search() (c searchContent, err error) {
	q := p.r.URL.Query()
	c.Words, c.Past = strings.TrimSpace(q.Get("q")), q.Get("past") != ""
	if c.Words == "" {
		return c, nil
	}
	pl, end, err := p.planner()
	if err != nil {
		return c, err
	}
	defer end()
	c.Asked = true
	c.Results, err = pl.Search(p.r.Context(), c.Words, c.Past)
	c.Meant = strings.Join(c.Results.Meant, " ")
	if calendar.ReasonOf(err) == calendar.Invalid {
		return c, nil // there is no word to search for
	}
	return c, err
}

// tasksContent is the data of the page of tasks.
type tasksContent struct {
	Lists    []*planner.TaskList
	Finished bool
	Form     planner.TaskForm
	Undo     string
	Here     string
}

func (p planningPages) tasks() (tasksContent, error) {
	return p.tasksContent(planner.TaskForm{})
}

func (p planningPages) tasksContent(form planner.TaskForm) (c tasksContent, err error) {
	pl, end, err := p.planner()
	if err != nil {
		return c, err
	}
	defer end()
	c = tasksContent{
		Finished: p.r.URL.Query().Get("finished") != "", Form: form, Undo: p.undoable(), Here: p.here(),
	}
	c.Lists, err = pl.Tasks(p.r.Context(), c.Finished)
	return c, err
}

func (p planningPages) addTask() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	form := planner.ReadTaskForm(p.r.PostForm)
	saved, err := pl.CreateTask(p.r.Context(), form)
	if err == nil {
		return p.changed(p.nextOr("/tasks/"), "task-added", saved.Object)
	}
	content, failed := p.tasksContent(form)
	if failed != nil {
		return failed
	}
	return p.again("tasks", content, err)
}

// changed redirects to a page that shows a notice and the bar with Undo.
func (p planningPages) changed(path, notice string, o calendar.Object) error {
	found, err := p.Service.History(p.r.Context(), p.caller(), calendar.HistoryQuery{
		Calendar: o.Calendar, UID: o.UID, Limit: 1,
	})
	if err != nil || len(found.Changes) == 0 {
		return p.done(path, notice) // the change is made, but the journal does not show it
	}
	sign := "?"
	if strings.Contains(path, "?") {
		sign = "&"
	}
	return p.done(path+sign+"undo="+url.QueryEscape(found.Changes[0].ID().String()), notice)
}

// taskContent is the data of the page of a task.
type taskContent struct {
	planner.TaskForm
	planner.Subject
	planner.Swatch
	Writable bool
}

// subject finds the event or task that the address names.
func (p planningPages) subject(pl *planner.Planner) (planner.Subject, error) {
	q := p.r.URL.Query()
	in := calendar.CalendarID(p.r.PathValue("calendar"))
	return pl.Find(p.r.Context(), in, calendar.UID(q.Get("uid")), q.Get("at"))
}

func (p planningPages) task() (c taskContent, err error) {
	pl, end, err := p.planner()
	if err != nil {
		return c, err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return c, err
	}
	if s.Object.Kind != calendar.Todo {
		return c, errMissing()
	}
	return p.taskContent(pl, s, pl.TaskFormOf(s)), nil
}

func (p planningPages) taskContent(pl *planner.Planner, s planner.Subject, f planner.TaskForm) taskContent {
	return taskContent{
		f, s, planner.SwatchOf(s.Calendar), pl.Require(s) == nil,
	}
}

func (p planningPages) saveTask() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	form, before := planner.ReadTaskForm(p.r.PostForm), pl.TaskFormOf(s)
	change, differs, err := pl.TaskChange(form, before)
	if err == nil && !differs {
		return p.leadTo("/tasks/")
	}
	if err == nil {
		change.Target = s.Target("this")
		saved, failed := pl.Save(p.r.Context(), s, change, form.ETag)
		if failed == nil {
			return p.changed("/tasks/", "saved", saved.Saved.Object)
		}
		err = failed
	}
	form.ETag = before.ETag
	return p.again("task", p.taskContent(pl, s, form), err)
}

func (p planningPages) tickTask() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	done := p.field("done") != ""
	change := pl.Tick(done)
	change.Target = s.Target("this")
	saved, err := pl.Save(p.r.Context(), s, change, "")
	if err != nil {
		return err
	}
	notice := "task-reopened"
	if done {
		notice = "task-done"
	}
	return p.changed(p.nextOr("/tasks/"), notice, saved.Saved.Object)
}

func (p planningPages) deleteTask() error {
	pl, end, err := p.planner()
	if err != nil {
		return err
	}
	defer end()
	s, err := p.subject(pl)
	if err != nil {
		return err
	}
	gone, err := pl.Delete(p.r.Context(), s, "", "", calendar.ETag(p.field("etag")))
	if err != nil {
		return err
	}
	return p.changed("/tasks/", "task-deleted", gone.Saved.Object)
}
