package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/calendar/zone"
	"caldav-mcp-server/web/outside"
	"caldav-mcp-server/web/planner"
	"caldav-mcp-server/web/poll"
)

const (
	// PollPath is the path of the links to polls, below the path of BASE_URL.
	PollPath = "/poll/"
	pollRoot = PollPath
)

func (h *Handler) pollPages() []page {
	if h.Polls == nil {
		return nil
	}
	return []page{
		get("polls", people, showing("polls", pollPages.list)),
		get("polls/{poll}", people, pollPages.one),
		post("polls/{poll}", people, pollPages.change),
		get("polls/{poll}/edit", people, pollPages.edit),
		get(pollRoot+"{answer}", anybody, pollAnswerPages.form),
		post(pollRoot+"{answer}", anybody, pollAnswerPages.answer),
	}
}

// pollAnswerPages let people without an account answer a poll.
type pollAnswerPages struct{ *pageRequest }

// pollChoice is an answer with its label.
type pollChoice struct {
	Value rules.Answer
	Label string
}

var pollChoiceTexts = map[rules.Answer]string{
	rules.Yes: "poll.yes", rules.IfNeeded: "poll.maybe", rules.No: "poll.no",
}

// pollAnswerContent is the data of the page of a link.
type pollAnswerContent struct {
	poll.Visit
	Rows    []poll.Line
	Choices []pollChoice
	Zone    string
	Places  []string
	// Path is the page's own address, Key the key of the form.
	Path, Key string
	// Takes is set if the poll takes answers, Everyone if the link is the one for everyone.
	Takes, Everyone bool
	// Closing is when it closes, Chosen the time that the owner picked, in words.
	Closing, Chosen string
	Name, Address   string
}

// Counted reports whether the visitor sees the answers of others.
func (c pollAnswerContent) Counted() bool { return c.Shown != rules.Nothing }

// open returns the page of the link in the address. Its language is the browser's, else the poll's.
func (p pollAnswerPages) open() (c pollAnswerContent, err error) {
	p.w.Header().Set("X-Robots-Tag", "noindex")
	p.w.Header().Add("Vary", "Accept-Language")
	c.Visit, err = p.Polls.Find(p.r.Context(), p.r.PathValue("answer"))
	if err != nil {
		return c, p.pollProblem(err)
	}
	if !p.signedIn() || p.user().Language == "" {
		p.lang = p.languages.Match(p.r.Header.Get("Accept-Language"), c.Language)
	}
	c.Path, c.Takes, c.Everyone = p.href(pollRoot+p.r.PathValue("answer")), c.Visit.Takes(p.Now()), c.Person.ID == ""
	c.Name, c.Address, c.Places = p.r.PostFormValue("name"), p.r.PostFormValue("address"), zone.Places()
	if p.signedIn() && p.r.Method != http.MethodPost {
		c.Name, c.Address = p.user().Title(), p.user().Email
	}
	if c.Key = p.field("key"); c.Key == "" {
		c.Key = outside.NewToken()
	}
	for _, one := range rules.Choices {
		c.Choices = append(c.Choices, pollChoice{one, p.lang.Text(pollChoiceTexts[one])})
	}
	return c, nil
}

// fill adds the times in the visitor's zone. Typed answers replace the stored ones.
func (p pollAnswerPages) fill(c *pollAnswerContent, typed rules.Answers) (err error) {
	z := c.View.Zone
	name := cmp.Or(strings.TrimSpace(p.r.FormValue("zone")), c.Person.Zone)
	if name == "" && p.signedIn() {
		name = p.user().Timezone
	}
	if name != "" {
		if z, err = zone.Lookup(name); err != nil {
			z, err = c.View.Zone, p.wrong("planner.bad-zone", "zone", excerpt(name))
		}
	}
	in, cycle := z.Location(), p.user().View.Clock
	var names func(poll.Person) string
	if c.Shown == rules.Names {
		names = func(one poll.Person) string { return cmp.Or(one.Name, p.lang.Text("poll.unnamed")) }
	}
	c.Zone, c.Closing = z.Name(), outside.When(p.lang, c.View.Until(), in, cycle)
	c.Rows = c.View.Lines(p.lang, in, cycle, names)
	for i, row := range c.Rows {
		c.Rows[i].Given = cmp.Or(typed[row.ID], c.Person.Answers[row.ID])
	}
	if t, ok := c.Time(c.Poll.Picked); ok {
		c.Chosen = poll.Words(p.lang, t, in, cycle)
	}
	return err
}

func (p pollAnswerPages) form() error {
	c, err := p.open()
	if err != nil {
		return err
	}
	if err = p.fill(&c, nil); err != nil {
		status, text := p.explain(err)
		return p.write(status, "pollanswer", c, text)
	}
	return p.show("pollanswer", c)
}

// answer stores the answers.
func (p pollAnswerPages) answer() error {
	c, err := p.open()
	if err != nil {
		return err
	}
	r := poll.Reply{
		Name: c.Name, Address: p.field("address"), Answers: poll.ReadAnswers(p.r.PostForm, c.Times), Key: c.Key,
		Network: outside.Network(p.ClientAddr(p.r)),
	}
	r.Changes, _ = strconv.ParseInt(p.field("changes"), 10, 64) // without a number it is no version
	if err = p.fill(&c, r.Answers); err != nil {
		return p.again("pollanswer", c, err)
	}
	r.Zone, r.Language = c.Zone, p.lang.Tag()
	own, err := p.Polls.Answer(p.r.Context(), p.r.PathValue("answer"), r)
	if err == nil {
		return p.leadTo(pollRoot + own)
	}
	if errors.Is(err, poll.ErrChanged) || errors.Is(err, poll.ErrClosed) {
		// The form shows the present state.
		again, failed := p.open()
		if failed != nil {
			return failed
		}
		c = again
		if failed := p.fill(&c, nil); failed != nil {
			return failed
		}
	}
	return p.again("pollanswer", c, p.pollProblem(err))
}

// pollTexts are the ids of the texts of errors.
var pollTexts = map[error]string{
	poll.ErrClosed: "poll.closed", poll.ErrChanged: "poll.err-changed", poll.ErrLimit: "poll.err-limit",
	poll.ErrName: "booking.bad-name", poll.ErrAddress: "booking.bad-address", poll.ErrAnswer: "poll.err-answer",
	poll.ErrPicked: "poll.err-ended", poll.ErrNobody: "poll.err-nobody",
}

// pollProblem returns an error with a text for the visitor.
func (p *pageRequest) pollProblem(err error) error {
	if errors.Is(err, poll.ErrMissing) {
		return errMissing()
	}
	for one, id := range pollTexts {
		if errors.Is(err, one) {
			return p.wrong(id)
		}
	}
	return err
}

// pollPages manage a user's polls.
type pollPages struct{ *pageRequest }

// ownPoll is a poll in its owner's list.
type ownPoll struct {
	poll.View
	State    string
	Answered int
}

func (p pollPages) list() (list []ownPoll, err error) {
	views, err := p.Polls.Polls(p.r.Context(), p.user())
	for _, v := range views {
		one := ownPoll{View: v, State: p.state(v)}
		for _, person := range v.People {
			if person.Changes > 0 {
				one.Answered++
			}
		}
		list = append(list, one)
	}
	return list, err
}

// state returns the state of a poll in words.
func (p pollPages) state(v poll.View) string {
	t, picked := v.Time(v.Poll.Picked)
	in, cycle := v.Zone.Location(), p.user().View.Clock
	switch {
	case picked:
		return p.lang.Text("poll.chosen", "when", poll.Words(p.lang, t, in, cycle))
	case v.State == calendar.PollCancelled:
		return p.lang.Text("poll.cancelled")
	case v.Takes(p.Now()):
		return p.lang.Text("poll.until", "when", outside.When(p.lang, v.Until(), in, cycle))
	}
	return p.lang.Text("poll.closed")
}

// ownPollContent is the data of a poll's page for its owner.
type ownPollContent struct {
	poll.View
	State string
	Rows  []poll.Line
	// Link is the link for everyone; "" if it is closed.
	Link   string
	People []ownPerson
	// Remindable is set if there are people to remind.
	Remindable bool
	// Chosen is the time to pick; Guests are the people who can be invited.
	Chosen *poll.Line
	Guests []ownPerson
}

// ownPerson is a person on the page for the owner.
type ownPerson struct {
	poll.Person
	Link   string
	Ticked bool
}

// pollForm is the page of the form.
type pollForm struct {
	poll.Form
	ID             calendar.PollID
	Zone           string
	Targets, Kinds []choice
	Tongues        []choice
	Mails, Fresh   bool
	Numbers        []int
}

// newPoll is the id in the address of a new poll.
const newPoll = "new"

var pollShownTexts = map[rules.Visibility]string{
	rules.Counts: "poll.shown-counts", rules.Names: "poll.shown-names", rules.Nothing: "poll.shown-nothing",
}

// wanted returns the poll that the path names.
func (p pollPages) wanted() (poll.View, error) {
	v, err := p.Polls.Poll(p.r.Context(), p.user(), calendar.PollID(p.r.PathValue("poll")))
	return v, p.pollProblem(err)
}

// fresh returns a new poll.
func (p pollPages) fresh() poll.View {
	v := poll.View{Owner: p.user(), Zone: p.clock().zone}
	v.Settings = rules.Settings{Zone: v.Zone.Name(), Language: p.lang.Tag(), Shown: rules.Counts, Open: true}
	day := p.clock().in(p.Now()).AddDate(0, 0, 8)
	v.Closes = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, v.Zone.Location())
	return v
}

func (p pollPages) one() error {
	if p.r.PathValue("poll") == newPoll {
		return p.showForm(p.fresh(), poll.FormOf(p.fresh()), nil)
	}
	v, err := p.wanted()
	if err != nil {
		return err
	}
	return p.showPoll(v, nil)
}

func (p pollPages) edit() error {
	v, err := p.wanted()
	if err != nil {
		return err
	}
	if !v.IsOpen() {
		return errMissing()
	}
	return p.showForm(v, poll.FormOf(v), nil)
}

// showForm shows the form of a poll.
func (p pollPages) showForm(v poll.View, f poll.Form, wrong error) error {
	c := pollForm{
		Form: f.Spare(), ID: v.ID, Zone: v.Zone.Name(), Fresh: v.ID == "", Mails: p.Polls.Root != nil,
	}
	for n := range rules.MostTimes {
		c.Numbers = append(c.Numbers, n+1)
	}
	for _, one := range rules.Visibilities {
		c.Kinds = append(c.Kinds, choice{string(one), p.lang.Text(pollShownTexts[one]), string(one) == f.Shown})
	}
	for _, l := range p.languages.Languages() {
		c.Tongues = append(c.Tongues, choice{l.Tag(), l.Name(), l.Tag() == f.Language})
	}
	all, err := p.Service.Calendars(p.r.Context(), p.caller())
	if err != nil {
		return err
	}
	for _, cal := range all {
		if outside.Takes(cal) {
			c.Targets = append(c.Targets, choice{string(cal.ID), calendarName(cal), string(cal.ID) == f.Calendar})
		}
	}
	if wrong != nil {
		return p.again("pollform", c, wrong)
	}
	return p.show("pollform", c)
}

// showPoll shows a poll to its owner, with an error if there is one.
func (p pollPages) showPoll(v poll.View, wrong error) error {
	busy, err := p.Polls.Conflicts(p.r.Context(), v)
	if err != nil {
		return err
	}
	address := func(link string) string {
		return p.pageRequest.address().JoinPath(strings.TrimPrefix(pollRoot, "/"), link).String()
	}
	c := ownPollContent{View: v, State: p.state(v), Remindable: len(p.Polls.Remindable(v)) > 0}
	c.Rows = v.Lines(p.lang, v.Zone.Location(), p.user().View.Clock, poll.Person.Title)
	chosen, _ := strconv.ParseInt(p.r.FormValue("pick"), 10, 64) // without a number it is no time
	for i := range c.Rows {
		c.Rows[i].Busy = busy[i]
		if c.Rows[i].ID == chosen && v.IsOpen() {
			c.Chosen = &c.Rows[i]
		}
	}
	if v.Open && v.Takes(p.Now()) {
		c.Link = address(v.Link)
	}
	for _, one := range v.People {
		person := ownPerson{Person: one, Link: address(one.Link), Ticked: one.Answers[chosen] != rules.No}
		c.People = append(c.People, person)
		if one.Address != "" {
			c.Guests = append(c.Guests, person)
		}
	}
	if wrong != nil {
		return p.again("poll", c, wrong)
	}
	return p.show("poll", c)
}

// change does the action of a button.
func (p pollPages) change() error {
	fresh := p.r.PathValue("poll") == newPoll
	v, err := p.fresh(), error(nil)
	if !fresh {
		v, err = p.wanted()
	}
	if err != nil {
		return err
	}
	ctx, at := p.r.Context(), "polls/"+string(v.ID)
	switch do := p.field("do"); {
	case do == "save":
		return p.save(v)
	case do == "more":
		return p.showForm(v, poll.ReadForm(p.r.PostForm), nil)
	case do == "suggest":
		f := poll.ReadForm(p.r.PostForm)
		found, err := p.suggest(v, f)
		f.Add(found)
		return p.showForm(v, f, err)
	case fresh:
		return p.showForm(v, p.fromEvent(v), nil)
	case do == "pick":
		err = p.pick(v)
		if err == nil {
			return p.done(at, "poll-picked")
		}
	case do == "remind":
		if err = p.Polls.Remind(ctx, p.user(), v.ID); err == nil {
			return p.done(at, "poll-reminded")
		}
	case do == "remove":
		if err = p.Polls.Remove(ctx, p.user(), v.ID, calendar.PollPersonID(p.field("person"))); err == nil {
			return p.done(at, "removed")
		}
	case do == "cancel":
		if err = p.Polls.Cancel(ctx, p.user(), v.ID); err == nil {
			return p.done(at, "saved")
		}
	case do == "delete" && p.field("sure") == "":
		err = p.wrong("poll.unsure")
	case do == "delete":
		return p.after(p.pollProblem(p.Polls.Delete(ctx, p.user(), v.ID)), "polls", "removed")
	default:
		return errMissing()
	}
	now, failed := p.wanted()
	if failed != nil {
		return failed
	}
	return p.showPoll(now, p.refused(err))
}

// pick picks a time for the people who are ticked.
func (p pollPages) pick(v poll.View) error {
	var pick poll.Pick
	pick.Time, _ = strconv.ParseInt(p.field("pick"), 10, 64) // without a number it is no time
	pick.Version, _ = strconv.ParseInt(p.field("version"), 10, 64)
	for _, id := range p.r.PostForm["guest"] {
		pick.Guests = append(pick.Guests, calendar.PollPersonID(id))
	}
	return p.Polls.Pick(p.r.Context(), p.user(), v.ID, pick)
}

// fromEvent returns a form with the fields of the form for a new event.
func (p pollPages) fromEvent(v poll.View) poll.Form {
	f := poll.FormOf(v)
	f.Title, f.Text, f.Location = p.field("title"), p.field("notes"), p.field("location")
	f.Calendar, f.People = p.field("calendar"), p.field("guests")
	row := poll.Row{Start: p.field("start"), End: p.field("end")}
	if p.field("all-day") == "" {
		row.StartTime, row.EndTime = p.field("start-time"), p.field("end-time")
	}
	if row != (poll.Row{}) {
		f.Rows = []poll.Row{row}
	}
	return f
}

// suggest returns free times of the owner, and of the people who have an account here. They last as long as the first
// time of the form, and begin after the last one.
func (p pollPages) suggest(v poll.View, f poll.Form) (list []poll.Row, err error) {
	pl, end, err := p.planner()
	if err != nil {
		return nil, err
	}
	defer end()
	like, day := f.Sample(p.clock().in(p.Now()))
	form := planner.EventForm{
		Calendar: calendar.CalendarID(f.Calendar), Guests: f.People, Start: like.Start, StartTime: like.StartTime,
		End: like.End, EndTime: like.EndTime, Zone: v.Zone.Name(),
	}
	found, err := pl.Free(p.r.Context(), form, nil, day)
	if err != nil {
		return nil, err
	}
	length, _ := like.Time(v.Zone)
	for _, s := range found.Slots {
		if start, err := time.Parse(time.RFC3339, s.Value); err == nil && s.But == "" {
			list = append(list, poll.RowOf(start, start.Add(length.End.Sub(length.Start)), v.Zone))
		}
	}
	if len(list) == 0 {
		return nil, calendar.Errorf(calendar.Invalid, "", "%s", cmp.Or(found.Why, p.lang.Text("poll.no-free")))
	}
	return list, nil
}

// save stores a poll.
func (p pollPages) save(v poll.View) error {
	f := poll.ReadForm(p.r.PostForm)
	next, err := f.Apply(v)
	var asked []poll.Guest
	if err == nil {
		asked, err = p.asked(f.People)
	}
	if err == nil {
		next.ID, err = p.Polls.Save(p.r.Context(), p.user(), next, asked)
	}
	if err != nil {
		return p.showForm(v, f, p.refused(err))
	}
	return p.done("polls/"+string(next.ID), "saved")
}

// asked reads the people of a form.
func (p pollPages) asked(text string) (list []poll.Guest, err error) {
	pl, end, err := p.planner()
	if err != nil {
		return nil, err
	}
	defer end()
	guests, err := pl.Guests(p.r.Context(), "people", text)
	for _, g := range guests {
		list = append(list, poll.Guest{Name: g.Name, Address: g.Address})
	}
	return list, err
}

// pollFields are the ids of texts about settings.
var pollFields = map[string]string{
	"calendar": "booking.wrong-calendar", "email": "booking.wrong-email", "past": "poll.wrong-past",
	"closes": "poll.wrong-closes", "times": "poll.wrong-times",
}

// refused returns an error in the owner's language.
func (p pollPages) refused(err error) error {
	wrong, ok := errors.AsType[*rules.Error](err)
	switch {
	case !ok && calendar.ReasonOf(err) == calendar.TooLarge:
		return p.wrong("poll.err-many")
	case !ok:
		return p.pollProblem(err)
	case wrong.Field == "time":
		return p.wrong("poll.wrong-time", "number", wrong.Value)
	case wrong.Field == "people":
		return p.wrong("planner.bad-guest", "guest", excerpt(wrong.Value))
	case pollFields[wrong.Field] != "":
		return p.wrong(pollFields[wrong.Field], "least", wrong.Least, "most", wrong.Most)
	}
	return p.wrong("booking.wrong", "field", p.lang.Text("poll."+wrong.Field), "least", wrong.Least, "most", wrong.Most)
}
