package invitations_test

import (
	"maps"
	"slices"
	"time"
)

// The answers that the walk gives. NEEDS-ACTION is what has none.
const (
	open     = "NEEDS-ACTION"
	accepted = "ACCEPTED"
	declined = "DECLINED"
	maybe    = "TENTATIVE"
)

// guest is what the model knows of one attendee of one meeting.
type guest struct {
	address string
	// person is the user of the server, nil for a guest elsewhere; machine is such a guest's program, or, where the
	// organizer is elsewhere, what a user has been told.
	person  *person
	machine *machine
	// whole is the answer to the series, answers those to each date.
	whole   string
	answers map[string]string
	// stamps are the DTSTAMPs of the latest replies by mail to each date.
	stamps map[string]time.Time
	// told is what was mailed of each date to an organizer elsewhere.
	told map[string]string
	// hidden are the dates that the guest took out of their own copy. To do so is to decline (RFC 6638 §3.2.2.3).
	hidden map[string]bool
	// eitherHidden are dates that may be hidden or shown: nothing says which.
	eitherHidden map[string]bool
	// eitherAnswer are dates of which the answer may be one of two: the server's choice is taken over.
	eitherAnswer map[string]string
	// eitherWhole is set when the answer to the series may have been reset.
	eitherWhole bool
	// sequence is that of the series in the guest's copy.
	sequence int
	// gone is set when the guest deleted the whole event.
	gone bool
}

func newGuest(address string) *guest {
	return &guest{
		address: address, whole: open, answers: map[string]string{}, stamps: map[string]time.Time{},
		told: map[string]string{}, hidden: map[string]bool{}, eitherHidden: map[string]bool{},
		eitherAnswer: map[string]string{},
	}
}

// copy is the guest's state now.
func (g *guest) copy() *guest {
	c := *g
	c.answers, c.stamps, c.hidden = maps.Clone(g.answers), maps.Clone(g.stamps), maps.Clone(g.hidden)
	c.told = maps.Clone(g.told)
	c.eitherHidden, c.eitherAnswer = maps.Clone(g.eitherHidden), maps.Clone(g.eitherAnswer)
	if g.machine != nil {
		c.machine = g.machine.copy()
	}
	return &c
}

// of is the part of a view that concerns an attendee.
func (v view) of(who string) view {
	own := view{}
	for key, i := range v {
		if _, invited := i.who[who]; invited && !i.off {
			own[key] = i
		}
	}
	return own
}

// change moves the guest from one state of the event to the next. An answer holds while the time of its date does; a
// date that is new, that comes back or that is moved asks (RFC 6638 §3.2.8). Of a date that had other attendees only,
// the answer to the series may hold: it speaks for each date that has no component of its own.
func (g *guest) change(all, after view) (asks []string) {
	before, after := all.of(g.address), after.of(g.address)
	g.eitherHidden, g.eitherAnswer = map[string]bool{}, map[string]string{}
	answers, hidden := map[string]string{}, map[string]bool{}
	for key, now := range after {
		was, known := before[key]
		if known && was.sameTime(now) {
			answers[key], hidden[key] = g.answers[key], g.hidden[key]
			continue
		}
		answers[key] = open
		if others, there := all[key]; there && !known && !others.off && others.sameTime(now) {
			g.eitherAnswer[key] = g.whole
		}
		asks = append(asks, key)
		delete(g.stamps, key)
	}
	g.answers, g.hidden = answers, hidden
	if len(asks) > bound && len(asks) < len(answers) {
		g.startOver(asks)
	}
	if len(asks) > 0 {
		g.eitherWhole = true
		if g.gone {
			g.returned(asks)
		}
	}
	slices.Sort(asks)
	return asks
}

// bound is how many new dates at once may have the whole series ask.
const bound = 25

// startOver lets a server ask for everything where very many dates are new.
func (g *guest) startOver(asks []string) {
	for key := range g.answers {
		if !slices.Contains(asks, key) {
			g.eitherAnswer[key] = open
			g.eitherHidden[key] = g.hidden[key]
		}
	}
}

// returned has a guest who deleted the event hear of dates that are new. Whether the others come back with them is
// open.
func (g *guest) returned(asks []string) {
	g.gone = false
	for key := range g.answers {
		if !slices.Contains(asks, key) {
			g.eitherHidden[key] = true
		}
	}
}

// answerAll is an answer to the series: dates with another answer of their own keep it, and so do dates that were taken
// out.
func (g *guest) answerAll(part string) {
	for key, was := range g.answers {
		if !g.hidden[key] && (was == open || was == g.whole) {
			g.answers[key] = part
		}
	}
	g.whole = part
}

// answerEach is an answer to the series and to each date that is shown.
func (g *guest) answerEach(part string) {
	for key := range g.answers {
		if !g.hidden[key] {
			g.answers[key] = part
		}
	}
	g.whole = part
}

// leave is the deletion of the whole event by the guest.
func (g *guest) leave() {
	for key := range g.answers {
		g.answers[key] = declined
	}
	g.whole, g.gone = declined, true
}

// shown are the dates that the guest's calendar shows.
func (g *guest) shown(all view) view {
	own := view{}
	if g.gone {
		return own
	}
	for key, i := range all.of(g.address) {
		if !g.hidden[key] {
			own[key] = i
		}
	}
	return own
}

// meeting is an event with guests.
type meeting struct {
	uid string
	// text is the organizer's event, and now what it shows.
	text  *document
	now   view
	until time.Time
	// written is the text after the organizer's latest change, and tag its Schedule-Tag.
	written *document
	tag     string
	// guests are by address.
	guests map[string]*guest
	// sequences are the highest that each date, and the series (""), has had.
	sequences map[string]int
	// fresh are the dates that the latest change made new or moved.
	fresh     []string
	cancelled bool
	// undo is what was before the organizer's latest change.
	undo *memory
	// elsewhere is the organizer's program where they have no account here.
	elsewhere *organizer
}

// id is a date as tools name it.
func (m *meeting) id(key string) string {
	if m.text.events[0].byDate() {
		return key[:len(dayForm)]
	}
	return key
}

// memory is a meeting before a change, and the line of the journal that the change has.
type memory struct {
	change    string
	text      *document
	now       view
	guests    map[string]*guest
	cancelled bool
	until     time.Time
	second    string // the UID of the half that a split made
}

func (m *meeting) remember() *memory {
	r := &memory{text: m.text, now: m.now, guests: map[string]*guest{}, cancelled: m.cancelled, until: m.until}
	for address, g := range m.guests {
		r.guests[address] = g.copy()
	}
	return r
}

// people are the addresses of all guests, in order.
func (m *meeting) people() []string { return slices.Sorted(mapKeys(m.guests)) }

// become takes a new state of the organizer's event in, and says who is asked for which dates.
func (m *meeting) become(text *document) map[string][]string {
	after := text.see(m.until)
	asks := map[string][]string{}
	for _, address := range m.people() {
		asks[address] = m.guests[address].change(m.now, after)
	}
	m.freshen(after)
	m.text, m.now = text, after
	return asks
}

// freshen notes which dates are new or at another time.
func (m *meeting) freshen(after view) {
	for key, i := range after.live() {
		if was, known := m.now.live()[key]; !known || !was.sameTime(i) {
			m.fresh = append(m.fresh, key)
		}
	}
}

// restore is the undo of the latest change: what is shown is as before, and so are the answers to the times that come
// back. What was answered since to a time that stayed is kept.
func (m *meeting) restore() {
	r := m.undo
	for address, g := range m.guests {
		was, before, after := r.guests[address], m.now, r.now
		if was == nil {
			continue
		}
		g.change(before, after)
		for key := range g.answers {
			i, known := before.of(address)[key]
			if !known || !i.sameTime(after[key]) {
				g.answers[key], g.hidden[key] = was.answers[key], was.hidden[key]
				g.eitherHidden[key] = was.hidden[key]
			}
			if m.cancelled || was.gone {
				g.eitherHidden[key] = g.hidden[key] || was.gone
			}
		}
		if m.cancelled || was.gone {
			g.gone = false
		}
		g.eitherWhole = true
	}
	m.freshen(r.now)
	m.text, m.now, m.cancelled, m.undo = r.text, r.now, r.cancelled, nil
}
