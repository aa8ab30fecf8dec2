package web

import (
	"strconv"
	"strings"
	"time"
)

const (
	// lastVisitCookie keeps when the visit before this one ended: the session knows only when it was last seen, which
	// the first page of a visit moves.
	lastVisitCookie cookieName = "last-visit"
	// pause is how long somebody is away before they come back to another visit.
	pause = time.Hour
)

// noteVisit tells a new visit by the pause before it.
func (v *visit) noteVisit() {
	if v.Now().Sub(v.session.Seen) >= pause {
		v.keepLastVisit(v.session.Seen)
	}
}

// keepLastVisit keeps the end of the visit before for the rest of this one. It is that of the session, lest another
// person who signs in with the same browser is told of it.
func (v *visit) keepLastVisit(at time.Time) {
	v.before = at
	v.setCookie(lastVisitCookie, string(v.session.ID)+"."+strconv.FormatInt(at.Unix(), 10), sessionAge)
}

// lastVisit is when the person was last here before this visit, in this browser or in another one; zero where that is
// not known.
func (v *visit) lastVisit() (time.Time, error) {
	if v.before.IsZero() {
		v.before = v.keptVisit()
	}
	if !v.before.IsZero() {
		return v.before, nil
	}
	all, err := v.Auth.Sessions(v.r.Context(), v.user())
	if err != nil {
		return time.Time{}, err
	}
	for _, other := range all { // the latest seen first
		if other.ID != v.session.ID && v.Now().Sub(other.Seen) >= pause {
			v.keepLastVisit(other.Seen)
			break
		}
	}
	return v.before, nil
}

// keptVisit is what the cookie says. It is the visitor's own to write: the worst that it does is to show them more or
// less of what they may see.
func (v *visit) keptVisit() time.Time {
	of, seconds, _ := strings.Cut(v.cookie(lastVisitCookie), ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	at := time.Unix(n, 0)
	if err != nil || of != string(v.session.ID) || at.After(v.Now()) || v.Now().Sub(at) > sessionAge {
		return time.Time{}
	}
	return at
}
