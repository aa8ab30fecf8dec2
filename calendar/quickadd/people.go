package quickadd

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// readCalendar reads "#Work". The longest name that follows is meant; an unknown one stays in the title.
func (p *parser) readCalendar() {
	for i, w := range p.words {
		if !strings.HasPrefix(w.raw, "#") {
			continue
		}
		best, end := "", 0
		for _, name := range p.Calendars {
			for _, form := range forms(name) {
				if n := len(form); startsWith(p.text[w.from+1:], form) && w.from+1+n > end {
					best, end = name, w.from+1+n
				}
			}
		}
		if best == "" {
			continue
		}
		p.event.Calendar = best
		for at := i; at < len(p.words) && p.words[at].from < end; at++ {
			p.kinds[at] = Calendar
		}
		return
	}
}

// forms are the ways to write a calendar's name after a #.
func forms(name string) []string {
	return []string{name, `"` + name + `"`, strings.ReplaceAll(name, " ", "-"), strings.ReplaceAll(name, " ", "")}
}

// startsWith reports whether a text starts with a name, whose last word ends there.
func startsWith(text, name string) bool {
	if name == "" || len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[len(name):])
	return len(text) == len(name) ||
		!unicode.IsLetter(next) && !unicode.IsDigit(next) && !strings.ContainsRune("-_&\uFFFD", next)
}

var mailAddress = regexp.MustCompile(`^<?([^\s<>,;"@]+@[^\s<>,;"@]+\.[^\s<>,;"@]+?)>?$`)

// readGuests reads mail addresses, with the words that lead to them.
func (p *parser) readGuests() {
	for i := 0; i < len(p.words); i++ {
		if !mailAddress.MatchString(p.words[i].raw) {
			continue
		}
		start, next := i, i
		for {
			m := mailAddress.FindStringSubmatch(p.words[next].raw)
			p.event.Guests = append(p.event.Guests, m[1])
			p.kinds[next] = Guest
			next++
			at := p.skip(p.skip(next, ",", ";"), "and")
			if at >= len(p.words) || p.kinds[at] != "" || !mailAddress.MatchString(p.words[at].raw) {
				break
			}
			p.take(next, at, Guest)
			next = at
		}
		more := p.is(next, "and") && next+1 < len(p.words) && !strings.HasPrefix(p.words[i].raw, "<")
		switch {
		case strings.HasPrefix(p.words[start].raw, "<"):
			// "Ana <ana@example.com>": the name is part of the title.
		case p.is(start-1, "with", "and", ",") && !more, p.is(start-1, "invite") && !p.is(next, "to"):
			p.take(start-1, start, Guest)
		case more:
			// "with ana@example.com and Bob": Bob stays in the title, after "with".
			p.take(next, next+1, Guest)
		}
		i = next - 1
	}
}

// readReminder reads "remind me 10 minutes before", "10 minute reminder", and in German "10 Minuten vorher erinnern".
func (p *parser) readReminder() {
	for _, read := range [...]func(int) (span, int, bool){p.remindBefore, p.beforeRemind} {
		for i := range p.words {
			if !p.starts(i) {
				continue
			}
			start := p.skip(p.skip(i, ",", "and"), "with")
			// Not the A of "Q&A".
			if p.is(start, "a") && p.raw(start) == strings.ToLower(p.raw(start)) {
				start++
			}
			if s, next, ok := read(start); ok {
				p.event.Reminder = s.duration()
				p.take(i, next, Remind)
				return
			}
		}
	}
}

func (p *parser) remindBefore(i int) (span, int, bool) {
	if !p.is(i, "remind") {
		return span{}, i, false
	}
	s, next, ok := p.span(p.skip(i+1, "me", ":"))
	return s, p.skip(next, "before", "ahead"), ok
}

func (p *parser) beforeRemind(i int) (span, int, bool) {
	s, next, ok := p.span(i)
	next = p.skip(next, "before", "ahead")
	if !ok || !p.is(next, "remind") || p.is(i-1, "for") {
		return span{}, i, false
	}
	return s, p.skip(next+1, "me"), true
}

// readPlace reads "at Lido" and "@ Lido". Other prepositions lead to a place only after the day or the time. A place
// ends before another part, and before "with" and "for".
func (p *parser) readPlace() {
	for i := range p.words {
		if !p.starts(i) || !p.leadsToPlace(i) {
			continue
		}
		start := i + 1
		if raw := p.raw(start); raw == "the" || p.tongue.articles[strings.ToLower(raw)] {
			start++
		}
		end := start
		for end < len(p.words) && p.kinds[end] == "" && !p.is(end, "with", "for", "about", ";", ".", "(") {
			if p.is(end, ",") && !p.address(end+1) {
				break
			}
			end++
		}
		if end == start || p.words[start].mark ||
			!strings.ContainsFunc(p.text[p.words[start].from:p.words[end-1].to], unicode.IsLetter) {
			continue
		}
		p.event.Place = strings.TrimSpace(p.text[p.words[start].from:p.words[end-1].to])
		p.take(i, end, Place)
		return
	}
}

func (p *parser) raw(i int) string {
	if i < len(p.words) && p.kinds[i] == "" {
		return p.words[i].raw
	}
	return ""
}

// leadsToPlace reports whether a preposition starts a place.
func (p *parser) leadsToPlace(i int) bool {
	if p.is(i, "@") {
		return true
	}
	read := i > 0 && (p.kinds[i-1] != "" || p.is(i-1, ",") && i > 1 && p.kinds[i-2] != "")
	raw := strings.ToLower(p.raw(i))
	switch {
	case raw == "at" && !p.tongue.own:
		return read || p.address(i+1)
	case raw == "in" && !p.tongue.own, p.tongue.places[raw]:
		return read
	}
	return false
}

// address reports whether a word begins like a name or a number.
func (p *parser) address(i int) bool {
	first, _ := utf8.DecodeRuneInString(p.raw(i))
	return unicode.IsUpper(first) || unicode.IsDigit(first)
}
