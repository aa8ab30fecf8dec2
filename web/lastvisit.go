package web

import (
	"strconv"
	"strings"
	"time"
)

const (
	// lastVisitCookie keeps when the previous visit ended. The session has only the last-seen time, which the first
	// page of a visit updates.
	lastVisitCookie cookieName = "last-visit"
	// pause is the minimum gap between two visits.
	pause = time.Hour
)

// noteVisit detects a new visit by the pause.
func (p *pageRequest) noteVisit() {
	if p.Now().Sub(p.session.Seen) >= pause {
		p.keepLastVisit(p.session.Seen)
	}
}

// keepLastVisit keeps the end of the previous visit for the rest of this one. The value is bound to the session, so
// that another person with the same browser does not see it.
func (p *pageRequest) keepLastVisit(at time.Time) {
	p.before = at
	p.setCookie(lastVisitCookie, string(p.session.ID)+"."+strconv.FormatInt(at.Unix(), 10), sessionAge)
}

// lastVisit returns when the person was last here before this visit, in this browser or another; zero if unknown.
func (p *pageRequest) lastVisit() (time.Time, error) {
	if p.before.IsZero() {
		p.before = p.keptVisit()
	}
	if !p.before.IsZero() {
		return p.before, nil
	}
	all, err := p.Auth.Sessions(p.r.Context(), p.user())
	if err != nil {
		return time.Time{}, err
	}
	for _, other := range all { // the most recently seen first
		if other.ID != p.session.ID && p.Now().Sub(other.Seen) >= pause {
			p.keepLastVisit(other.Seen)
			break
		}
	}
	return p.before, nil
}

// keptVisit returns the cookie's value. The visitor can forge it, but only to see more or fewer of their own changes.
func (p *pageRequest) keptVisit() time.Time {
	of, seconds, _ := strings.Cut(p.cookie(lastVisitCookie), ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	at := time.Unix(n, 0)
	if err != nil || of != string(p.session.ID) || at.After(p.Now()) || p.Now().Sub(at) > sessionAge {
		return time.Time{}
	}
	return at
}
