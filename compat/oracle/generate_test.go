package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// calendarZone is where dates and floating times are.
const calendarZone = "Europe/Berlin"

// era is years that are looked at. Nothing of the text is after the horizon but what no rule ends.
type era struct {
	opening, horizon time.Time
	zones            []string
}

// eraAt is an era of a year and a half.
func eraAt(year int, zones []string) era {
	return era{time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(year+1, 7, 1, 0, 0, 0, 0, time.UTC), zones}
}

// opening is what the server takes for today.
var opening = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// present is what everybody looks at.
func present() era { return eraAt(2026, zones) }

// skipped is when Samoa and Tokelau left a day out, and others changed their clocks as they no longer do.
func skipped() era {
	return eraAt(2011, []string{
		"Pacific/Apia", "Pacific/Apia", "Pacific/Fakaofo", "Europe/Moscow", "Africa/Casablanca", "Asia/Gaza",
		"Europe/Berlin",
	})
}

// zones have every oddity of these years; two are known by their VTIMEZONE alone.
var zones = []string{
	"Europe/Berlin", "America/New_York", "Europe/Dublin", "Australia/Lord_Howe", "America/Havana", "Asia/Kathmandu",
	"Africa/Casablanca",
	"Antarctica/Troll", "Pacific/Chatham", "America/Nuuk", "Asia/Beirut", "Africa/Cairo", "Pacific/Apia",
	"America/Santiago",
	"Custom/Odd", "/example.org/20260101/Europe/Paris", "W. Europe Standard Time",
}

func load(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return loc
}

func placeOf(name string) place {
	switch name {
	case "Custom/Odd":
		const definition = "BEGIN:VTIMEZONE\nTZID:Custom/Odd\nBEGIN:STANDARD\nDTSTART:19700101T000000\n" +
			"TZOFFSETFROM:+0545\nTZOFFSETTO:+0545\nEND:STANDARD\nEND:VTIMEZONE\n"
		return place{tzid: name, loc: time.FixedZone(name, (5*60+45)*60), definition: definition}
	case "/example.org/20260101/Europe/Paris":
		return place{tzid: name, loc: load("Europe/Paris")}
	case "W. Europe Standard Time":
		return place{tzid: name, loc: load("Europe/Berlin")}
	}
	return place{tzid: name, loc: load(name)}
}

// generator makes series, the same ones for the same seed.
type generator struct {
	*rand.Rand
	era
	n int
}

func newGenerator(seed uint64, of era) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 5545)), era: of}
}

func (g *generator) odds(n int) bool { return g.IntN(n) == 0 }

func (g *generator) place() place {
	switch g.IntN(10) {
	case 0:
		return place{loc: time.UTC}
	case 1:
		return place{loc: load(calendarZone), floating: true}
	case 2, 3:
		return place{loc: load(calendarZone), days: true}
	}
	return placeOf(g.zones[g.IntN(len(g.zones))])
}

// series makes one with whatever RFC 5545 has.
func (g *generator) series() series {
	g.n++
	s := series{uid: fmt.Sprintf("series-%d", g.n), title: fmt.Sprintf("Series %d", g.n), place: g.place()}
	s.start = g.opening.AddDate(0, 0, g.IntN(420)).Add(time.Duration(g.IntN(24*4)) * 15 * time.Minute)
	if g.odds(3) {
		s.start = g.nearChange(s.place, s.start)
	}
	s.length, s.ended = g.length(s.place)
	if s.place.days {
		s.start = s.start.Truncate(24 * time.Hour)
	}
	for range g.IntN(5) / 2 {
		s.rules = append(s.rules, g.rule(s))
	}
	if len(s.rules) > 1 && !g.odds(4) {
		s.rules = s.rules[:1]
	}
	if g.odds(5) {
		s.exrules = append(s.exrules, g.rule(s))
	}
	for range g.IntN(4) / 2 * g.IntN(3) {
		d := date{wall: s.start.AddDate(0, 0, g.IntN(200)).Add(time.Duration(g.IntN(3)) * time.Hour)}
		if s.place.days {
			d.wall = d.wall.Truncate(24 * time.Hour)
		} else if g.odds(3) && !s.place.floating {
			d.period = time.Duration(1+g.IntN(9)) * 20 * time.Minute
		}
		s.dates = append(s.dates, d)
	}
	g.exceptions(&s)
	return s
}

// nearChange is a time within two hours of a change of the clocks, if there is one soon.
func (g *generator) nearChange(p place, w time.Time) time.Time {
	_, end := w.In(p.loc).ZoneBounds()
	if end.IsZero() || end.After(g.horizon) {
		return w
	}
	return p.shows(end.Add(time.Duration(g.IntN(17)-8) * 15 * time.Minute))
}

func (g *generator) length(p place) (lasting, bool) {
	if p.days {
		return lasting{days: 1 + g.IntN(3)}, g.odds(2)
	}
	switch g.IntN(5) {
	case 0:
		return lasting{days: 1 + g.IntN(2), exact: time.Duration(g.IntN(3)) * time.Hour}, false
	case 1:
		return lasting{}, false
	}
	exact := time.Duration(1+g.IntN(12)) * 30 * time.Minute
	return lasting{exact: exact}, !p.floating && g.odds(2)
}

func (g *generator) numbers(n, low, high int) []int {
	var list []int
	for range 1 + g.IntN(n) {
		if v := low + g.IntN(high-low+1); v != 0 {
			list = append(list, v)
		}
	}
	return list
}

func (g *generator) rule(s series) rule {
	freqs := []string{"DAILY", "DAILY", "WEEKLY", "WEEKLY", "MONTHLY", "YEARLY", "HOURLY"}
	r := rule{freq: freqs[g.IntN(len(freqs))], interval: 1, wkst: time.Monday}
	if s.place.days && r.freq == "HOURLY" {
		r.freq = "DAILY"
	}
	if g.odds(2) {
		r.interval = 1 + g.IntN(4)
	}
	if r.freq == "HOURLY" {
		r.interval = 2 + g.IntN(11)
	}
	if g.odds(4) {
		r.wkst = time.Weekday(g.IntN(7))
	}
	g.parts(&r, s)
	switch g.IntN(3) {
	case 0:
		r.count = 1 + g.IntN(40)
	case 1:
		r.until = s.start.AddDate(0, 0, g.IntN(300))
		if r.untilUTC = !s.place.days && !s.place.floating; r.untilUTC {
			r.until = s.place.at(r.until)
		}
	}
	return r
}

func (g *generator) parts(r *rule, s series) {
	if g.odds(4) {
		r.months = g.numbers(4, 1, 12)
	}
	if g.odds(3) && r.freq != "HOURLY" && r.freq != "YEARLY" {
		for range 1 + g.IntN(3) {
			d := nthDay{day: time.Weekday(g.IntN(7))}
			if r.freq == "MONTHLY" && g.odds(2) {
				d.n = []int{1, 2, 3, 4, 5, -1, -2}[g.IntN(7)]
			}
			r.days = append(r.days, d)
		}
	}
	switch {
	case r.freq == "YEARLY" && g.odds(4):
		r.yearDays = g.numbers(3, -366, 366)
	case r.freq == "YEARLY" && g.odds(3):
		r.days = append(r.days, nthDay{n: 1 + g.IntN(5), day: time.Weekday(g.IntN(7))})
	case r.freq != "WEEKLY" && g.odds(4):
		r.monthDays = g.numbers(3, -31, 31)
	}
	if !s.place.days && g.odds(5) {
		r.hours = g.numbers(3, 1, 23)
	}
	if (len(r.days)+len(r.monthDays)+len(r.hours) > 0) && r.freq != "HOURLY" && g.odds(4) {
		r.setPos = g.numbers(2, -3, 3)
	}
}

// exceptions takes some instances away, and changes others.
func (g *generator) exceptions(s *series) {
	list := s.made(g.horizon)
	for range min(len(list), 2) {
		if g.odds(3) {
			s.excluded = append(s.excluded, s.place.shows(list[g.IntN(len(list))].id))
		}
	}
	if list = s.made(g.horizon); len(list) < 2 || len(s.rules)+len(s.dates) == 0 {
		return
	}
	used := map[int]bool{}
	for range g.IntN(5) / 2 {
		i := 1 + g.IntN(len(list)-1)
		if used[i] || len(s.place.all(s.place.shows(list[i].id))) != 1 {
			continue // twice, or on no clock: nothing but UTC names it
		}
		used[i] = true
		o := override{id: list[i].id, title: fmt.Sprintf("Changed %d", i), length: s.length, future: g.odds(3)}
		o.start = s.place.shows(list[i].id).Add(time.Duration(g.IntN(9)-4) * time.Hour)
		if s.place.days {
			o.start = s.place.shows(list[i].id).AddDate(0, 0, g.IntN(3)-1)
		}
		s.overrides = append(s.overrides, o)
	}
}

// The text.

func (p place) write(name string, w time.Time) string {
	const local = "20060102T150405"
	switch {
	case p.days:
		return name + ";VALUE=DATE:" + w.Format("20060102") + "\n"
	case p.floating:
		return name + ":" + w.Format(local) + "\n"
	case p.tzid == "":
		return name + ":" + w.Format(local) + "Z\n"
	}
	return name + ";TZID=" + p.tzid + ":" + w.Format(local) + "\n"
}

func (l lasting) text(start string, s series) string {
	// What a DTEND names is the end of the first instance; all last as long in time. No local time names the
	// second of two equal hours.
	end := l.end(s.place, s.place.at(s.start))
	if w := s.place.shows(end); s.ended && s.place.at(w).Equal(end) {
		return start + s.place.write("DTEND", w)
	}
	if l == (lasting{}) {
		return start
	}
	return start + fmt.Sprintf("DURATION:P%dDT%dM\n", l.days, int(l.exact.Minutes()))
}

func joined[T any](name string, list []T, write func(T) string) string {
	var words []string
	for _, v := range list {
		words = append(words, write(v))
	}
	if len(words) == 0 {
		return ""
	}
	return ";" + name + "=" + strings.Join(words, ",")
}

func plain(n int) string { return fmt.Sprint(n) }

func (r rule) text(name string, p place) string {
	t := fmt.Sprintf("%s:FREQ=%s;INTERVAL=%d;WKST=%s", name, r.freq, r.interval, dayWord(r.wkst))
	t += joined("BYMONTH", r.months, plain) + joined("BYYEARDAY", r.yearDays, plain) +
		joined("BYMONTHDAY", r.monthDays, plain) +
		joined("BYDAY", r.days, func(d nthDay) string {
			if d.n == 0 {
				return dayWord(d.day)
			}
			return plain(d.n) + dayWord(d.day)
		}) + joined("BYHOUR", r.hours, plain) + joined("BYSETPOS", r.setPos, plain)
	switch {
	case r.count > 0:
		t += fmt.Sprintf(";COUNT=%d", r.count)
	case r.untilUTC:
		t += r.until.UTC().Format(";UNTIL=20060102T150405Z")
	case p.days && !r.until.IsZero():
		t += r.until.Format(";UNTIL=20060102")
	case !r.until.IsZero():
		t += r.until.Format(";UNTIL=20060102T150405")
	}
	return t + "\n"
}

func dayWord(d time.Weekday) string { return strings.ToUpper(d.String()[:2]) }

func (s series) text() string {
	head := "BEGIN:VEVENT\nUID:" + s.uid + "\nDTSTAMP:20260101T000000Z\n"
	t := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//oracle//EN\n" + s.place.definition + head + "SUMMARY:" + s.title +
		"\n"
	t += s.length.text(s.place.write("DTSTART", s.start), s)
	for _, r := range s.rules {
		t += r.text("RRULE", s.place)
	}
	for _, r := range s.exrules {
		t += r.text("EXRULE", s.place)
	}
	for _, d := range s.dates {
		if d.period == 0 {
			t += s.place.write("RDATE", d.wall)
			continue
		}
		t += strings.TrimSuffix(strings.Replace(s.place.write("RDATE", d.wall), "RDATE", "RDATE;VALUE=PERIOD", 1),
			"\n") +
			fmt.Sprintf("/PT%dM\n", int(d.period.Minutes()))
	}
	for _, w := range s.excluded {
		t += s.place.write("EXDATE", w)
	}
	t += "END:VEVENT\n"
	for _, o := range s.overrides {
		name := "RECURRENCE-ID"
		if o.future {
			name += ";RANGE=THISANDFUTURE"
		}
		one := s
		one.start = o.start
		t += head + "SUMMARY:" + o.title + "\n" + s.place.write(name, s.place.shows(o.id)) +
			o.length.text(s.place.write("DTSTART", o.start), one) + "END:VEVENT\n"
	}
	return strings.ReplaceAll(t+"END:VCALENDAR\n", "\n", "\r\n")
}
