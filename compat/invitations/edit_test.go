package invitations_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func numbered(n int) string { return strconv.Itoa(n) }

// excluded are the dates that EXDATE takes out.
func excluded(c *component) map[string]bool {
	out := map[string]bool{}
	for _, p := range c.all("EXDATE") {
		for _, at := range p.moments() {
			out[keyOf(at)] = true
		}
	}
	return out
}

// editing is a change of an organizer's text, as a program makes it.
type editing struct {
	*rand.Rand
	*document
	until time.Time
	// others may be invited.
	others []string
}

// edits are the changes. Each says what it did, or nothing where it does not apply.
var edits = map[string]func(*editing) string{
	"title":        (*editing).retitle,
	"place":        (*editing).replace,
	"title of one": (*editing).retitleDay,
	"move":         (*editing).shift,
	"move one":     (*editing).shiftDay,
	"plain":        (*editing).plainDay,
	"take out":     (*editing).takeOut,
	"reinstate":    (*editing).reinstate,
	"shorten":      (*editing).shorten,
	"lengthen":     (*editing).lengthen,
	"reword":       (*editing).reword,
	"bound":        (*editing).rebound,
	"weekday":      (*editing).weekday,
	"extra":        (*editing).extra,
	"add":          (*editing).add,
	"add to one":   (*editing).addDay,
	"remove":       (*editing).remove,
	"remove one":   (*editing).removeDay,
}

func pick[T any](r *rand.Rand, list []T) (item T) {
	if len(list) > 0 {
		item = list[r.IntN(len(list))]
	}
	return item
}

// days are the dates that take place.
func (e *editing) days() []string {
	v := e.see(e.until)
	maps.DeleteFunc(v, func(_ string, i instance) bool { return i.off })
	return v.keys()
}

// day is the override of a date, which is made where there is none.
func (e *editing) day(key string) *component {
	if o := e.override(key); o != nil {
		return o
	}
	series := e.master()
	if series == nil || !series.has("RRULE") {
		return series
	}
	start, _ := series.first("DTSTART")
	at, _ := time.Parse(stampForm, key)
	o := series.clone()
	for _, name := range []string{"RRULE", "EXDATE", "RDATE", "DTEND"} {
		o.del(name)
	}
	o.set(start.named("RECURRENCE-ID").at(at).String())
	o.set(start.at(at).String())
	if end, ok := series.first("DTEND"); ok {
		o.set(end.at(at.Add(series.length())).String())
	}
	e.events = append(e.events, o)
	return o
}

// series is the master if it recurs.
func (e *editing) series() *component {
	if m := e.master(); m != nil && m.has("RRULE") {
		return m
	}
	return nil
}

func (e *editing) word() string { return fmt.Sprintf("%c%d", 'A'+rune(e.IntN(26)), e.IntN(1000)) }

func (e *editing) retitle() string {
	word := e.word()
	for _, c := range e.events {
		c.set("SUMMARY:" + word)
	}
	return "calls it " + word
}

func (e *editing) replace() string {
	word := e.word()
	for _, c := range e.events {
		c.set("LOCATION:" + word)
	}
	return "is in room " + word
}

func (e *editing) retitleDay() string {
	key, word := pick(e.Rand, e.days()), e.word()
	if e.series() == nil || key == "" {
		return ""
	}
	e.day(key).set("SUMMARY:" + word)
	return "calls " + key + " " + word
}

// moved is a component at another time, with its exceptions.
func moved(c *component, by time.Duration) {
	for i, line := range c.lines {
		p := split(line)
		switch p.name {
		case "DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE":
			var values []string
			for _, at := range p.moments() {
				values = append(values, p.at(at.Add(by)).value)
			}
			p.value = strings.Join(values, ",")
			c.lines[i] = p.String()
		}
	}
}

// hours is how far something is moved: never by whole days, so that no date takes the place of another.
func (e *editing) hours() time.Duration { return time.Duration(1+e.IntN(3)) * time.Hour }

func (e *editing) shift() string {
	series := e.master()
	if series == nil || series.byDate() {
		return ""
	}
	by := e.hours()
	if start, _ := series.first("DTSTART"); start.moment().Hour() > 11 {
		by -= 6 * time.Hour
	}
	if r := series.value("RRULE"); strings.Contains(r, "UNTIL") {
		rule := readRule(r)
		start, _ := series.first("DTSTART")
		last := property{value: rule.until, params: start.params}.moment().Add(by)
		rule.until = last.UTC().Format(stampForm)
		series.set("RRULE:" + rule.String())
	}
	for _, c := range e.events {
		moved(c, by)
	}
	return "moves it by " + by.String()
}

func (e *editing) shiftDay() string {
	key := pick(e.Rand, e.days())
	if e.series() == nil || key == "" || e.series().byDate() {
		return ""
	}
	o := e.day(key)
	start, _ := o.first("DTSTART")
	by := e.hours()
	if start.moment().Hour() > 15 {
		by -= 9 * time.Hour
	}
	length := o.length()
	o.set(start.at(start.moment().Add(by)).String())
	if end, ok := o.first("DTEND"); ok {
		o.set(end.at(start.moment().Add(by + length)).String())
	}
	return "moves " + key + " by " + by.String()
}

// overrides are the dates that are described apart.
func (e *editing) overrides() []string {
	var keys []string
	for _, c := range e.events {
		if c.has("RECURRENCE-ID") {
			keys = append(keys, c.key())
		}
	}
	return keys
}

func (e *editing) plainDay() string {
	key := pick(e.Rand, e.overrides())
	if e.series() == nil || key == "" {
		return ""
	}
	e.drop(key)
	return "has " + key + " like all others"
}

func (e *editing) takeOut() string {
	days, series := e.days(), e.series()
	if series == nil || len(days) < 3 {
		return ""
	}
	key := pick(e.Rand, days)
	e.exclude(key)
	return "takes out " + key
}

func (e *editing) exclude(key string) {
	e.drop(key)
	at, _ := time.Parse(stampForm, key)
	start, _ := e.master().first("DTSTART")
	e.master().lines = append(e.master().lines, start.named("EXDATE").at(at).String())
}

func (e *editing) reinstate() string {
	series := e.series()
	if series == nil || !series.has("EXDATE") {
		return ""
	}
	out := excluded(series)
	key := pick(e.Rand, sorted(out))
	delete(out, key)
	series.del("EXDATE")
	for _, k := range sorted(out) {
		e.exclude(k)
	}
	return "takes in again " + key
}

// guests are all who are invited to anything.
func (e *editing) guests() []string {
	who := map[string]bool{}
	for _, c := range e.events {
		organizer, _ := c.first("ORGANIZER")
		for address := range c.invited() {
			if address != organizer.address() {
				who[address] = true
			}
		}
	}
	return sorted(who)
}

func (e *editing) uninvited() string {
	known := e.guests()
	return pick(e.Rand, slices.DeleteFunc(slices.Clone(e.others), func(a string) bool {
		return slices.Contains(known, a)
	}))
}

func invitation(who string) string {
	return "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:" + who
}

func (e *editing) add() string {
	who := e.uninvited()
	if who == "" {
		return ""
	}
	for _, c := range e.events {
		c.lines = append(c.lines, invitation(who))
	}
	return "invites " + who
}

func (e *editing) addDay() string {
	who, key := e.uninvited(), pick(e.Rand, e.days())
	if who == "" || key == "" || e.series() == nil {
		return ""
	}
	o := e.day(key)
	o.lines = append(o.lines, invitation(who))
	return "invites " + who + " to " + key
}

func (e *editing) remove() string {
	known := e.guests()
	if len(known) < 2 {
		return ""
	}
	who := pick(e.Rand, known)
	for _, c := range e.events {
		c.uninvite(who)
	}
	return "does without " + who
}

func (e *editing) removeDay() string {
	key := pick(e.Rand, e.days())
	if key == "" || e.series() == nil {
		return ""
	}
	o := e.day(key)
	here := (&editing{document: &document{events: []*component{o}}}).guests()
	who := pick(e.Rand, here)
	if len(here) < 2 {
		return ""
	}
	o.uninvite(who)
	return "does without " + who + " on " + key
}
