package invitations_test

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// The steps of guests elsewhere, and of the mail between them and the server.

// arrive brings all mail to those elsewhere.
func (s *scene) arrive() {
	s.posted()
	for _, p := range s.letters {
		for _, m := range s.meetings {
			if g := m.guests[p.to]; g != nil && g.machine != nil && m.elsewhere == nil && m.uid == p.uid() {
				s.note("  %s has it: %s", p.to, g.machine.take(p.document))
			}
		}
	}
	s.letters = nil
}

func (s *scene) mailArrives(*rand.Rand) string {
	s.arrive()
	s.compareMail()
	return "the mail arrives"
}

// answerByMail has a guest elsewhere answer what they know, which may be old. The reply is under way then.
func (s *scene) answerByMail(r *rand.Rand) string {
	m := s.ours(r)
	if m == nil {
		return ""
	}
	g := m.guests[pick(r, m.people())]
	if g.machine == nil {
		return ""
	}
	knew := g.machine.see(m.until)
	if len(knew) == 0 {
		return ""
	}
	key, part := pick(r, knew.keys()), somePart(r)
	if series, ok := g.machine.parts[""]; ok && (!series.event.has("RRULE") || r.IntN(2) == 0) {
		key = ""
	}
	d := g.machine.reply(key, part, s.Now())
	s.replies = append(s.replies, &post{
		mail: mail{g.address, s.ann.address(), d}, meeting: m, guest: g, knew: knew, key: key, part: part,
	})
	return g.address + " mails " + part + " for " + strings.TrimSpace("all "+key)
}

// replyArrives hands in one of the replies, not always in their order, and sometimes twice.
func (s *scene) replyArrives(r *rand.Rand) string {
	if len(s.replies) == 0 {
		return ""
	}
	i := 0
	if r.IntN(3) == 0 {
		i = r.IntN(len(s.replies))
	}
	p := s.replies[i]
	if r.IntN(5) > 0 {
		s.replies = slices.Delete(s.replies, i, i+1)
	}
	err := s.receive(p.mail)
	s.hear(p)
	outcome := "taken"
	if err != nil {
		outcome = err.Error()
	}
	return "the mail of " + p.from + " arrives: " + strings.Join(describe(p.document), "") + ", " + outcome
}

// hear notes what a reply says of each date. One to another time says nothing, nor does one that is older than another.
func (s *scene) hear(p *post) {
	m, g := p.meeting, p.guest
	stamp := saidBy(p.events[0]).stamp
	series := p.key == ""
	if m.cancelled {
		return
	}
	heard := false
	for key, now := range m.now.of(g.address) {
		was, knew := p.knew[key]
		if !series && key != p.key || !knew || !was.sameTime(now) || stamp.Before(g.stamps[key]) {
			continue
		}
		heard = true
		answer, own := g.answers[key], g.answers[key] != open && g.answers[key] != g.whole
		if series && own && recursText(m.text) {
			continue
		}
		late := p.events[0].sequence() < now.sequence
		if late && answer != p.part {
			g.eitherAnswer[key] = p.part
			continue
		}
		g.answers[key], g.stamps[key] = p.part, stamp
	}
	if series && heard {
		g.eitherWhole = true
		if was := g.whole; p.events[0].sequence() >= masterSequence(m.text) && !stamp.Before(g.stamps[""]) &&
			was != p.part {
			g.whole, g.eitherWhole, g.stamps[""] = p.part, false, stamp
		}
	}
}

func recursText(d *document) bool { return d.master() != nil && d.master().has("RRULE") }

func masterSequence(d *document) int {
	if m := d.master(); m != nil {
		return m.sequence()
	}
	return 0
}
