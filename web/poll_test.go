package web_test

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	rules "caldav-mcp-server/calendar/poll"
	"caldav-mcp-server/calendar/service"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/mail"
	"caldav-mcp-server/web/poll"
)

// polls returns the polls of a house, which sends mail.
func (h *house) polls(calendars *service.Service) *poll.Service {
	h.Helper()
	root, err := url.Parse("https://cal.example.org/poll/")
	h.must(err)
	return &poll.Service{
		Calendars: calendars, Store: h.store, Root: root, Outbox: calendar.DefaultLimits().Outbox,
		Address: new(mail.Bookings).Address, Now: h.Now, NewID: h.NewID,
	}
}

// pollster is a house in which ann can make polls. Its clock shows Friday, May 1st 2026, 14:00 in Berlin.
type pollster struct {
	*house
	*browser
	ann calendar.User
	cal calendar.Calendar
	*poll.Service
}

func eachPoll(t *testing.T, test func(p *pollster)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, at string) { test(newPollster(t, at)) })
}

func newPollster(t *testing.T, at string) *pollster {
	t.Helper()
	h := open(t, at)
	middle := h.Middle()
	middle.Mailed = true
	// The pages use the same service: its calendars mail.
	h.pages.Polls.Calendars = service.New(middle)
	p := &pollster{house: h, Service: h.pages.Polls}
	var err error
	p.ann, err = h.auth.CreateUser(t.Context(), auth.NewUser{
		Name: "ann", Password: rightPassword, Timezone: "Europe/Berlin", Email: "ann@example.org",
		DisplayName: "Ms ann",
	})
	h.must(err)
	p.cal = h.made(p.ann, "Work")
	p.browser = h.as("ann")
	return p
}

// fields returns the fields of the form for a poll with changes, each a name and a value; "" leaves a field out.
func (p *pollster) fields(change ...string) []string {
	all := map[string]string{
		"do": "save", "title": "Walk", "text": "Shoes!", "location": "Lido", "calendar": string(p.cal.ID),
		"shown": "counts", "closes": "2026-05-08", "language": "en", "open": "1",
		"people":  "Eve <eve@example.com>\nmia@example.com",
		"start-0": "2026-05-11", "start-time-0": "09:00", "end-time-0": "10:30",
		"start-1": "2026-05-12", "start-time-1": "14:00",
		"start-2": "2026-05-16", "end-2": "2026-05-17",
	}
	for pair := range slices.Chunk(change, 2) {
		all[pair[0]] = pair[1]
	}
	var list []string
	for name, value := range all {
		if value != "" {
			list = append(list, name, value)
		}
	}
	return list
}

// create makes a poll on the pages and returns it.
func (p *pollster) create(change ...string) poll.View {
	p.house.Helper()
	page := p.post("polls/new", p.fields(change...)...).shows(http.StatusOK, "Saved")
	id, _, _ := strings.Cut(strings.TrimPrefix(page.path, "polls/"), "?")
	return p.at(poll.View{Poll: calendar.Poll{ID: calendar.PollID(id)}})
}

// at returns the poll as it is now.
func (p *pollster) at(v poll.View) poll.View {
	p.house.Helper()
	v, err := p.Poll(p.house.Context(), p.ann, v.ID)
	p.house.must(err)
	return v
}

// person returns the path of a person's own link.
func (p *pollster) link(v poll.View, address string) string {
	p.house.Helper()
	for _, one := range p.at(v).People {
		if one.Address == address {
			return "/poll/" + one.Link
		}
	}
	p.house.Fatalf("%s is not in the poll", address)
	return ""
}

// outbox returns the mails that would leave now, with their recipients.
func (p *pollster) outbox() (all []string) {
	p.house.Helper()
	ctx := p.house.Context()
	letters, err := p.store.TakeLetters(ctx, p.Now(), p.Now().Add(time.Minute), 100)
	p.house.must(err)
	for _, l := range letters {
		text := string(l.Data)
		if l.Method == calendar.MethodPoll {
			m, err := p.Mail(ctx, l)
			if calendar.ReasonOf(err) == calendar.NotFound {
				m = calendar.PollMail{Subject: "nothing"}
			} else {
				p.house.must(err)
			}
			text = m.Subject + "\n" + m.Text
		}
		p.house.must(p.store.ConcludeLetter(ctx, l, true, p.Now(), 1<<20))
		all = append(all, string(l.To)+" "+string(l.Method)+" "+text)
	}
	slices.Sort(all)
	return all
}

var startField = regexp.MustCompile(`name="start-(?:time-)?\d+" type="(?:date|time)" value="([^"]+)"`)

var versionField = regexp.MustCompile(`name="(version|changes|key)" value="([^"]*)"`)

// hiddenField returns the value of a hidden field of a page.
func hiddenField(s shown, name string) string {
	s.b.Helper()
	for _, found := range versionField.FindAllStringSubmatch(s.body, -1) {
		if found[1] == name {
			return found[2]
		}
	}
	s.b.Fatalf("no field %s in %s", name, s.body)
	return ""
}

// give answers a poll through a link, in a browser of its own. Answers are yes, maybe, no or "".
func (p *pollster) give(link string, answers []string, more ...string) shown {
	p.house.Helper()
	b := p.house.browser()
	form := b.get(link).shows(http.StatusOK)
	fields := append([]string{"changes", hiddenField(form, "changes")}, more...)
	for i, answer := range answers {
		if answer != "" {
			fields = append(fields, poll.FieldOf(int64(i+1)), answer)
		}
	}
	return b.post(link, fields...)
}

// An owner makes a poll, people answer without an account, and the owner picks a time: they get ordinary invitations.
func TestPoll(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		p.put(callerOf(p.ann), p.cal, object("VEVENT", "d", "Dentist", "DTSTART:20260511T080000Z",
			"DTEND:20260511T083000Z"))
		v := p.create()
		mails := p.outbox()
		asks := "eve@example.com POLL When do you have time? Walk\nMs ann asks"
		if len(mails) != 2 || !strings.HasPrefix(mails[0], asks) ||
			!strings.Contains(mails[0], "https://cal.example.org"+p.link(v, "eve@example.com")) ||
			!strings.Contains(mails[1], "https://cal.example.org"+p.link(v, "mia@example.com")) {
			t.Fatalf("mailed: %q", mails)
		}
		b := p.house.browser()
		eve := p.link(v, "eve@example.com")
		b.get(eve+"?zone=America/New_York").shows(http.StatusOK, "Ms ann asks when you have time", "Shoes!", "Lido",
			"Monday 11 May 2026, 03:00 – 04:30", "Tuesday 12 May 2026, 08:00 – 09:00",
			"Saturday 16 May 2026 – Sunday 17 May 2026", "Friday 8 May 2026, 17:59")
		p.give(eve, []string{"maybe", "yes", "no"}, "zone", "America/New_York").
			shows(http.StatusOK, "Your answers are saved", "Yes: 1 · If needed: 0 · No: 0", "03:00").
			hides("eve@example.com")
		everyone := "/poll/" + v.Link
		p.give(everyone, []string{"", "yes", ""}, "name", "Max \u202e<b>", "address", "MAX@example.com").
			shows(http.StatusOK, "Your answers are saved", "Yes: 2")
		p.give(everyone, []string{"yes", "no", "yes"}, "name", "Tom").shows(http.StatusOK, "Your answers are saved")

		page := p.get("polls/"+string(v.ID)).shows(http.StatusOK,
			"Monday 11 May 2026, 09:00 – 10:30 You are busy then. Yes: 1 Tom If needed: 1 Eve",
			"Tuesday 12 May 2026, 14:00 – 15:00 suits most people Yes: 2 Eve, Max <b>",
			"mia@example.com no answer yet", "/poll/"+v.Link)
		// Two people can come at the first time too, but one of them only if needed.
		if strings.Count(page.text(), "suits most people") != 1 {
			t.Errorf("the best times: %s", page.text())
		}
		form := p.get("polls/"+string(v.ID)+"?pick=2").shows(http.StatusOK, "Pick this time", "max@example.com",
			"entered here, not verified")
		guests := []string{"do", "pick", "pick", "2", "version", hiddenField(form, "version")}
		for _, one := range p.at(v).People {
			guests = append(guests, "guest", string(one.ID))
		}
		p.post("polls/"+string(v.ID), guests...).shows(http.StatusOK, "The event is created", "This time was picked")
		uid := p.at(v).UID
		o, err := p.store.ObjectByUID(t.Context(), p.cal.ID, uid)
		p.house.must(err)
		for _, want := range []string{
			"SUMMARY:Walk", "LOCATION:Lido", "DESCRIPTION:Shoes!", "DTSTART;TZID=Europe/Berlin:20260512T140000",
			"DTEND;TZID=Europe/Berlin:20260512T150000", "mailto:eve@example.com", "mailto:mia@example.com",
			"mailto:max@example.com", "ORGANIZER",
		} {
			if !strings.Contains(unfolded(o.Data), want) {
				t.Errorf("the event lacks %s:\n%s", want, o.Data)
			}
		}
		p.house.pass(10 * time.Minute) // invitations wait a little for further changes
		mails = p.outbox()
		if len(mails) != 3 || !strings.HasPrefix(mails[0], "eve@example.com REQUEST") ||
			!strings.HasPrefix(mails[1], "max@example.com REQUEST") {
			t.Errorf("invited: %q", mails)
		}
		b.get(eve).shows(http.StatusOK, "This time was picked: Tuesday 12 May 2026, 08:00").hides("type=\"radio\"")
		b.post(eve, "changes", "1", "time-1", "no").shows(http.StatusUnprocessableEntity, "no more answers")
		b.get(everyone).shows(http.StatusOK, "This time was picked").hides("type=\"radio\"")
	})
}

func unfolded(data []byte) string { return strings.ReplaceAll(string(data), "\r\n ", "") }

// A whole day begins after the evening before, which in the west is the same day in UTC.
func TestPollConflictsOfDaysInTheWest(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		_, err := p.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Timezone: new("America/New_York")})
		p.must(err)
		p.put(callerOf(p.ann), p.cal, object("VEVENT", "d", "Dinner", "DTSTART:20260511T010000Z",
			"DTEND:20260511T013000Z"))
		v := p.create("start-0", "2026-05-10", "start-time-0", "21:00", "end-time-0", "22:00", "start-1", "2026-05-11",
			"start-time-1", "", "start-2", "2080-05-01", "end-2", "2080-05-01")
		p.get("polls/"+string(v.ID)).shows(http.StatusOK, "Sunday 10 May 2026, 21:00 – 22:00 You are busy then.").
			hides("Monday 11 May 2026 You are busy", "2080 You are busy")
	})
}

// Answers from two tabs overwrite nothing, and a form that is sent twice is one answer.
func TestPollAnswersFromTwoTabs(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create()
		eve := p.link(v, "eve@example.com")
		b := p.house.browser()
		first, second := hiddenField(b.get(eve), "changes"), hiddenField(b.get(eve), "changes")
		b.post(eve, "changes", first, "time-1", "yes").shows(http.StatusOK, "Your answers are saved")
		refused := b.post(eve, "changes", second, "time-1", "no", "time-2", "no")
		refused.shows(http.StatusUnprocessableEntity, "changed meanwhile")
		if !strings.Contains(refused.body, `name="time-1" value="yes" checked`) {
			t.Errorf("the present answer is not shown: %s", refused.body)
		}
		b.post(eve, "changes", hiddenField(refused, "changes"), "time-2", "no").
			shows(http.StatusOK, "Your answers are saved")
		one := p.at(v).People[0]
		if one.Answers[1] != rules.Yes || one.Answers[2] != rules.No {
			t.Errorf("the answers are %v", one.Answers)
		}

		everyone := "/poll/" + v.Link
		form := []string{"name", "Tom", "time-1", "yes", "key", hiddenField(b.get(everyone), "key")}
		once := b.post(everyone, form...).shows(http.StatusOK, "Your answers are saved")
		twice := b.post(everyone, form...).shows(http.StatusOK, "Your answers are saved")
		if once.path != twice.path || len(p.at(v).People) != 3 {
			t.Errorf("%s, %s, %d people", once.path, twice.path, len(p.at(v).People))
		}
		// The key of a form cannot become the link of another poll.
		other := p.create("title", "Swim")
		b.post(everyone, "name", "Tim", "time-1", "yes", "key", other.Link).
			shows(http.StatusOK, "Your answers are saved")
		b.get("/poll/"+other.Link).shows(http.StatusOK, "Swim")
	})
}

// Many people answer at the same moment through two processes, and no answer is lost.
func TestPollAnswersAtOnce(t *testing.T) {
	testdb.Each(t, func(t *testing.T, at string) {
		p := newPollster(t, at)
		v := p.create()
		second := *p.Service
		second.Store = housetest.Open(t, at, p.Clock).Store
		const people = 20
		results := make([]error, people)
		var all sync.WaitGroup
		for i := range people {
			with := []*poll.Service{p.Service, &second}[i%2]
			all.Go(func() {
				_, results[i] = with.Answer(t.Context(), v.Link, poll.Reply{
					Name: "Tom", Answers: rules.Answers{1: rules.Yes}, Zone: "UTC", Network: "n",
				})
			})
		}
		all.Wait()
		p.house.must(errors.Join(results...))
		if n := len(p.at(v).Tallies[0].Yes); n != people {
			t.Errorf("%d of %d answers", n, people)
		}
	})
}

// The owner picks in many tabs, through two processes: there is one event, and the poll names it.
func TestPollIsPickedOnce(t *testing.T) {
	testdb.Each(t, func(t *testing.T, at string) {
		p := newPollster(t, at)
		v := p.create()
		second := *p.Service
		other := housetest.Open(t, at, p.Clock)
		second.Store, second.Calendars = other.Store, service.New(other.Middle())
		const picks = 12
		results := make([]error, picks)
		var all sync.WaitGroup
		for i := range picks {
			with := []*poll.Service{p.Service, &second}[i%2]
			all.Go(func() {
				results[i] = with.Pick(t.Context(), p.ann, v.ID, poll.Pick{Version: 1, Time: int64(i%3 + 1)})
			})
		}
		all.Wait()
		won := 0
		for _, err := range results {
			if err == nil {
				won++
			} else if !errors.Is(err, poll.ErrPicked) && !errors.Is(err, poll.ErrChanged) {
				t.Error(err)
			}
		}
		var uids []calendar.UID
		for o, err := range p.store.Objects(t.Context(), p.cal.ID, calendar.ObjectQuery{}) {
			p.house.must(err)
			uids = append(uids, o.UID)
		}
		if now := p.at(v); won != 1 || len(uids) != 1 || now.UID != uids[0] {
			t.Errorf("%d picks succeeded, the events are %v, the poll names %s", won, uids, now.UID)
		}
		p.post("polls/"+string(v.ID), "do", "pick", "pick", "1", "version", "2").
			shows(http.StatusUnprocessableEntity, "has ended already")
	})
}

// Links of removed people, deleted polls and other polls, and links for everyone that are off, look like no link.
func TestPollLinksAreHidden(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create()
		p.house.user("bob")
		bob := p.house.as("bob")
		b := p.house.browser()
		unknown := b.get("/poll/unknown")
		unknown.shows(http.StatusNotFound)
		gone := func(what, path string) {
			t.Helper()
			for _, s := range []shown{b.get(path), b.post(path, "time-1", "yes", "name", "Tom", "changes", "0")} {
				if s.status != http.StatusNotFound || s.body != unknown.body {
					t.Errorf("%s: %d, %s", what, s.status, s.text())
				}
			}
		}
		at := "polls/" + string(v.ID)
		bob.get(at).shows(http.StatusNotFound)
		bob.get(at + "/edit").shows(http.StatusNotFound)
		for _, do := range []string{"pick", "remind", "remove", "cancel", "delete", "save"} {
			bob.post(at, "do", do, "person", string(v.People[0].ID), "pick", "1", "version", "1").
				shows(http.StatusNotFound)
		}
		eve := p.link(v, "eve@example.com")
		other := p.create("title", "Swim")
		// A person of another poll is not removed.
		p.post("polls/"+string(other.ID), "do", "remove", "person", string(v.People[0].ID)).shows(http.StatusOK)
		b.get(eve).shows(http.StatusOK, "Walk")
		p.post(at, "do", "remove", "person", string(v.People[0].ID)).shows(http.StatusOK, "Removed")
		gone("a removed person", eve)

		mia := p.link(v, "mia@example.com")
		p.post(at, append(p.fields("open", "", "people", ""), "version", "1")...).shows(http.StatusOK, "Saved")
		gone("the link for everyone", "/poll/"+v.Link)
		b.get(mia).shows(http.StatusOK, "Walk")
		p.post(at, "do", "delete").shows(http.StatusUnprocessableEntity, "Tick the box")
		b.get(mia).shows(http.StatusOK, "Walk")
		p.post(at, "do", "delete", "sure", "1").shows(http.StatusOK, "Removed")
		gone("a deleted poll", mia)

		disabled := true
		_, err := p.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Disabled: &disabled})
		p.house.must(err)
		gone("a disabled owner", "/poll/"+other.Link)
	})
}

// When a poll is cancelled, the people whom its owner asked get a mail, in the language of their answer or of the poll.
// Addresses that strangers entered get none. A second click mails nothing.
func TestPollCancelIsMailed(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create("people", "Eve <eve@example.com>\nmia@example.com", "language", "fr")
		p.outbox()
		eve := p.house.browser()
		eve.language = "de"
		form := eve.get(p.link(v, "eve@example.com")).shows(http.StatusOK)
		eve.post(p.link(v, "eve@example.com"), "changes", hiddenField(form, "changes"), poll.FieldOf(1), "yes").
			shows(http.StatusOK)
		p.give("/poll/"+v.Link, []string{"yes", "", ""}, "name", "Tom", "address", "tom@example.com")
		for range 2 {
			p.post("polls/"+string(v.ID), "do", "cancel").shows(http.StatusOK, "This poll was cancelled")
		}
		got := strings.Join(p.outbox(), "\n")
		want := "eve@example.com POLL Umfrage abgebrochen: Walk\nMs ann hat die Umfrage zu „Walk“ abgebrochen.\n\n" +
			"mia@example.com POLL Sondage annulé : Walk\nMs ann a annulé le sondage pour « Walk ».\n"
		if got != want {
			t.Errorf("mailed %q, want %q", got, want)
		}
	})
}

// A poll takes no answers after its last day or once it is cancelled. Letters that wait do not ask any more then.
func TestPollCloses(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create()
		cancelled := p.create("title", "Swim")
		eve := p.link(v, "eve@example.com")
		p.post("polls/"+string(cancelled.ID), "do", "cancel").shows(http.StatusOK, "This poll was cancelled")
		b := p.house.browser()
		b.get("/poll/"+cancelled.Link).shows(http.StatusOK, "This poll was cancelled").hides("radio")
		b.post("/poll/"+cancelled.Link, "name", "Tom", "time-1", "yes").
			shows(http.StatusUnprocessableEntity, "no more answers")
		mails := p.outbox()
		if len(mails) != 4 || strings.Count(strings.Join(mails, "\n"), "POLL Poll cancelled: Swim") != 2 {
			t.Errorf("mailed: %q", mails)
		}
		p.give(eve, []string{"yes", "", ""}).shows(http.StatusOK)
		p.house.Set(time.Date(2026, 5, 8, 22, 0, 0, 0, time.UTC)) // midnight in Berlin
		b.get(eve).shows(http.StatusOK, "no more answers").hides("radio")
		b.post(eve, "changes", "1", "time-1", "no").shows(http.StatusUnprocessableEntity, "no more answers")
		p.browser = p.house.as("ann")
		page := p.get("polls/"+string(v.ID)+"?pick=1").shows(http.StatusOK, "no more answers", "Pick this time")
		p.post("polls/"+string(v.ID), "do", "pick", "pick", "1", "version", hiddenField(page, "version")).
			shows(http.StatusOK, "The event is created")
		if got := p.outbox(); len(got) != 0 {
			t.Errorf("nobody was ticked, but invited are %q", got)
		}
	})
}

// The owner changes a poll while people answer: answers stay with their times.
func TestPollIsChanged(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create()
		at := "polls/" + string(v.ID)
		p.give(p.link(v, "eve@example.com"), []string{"yes", "no", "maybe"}).shows(http.StatusOK)
		form := p.get(at+"/edit").shows(http.StatusOK, "Change poll").body
		for _, value := range []string{
			"Walk", "Lido", "2026-05-11", "09:00", "10:30", "2026-05-17", "2026-05-08",
		} {
			if !strings.Contains(form, `value="`+value+`"`) {
				t.Errorf("the form lacks %q", value)
			}
		}
		change := p.fields("start-0", "2026-05-13", "start-3", "2026-05-11", "start-time-3", "09:00", "end-time-3",
			"10:30", "start-1", "", "start-time-1", "", "people", "zoe@example.com, eve@example.com")
		p.post(at, append(change, "version", "1")...).shows(http.StatusOK, "Saved")
		p.post(at, append(change, "version", "1")...).shows(http.StatusUnprocessableEntity, "changed meanwhile")
		v = p.at(v)
		var got []string
		for i, time := range v.Times {
			got = append(got, time.Start.Format("2 ")+string(v.People[0].Answers[time.ID]))
			if time.ID == 2 || i > 0 && v.Times[i-1].Start.After(time.Start) {
				t.Errorf("times: %+v", v.Times)
			}
		}
		if want := "11 yes, 13 , 16 maybe"; strings.Join(got, ", ") != want || len(v.People) != 3 {
			t.Errorf("%s, want %s; %d people", strings.Join(got, ", "), want, len(v.People))
		}
		p.post(at, "do", "pick", "pick", "1", "version", "1").shows(http.StatusUnprocessableEntity, "changed meanwhile")
		p.post(at, "do", "pick", "pick", "2", "version", "2").shows(http.StatusUnprocessableEntity, "changed meanwhile")
	})
}

// Wrong forms get an error and lose nothing.
func TestPollForms(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		for _, c := range []struct{ field, value, want string }{
			{"title", "", "Title: allowed is 1 to 100"},
			{"closes", "2026-04-30", "Choose a last day"},
			{"closes", "soon", "Choose a last day"},
			{"closes", "2027-05-01", "Choose a last day"},
			{"calendar", "elsewhere", "Choose one of your own calendars"},
			{"people", "Eve <eve>", "Eve"},
			{"people", strings.Repeat("a@example.com,", 2) + "b@c@d", "b@c@d"},
			{"start-time-0", "9 o'clock", "Time 1 is incomplete"},
			{"end-1", "2026-05-11", "Time 2 is incomplete"},
			{"start-0", "2026-04-30", "times in the future"},
			{"end-2", "2026-08-17", "Offer 1 to 20"},
			{"shown", "all", "shown"},
		} {
			refused := p.post("polls/new", p.fields(c.field, c.value)...)
			if c.field == "shown" {
				refused.shows(http.StatusUnprocessableEntity)
				continue
			}
			refused.shows(http.StatusUnprocessableEntity, c.want)
			if !strings.Contains(refused.body, "Lido") || !strings.Contains(refused.body, "2026-05-12") {
				t.Errorf("%s: the input is lost", c.field)
			}
		}
		// In Berlin, the clocks skip this time.
		p.house.Set(time.Date(2027, 3, 20, 12, 0, 0, 0, time.UTC))
		p.browser = p.house.as("ann")
		p.post("polls/new", p.fields("closes", "2027-03-21", "start-0", "2027-03-28", "start-time-0", "02:30",
			"end-time-0", "04:30")...).shows(http.StatusUnprocessableEntity, "Time 1 is incomplete")
		more := p.post("polls/new", "do", "more", "title", "Walk", "start-0", "2027-05-11")
		more.shows(http.StatusOK)
		if strings.Count(more.body, "Starts") != 6 || !strings.Contains(more.body, `value="Walk"`) {
			t.Errorf("more rows: %s", more.text())
		}
		// Free times are added after the typed ones, without the times at which the owner is busy.
		p.put(callerOf(p.ann), p.cal, object("VEVENT", "d", "Dentist", "DTSTART:20270512T060000Z",
			"DTEND:20270512T100000Z"))
		free := p.post("polls/new", "do", "suggest", "calendar", string(p.cal.ID), "start-0", "2027-05-11",
			"start-time-0", "16:00", "end-time-0", "16:45").shows(http.StatusOK)
		var offered []string
		for _, row := range startField.FindAllStringSubmatch(free.body, -1) {
			offered = append(offered, row[1])
		}
		want := "2027-05-11 16:00 2027-05-12 12:00 2027-05-12 13:00 2027-05-13 09:00 2027-05-13 10:00 " +
			"2027-05-14 09:00 2027-05-14 10:00"
		if got := strings.Join(offered, " "); got != want {
			t.Errorf("the form with free times offers %s, want %s", got, want)
		}
		// The form for an event leads here.
		p.get("/calendar/new").shows(http.StatusOK, "Find a time by poll")
		p.post("polls/new", "title", "Walk", "start", "2027-05-11", "start-time", "09:00", "guests", "eve@example.com",
			"notes", "Shoes!").shows(http.StatusOK, "eve@example.com", "Shoes!")
		all, err := p.Polls(t.Context(), p.ann)
		if p.house.must(err); len(all) != 0 {
			t.Errorf("there are %d polls", len(all))
		}
		late := p.fields("start-0", "2027-05-11", "start-time-0", "23:00", "end-time-0", "01:00", "start-1", "",
			"start-time-1", "", "start-2", "", "end-2", "", "closes", "2027-03-21")
		p.post("polls/new", late...).shows(http.StatusOK, "Saved",
			"Tuesday 11 May 2027, 23:00 – Wednesday 12 May 2027, 01:00")
	})
}

// Strangers' answers are checked, and their number is limited.
func TestPollAnswersAreRefused(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create()
		everyone := "/poll/" + v.Link
		b := p.house.browser()
		for _, c := range []struct {
			want   string
			fields []string
		}{
			{"Enter your name", []string{"time-1", "yes", "name", " \u202e\x00"}},
			{"Enter your name", []string{"time-1", "yes", "name", strings.Repeat("x", 101)}},
			{"Enter your email address", []string{"time-1", "yes", "name", "Tom", "address", "tom"}},
			{"Enter your email address", []string{
				"time-1", "yes", "name", "Tom", "address", "t@a.example\r\nBcc: x@a.example",
			}},
			{"at least one time", []string{"name", "Tom"}},
			{"at least one time", []string{"name", "Tom", "time-1", "perhaps", "time-9", "yes"}},
		} {
			b.post(everyone, c.fields...).shows(http.StatusUnprocessableEntity, c.want)
		}
		for range 60 {
			_, err := p.Answer(t.Context(), v.Link, poll.Reply{
				Name: "Tom", Answers: rules.Answers{1: rules.Yes}, Network: "one",
			})
			p.house.must(err)
		}
		_, err := p.Answer(t.Context(), v.Link, poll.Reply{
			Name: "Tom", Answers: rules.Answers{1: rules.Yes}, Network: "one",
		})
		if !errors.Is(err, poll.ErrLimit) {
			t.Errorf("the 61st answer of a network: %v", err)
		}
		p.give(everyone, []string{"yes"}, "name", "Tim").shows(http.StatusOK, "Your answers are saved")
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.server.URL+everyone,
			strings.NewReader("name=Tom&time-1=yes"))
		p.house.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		b.send(r).shows(http.StatusForbidden)
	})
}

// Texts of strangers and of the owner do no harm on pages, in mails and in the event.
func TestPollTextsAreInert(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		const evil = "<script>alert(1)</script>\u202e\x00"
		v := p.create("title", evil, "text", evil+"\r\nBcc: x@example.com", "location", evil+"\nDTSTART:20300101",
			"shown", "names", "people", "\"Eve\u202e <i>\" <eve@example.com>")
		p.give("/poll/"+v.Link, []string{"yes", "yes", "yes"}, "name", "<img src=x onerror=alert(1)>\r\nATTENDEE:x",
			"address", "tom@example.com").shows(http.StatusOK)
		b := p.house.browser()
		for _, s := range []shown{
			b.get(p.link(v, "eve@example.com")), p.get("polls"), p.get("polls/" + string(v.ID)),
			p.get("polls/" + string(v.ID) + "?pick=1"), p.get("polls/" + string(v.ID) + "/edit"),
		} {
			s.shows(http.StatusOK).hides("<script>alert", "<img src=x", "<i>", "\u202e", "\x00")
		}
		for _, m := range p.outbox() {
			if strings.ContainsAny(strings.SplitN(m, "\n", 2)[0], "\u202e\x00") || strings.Contains(m, "Bcc") {
				t.Errorf("mailed: %q", m)
			}
		}
		p.house.must(p.Pick(t.Context(), p.ann, v.ID, poll.Pick{
			Version: 1, Time: 1, Guests: []calendar.PollPersonID{p.at(v).People[0].ID, p.at(v).People[1].ID},
		}))
		o, err := p.store.ObjectByUID(t.Context(), p.cal.ID, p.at(v).UID)
		p.house.must(err)
		if !strings.Contains(unfolded(o.Data), "tom@example.com") {
			t.Errorf("the event lacks a guest: %s", o.Data)
		}
		for line := range strings.SplitSeq(unfolded(o.Data), "\r\n") {
			if line == "ATTENDEE:x" || strings.Contains(line, "onerror") || line == "DTSTART:20300101" ||
				strings.HasPrefix(line, "Bcc") ||
				strings.ContainsAny(line, "\u202e\x00") {
				t.Errorf("the event has %q", line)
			}
		}
	})
}

// People see as much of others' answers as the owner allows, in their own language.
func TestPollVisibility(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		for shown, c := range map[string]struct{ has, lacks []string }{
			"counts":  {[]string{"Ja: 1"}, []string{"Eve"}},
			"names":   {[]string{"Ja: 1 (Eve)", "Nein: 1 (Jemand)"}, []string{"mia@"}},
			"nothing": {nil, []string{"Ja: ", "Eve"}},
		} {
			v := p.create("shown", shown, "language", "de")
			p.give(p.link(v, "eve@example.com"), []string{"yes"}).shows(http.StatusOK)
			p.give(p.link(v, "mia@example.com"), []string{"no"}).shows(http.StatusOK)
			p.house.browser().get("/poll/"+v.Link).shows(http.StatusOK, append(c.has, "Zur Not")...).hides(c.lacks...)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.server.URL+"/poll/"+v.Link, nil)
			p.house.must(err)
			r.Header.Set("Accept-Language", "fr")
			p.house.browser().send(r).shows(http.StatusOK, "Si nécessaire")
		}
	})
}

// People without an answer are reminded once a day and three times at most.
func TestPollReminders(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		v := p.create("closes", "2026-05-10")
		at := "polls/" + string(v.ID)
		p.outbox()
		p.get(at).shows(http.StatusOK).hides("Remind people")
		p.post(at, "do", "remind").shows(http.StatusUnprocessableEntity, "Nobody can be reminded now")
		p.give(p.link(v, "eve@example.com"), []string{"yes"}).shows(http.StatusOK)
		p.give("/poll/"+v.Link, []string{"yes"}, "name", "Tom", "address", "tom@example.com").shows(http.StatusOK)
		for range 3 {
			p.house.pass(24 * time.Hour)
			p.browser = p.house.as("ann")
			p.get(at).shows(http.StatusOK, "Remind people without an answer")
			p.post(at, "do", "remind").shows(http.StatusOK, "The reminders are on their way")
			p.post(at, "do", "remind").shows(http.StatusUnprocessableEntity, "Nobody can be reminded now")
			mails := p.outbox()
			if len(mails) != 1 || !strings.HasPrefix(mails[0], "mia@example.com POLL") ||
				!strings.Contains(mails[0], "is waiting for your answer") {
				t.Fatalf("reminded: %q", mails)
			}
		}
		p.house.pass(24 * time.Hour)
		p.browser = p.house.as("ann")
		p.get(at).shows(http.StatusOK).hides("Remind people")
	})
}

// Without mail, the owner passes on the links.
func TestPollWithoutMail(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		p.Root = nil
		p.get("polls/new").shows(http.StatusOK, "This server sends no mail")
		v := p.create()
		if mails := p.outbox(); len(mails) != 0 {
			t.Errorf("mailed: %q", mails)
		}
		p.house.pass(24 * time.Hour)
		p.browser = p.house.as("ann")
		at := "polls/" + string(v.ID)
		p.get(at).shows(http.StatusOK, p.link(v, "eve@example.com"), "/poll/"+v.Link).hides("Remind people")
		p.post(at, "do", "remind").shows(http.StatusUnprocessableEntity, "Nobody can be reminded now")
		p.give(p.link(v, "eve@example.com"), []string{"yes"}).shows(http.StatusOK, "Your answers are saved")
	})
}

// A poll needs an address of its owner only if it invites somebody.
func TestPollOfAnOwnerWithoutAddress(t *testing.T) {
	eachPoll(t, func(p *pollster) {
		bob := p.house.user("bob")
		cal := p.house.made(bob, "Home")
		b := p.house.as("bob")
		b.post("polls/new", p.fields("calendar", string(cal.ID))...).shows(http.StatusOK, "Saved")
		all, err := p.Polls(t.Context(), bob)
		p.house.must(err)
		at := "polls/" + string(all[0].ID)
		b.post(at, "do", "pick", "pick", "3", "version", "1", "guest", string(all[0].People[0].ID)).
			shows(http.StatusUnprocessableEntity, "Add your email address")
		b.post(at, "do", "pick", "pick", "3", "version", "1").shows(http.StatusOK, "The event is created")
		v, err := p.Poll(t.Context(), bob, all[0].ID)
		p.house.must(err)
		o, err := p.store.ObjectByUID(t.Context(), cal.ID, v.UID)
		p.house.must(err)
		if text := string(o.Data); !strings.Contains(text, "DTSTART;VALUE=DATE:20260516") ||
			!strings.Contains(text, "DTEND;VALUE=DATE:20260518") {
			t.Errorf("the event is %s", text)
		}
	})
}
