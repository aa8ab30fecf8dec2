package invitations_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

// The steps of ann, who organizes on the server. Each says what was done, or nothing where it does not apply.

func (s *scene) some(r *rand.Rand, all []string) []string {
	list := slices.Clone(all)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:2+r.IntN(len(list)-1)]
}

func (s *scene) create(r *rand.Rand) string {
	if len(s.running(false)) > 1 {
		return ""
	}
	d := s.write(r, s.ann.address(), s.some(r, s.others(nil)))
	if r.IntN(2) == 0 && !d.events[0].byDate() && d.events[0].has("DTEND") {
		return s.createByTool(d)
	}
	w := s.ann.put(s.ann.path+d.uid()+".ics", d)
	if !s.wants("accepted", w.Code == http.StatusCreated, "PUT of a new event: %d %s", w.Code, w.Body) {
		return "PUT"
	}
	s.meet(d, nil)
	return "ann creates by CalDAV: " + short(d)
}

func (s *scene) createByTool(d *document) string {
	e := d.events[0]
	start, _ := e.first("DTSTART")
	end, _ := e.first("DTEND")
	zone := start.params["TZID"]
	if zone == "" {
		zone = "UTC"
	}
	wall := "2006-01-02T15:04:05"
	a := args{
		"calendar_id": s.ann.calendar, "title": "First", "start": start.moment().In(start.place()).Format(wall),
		"end": end.moment().In(start.place()).Format(wall), "timezone": zone, "attendees": sorted(e.invited()),
	}
	if rule := e.value("RRULE"); rule != "" {
		a["rrule"] = rule
	}
	var made struct{ UID string }
	if refused := s.ann.use("create_event", a, &made); !s.wants("accepted", refused == "", "create_event %v: %s", a,
		refused) {
		return "create_event"
	}
	own, _ := s.ann.event(made.UID)
	s.meet(own.document, nil)
	return "ann creates by MCP: " + short(own.document)
}

// changed notes a change of an event of ann's that was kept.
func (s *scene) changed(m *meeting, before *memory, text *document) {
	s.saw(m)
	s.outdate(m)
	if id := s.ann.latest(m.uid); id != before.change {
		before.change = id
		m.undo = before
	}
	s.invite(m, text)
	for address, dates := range m.become(text) {
		if len(dates) > 0 {
			s.note("  asks %s for %s", address, strings.Join(dates, " "))
		}
	}
}

// outdate forgets the undo of the split that made a meeting: it takes back both halves, and only while neither has
// changed since.
func (s *scene) outdate(second *meeting) {
	for _, m := range s.meetings {
		if m.undo != nil && m.undo.second == second.uid {
			m.undo = nil
		}
	}
}

// saw has ann's program look at what she has just written. Answers do not change its Schedule-Tag (RFC 6638 §3.2.10).
func (s *scene) saw(m *meeting) {
	own, there := s.ann.event(m.uid)
	if there {
		m.written, m.tag = own.document, s.ann.ask(http.MethodGet, own.path, "").Header().Get("Schedule-Tag")
	}
}

// before is a meeting as it is, with the latest line of its journal.
func (s *scene) before(m *meeting) *memory {
	r := m.remember()
	r.change = s.ann.latest(m.uid)
	return r
}

func (s *scene) edit(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil {
		return ""
	}
	own, there := s.ann.event(m.uid)
	if !there {
		return ""
	}
	if r.IntN(3) == 0 {
		own.document = m.written // the program has not seen the answers since
	}
	e := &editing{Rand: r, document: own.clone(), until: m.until, others: s.others(m)}
	did := edits[pick(r, sorted(edits))](e)
	if did == "" || len(e.guests()) == 0 {
		return ""
	}
	before := s.before(m)
	w := s.ann.ask(http.MethodPut, own.path, e.String(), "If-Schedule-Tag-Match", m.tag)
	if !s.wants("accepted", w.Code < 300, "PUT: %d %s\n%s", w.Code, w.Body, e.document) {
		return did
	}
	s.changed(m, before, e.document)
	return "ann by CalDAV " + did
}

// tool calls one about a date of a meeting, and takes over what the organizer's event is then.
func (s *scene) tool(m *meeting, name string, a args) {
	before := s.before(m)
	var made struct{ UID string }
	a["calendar_id"], a["event_uid"] = s.ann.calendar, m.uid
	refused := s.ann.use(name, a, &made)
	if strings.Contains(refused, "an extra one beside the rule") && a["scope"] == "following" &&
		m.text.adds(a["recurrence_id"]) {
		return // a rule cannot begin at a date that it does not have
	}
	if !s.wants("accepted", refused == "", "%s %v: %s", name, a, refused) {
		return
	}
	own, there := s.ann.event(m.uid)
	switch {
	case !there && name == "delete_event":
		before.change = s.ann.latest(m.uid)
		s.outdate(m)
		m.cancelled, m.undo = true, before
	case there:
		s.changed(m, before, own.document)
	}
	if made.UID != "" && made.UID != m.uid {
		s.halve(before, made.UID)
	}
}

// halve notes the second half of a split: the answers to times that stay go along.
func (s *scene) halve(before *memory, uid string) {
	own, there := s.ann.event(uid)
	if !there {
		s.differs("organizer's dates", "the second half is not there")
		return
	}
	second := s.meet(own.document, nil)
	second.until = before.until
	second.now = own.see(second.until)
	before.second = uid
	for address, g := range second.guests {
		was := before.guests[address]
		if was == nil {
			continue
		}
		g.person, g.whole = was.person, was.whole
		for key := range g.answers {
			i, known := before.now.of(address)[key]
			if known && i.sameTime(second.now[key]) {
				g.answers[key] = was.answers[key]
				g.eitherHidden[key] = was.hidden[key] || was.gone
				g.hidden[key] = g.eitherHidden[key]
			}
		}
		g.eitherWhole = true
	}
	s.oneRequest(second)
}

func (s *scene) oneRequest(m *meeting) {
	for address, g := range m.guests {
		if g.person == nil {
			continue
		}
		n := 0
		for _, message := range g.person.messages(m.uid) {
			if message.method() == "REQUEST" {
				n++
			}
		}
		s.wants("one request", n <= 1, "%s got %d", address, n)
	}
}

// scoped are a date and a scope.
func (s *scene) scoped(r *rand.Rand, m *meeting) args {
	if len(m.text.events) == 1 && !m.text.events[0].has("RRULE") {
		return args{}
	}
	return args{
		"recurrence_id": m.id(pick(r, m.now.live().keys())), "scope": pick(r, []string{"this", "following", "all"}),
	}
}

func (s *scene) patchByTool(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil {
		return ""
	}
	a := s.scoped(r, m)
	word := (&editing{Rand: r}).word()
	a[pick(r, []string{"title", "location"})] = word
	s.tool(m, "patch_event", a)
	return "ann by MCP patch_event " + inWords(a)
}

func (s *scene) moveByTool(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil {
		return ""
	}
	if m.text.events[0].byDate() {
		return ""
	}
	a := s.scoped(r, m)
	key, _ := a["recurrence_id"].(string)
	if key == "" {
		key = pick(r, m.now.live().keys())
	}
	at := m.now[key].start
	by := (&editing{Rand: r}).hours()
	if at.Hour() > 14 {
		by -= 9 * 3600e9
	}
	a["new_start"] = at.Add(by).Format("2006-01-02T15:04:05Z07:00")
	s.tool(m, "move_event", a)
	return "ann by MCP move_event " + inWords(a)
}

func (s *scene) deleteByTool(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil {
		return ""
	}
	a := s.scoped(r, m)
	if a["scope"] == "all" && r.IntN(3) > 0 {
		return ""
	}
	s.tool(m, "delete_event", a)
	return "ann by MCP delete_event " + inWords(a)
}

// peopleByTool changes who is invited to all of an event: to each date, also to those that are described apart.
func (s *scene) peopleByTool(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil {
		return ""
	}
	e := &editing{Rand: r, document: m.text.clone(), until: m.until, others: s.others(m)}
	a, who := args{}, e.uninvited()
	if m.text.master() != nil && m.text.master().has("RRULE") {
		a["scope"] = "all"
	}
	if who != "" && r.IntN(2) == 0 {
		a["add_attendees"] = []string{who}
		for _, c := range e.events {
			c.lines = append(c.lines, invitation(who))
		}
	} else if known := e.guests(); len(known) > 1 {
		who = pick(r, known)
		a["remove_attendees"] = []string{who}
		for _, c := range e.events {
			c.uninvite(who)
		}
	} else {
		return ""
	}
	before := s.before(m)
	a["calendar_id"], a["event_uid"] = s.ann.calendar, m.uid
	if refused := s.ann.use("patch_event", a, nil); s.wants("accepted", refused == "", "patch_event %v: %s", a,
		refused) {
		s.changed(m, before, e.document)
	}
	return "ann by MCP patch_event " + inWords(a)
}

func (s *scene) deleteByPath(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil || r.IntN(3) > 0 {
		return ""
	}
	own, there := s.ann.event(m.uid)
	if !there {
		return ""
	}
	before := s.before(m)
	w := s.ann.ask(http.MethodDelete, own.path, "")
	if s.wants("accepted", w.Code < 300, "DELETE: %d %s", w.Code, w.Body) {
		before.change = s.ann.latest(m.uid)
		s.outdate(m)
		m.cancelled, m.undo = true, before
	}
	return "ann by CalDAV deletes it"
}

func (s *scene) takeBack(r *rand.Rand) string {
	var all []*meeting
	for _, m := range s.meetings {
		if m.undo != nil && m.undo.change != "" {
			all = append(all, m)
		}
	}
	m := pick(r, all)
	if m == nil {
		return ""
	}
	refused := s.ann.use("undo_change", args{"change_id": m.undo.change}, nil)
	if strings.Contains(refused, "makes no difference") && m.undo.now.shows(m.now) {
		m.undo = nil
		return "ann takes back what changed nothing"
	}
	if !s.wants("accepted", refused == "", "undo_change: %s", refused) {
		return "undo"
	}
	for _, second := range s.meetings {
		if second.uid == m.undo.second {
			second.cancelled, second.undo = true, nil
		}
	}
	m.restore()
	s.saw(m)
	return "ann takes the latest change back"
}
