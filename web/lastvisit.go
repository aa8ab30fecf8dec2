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
func (v *visit) noteVisit() {
	if v.Now().Sub(v.session.Seen) >= pause {
		v.keepLastVisit(v.session.Seen)
	}
}

// keepLastVisit keeps the end of the previous visit for the rest of this one. The value is bound to the session, so
// that another person with the same browser does not see it.
func (v *visit) keepLastVisit(at time.Time) {
	v.before = at
	v.setCookie(lastVisitCookie, string(v.session.ID)+"."+strconv.FormatInt(at.Unix(), 10), sessionAge)
}

// lastVisit returns when the person was last here before this visit, in this browser or another; zero if unknown.
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
	for _, other := range all { // the most recently seen first
		if other.ID != v.session.ID && v.Now().Sub(other.Seen) >= pause {
			v.keepLastVisit(other.Seen)
			break
		}
	}
	return v.before, nil
}

// keptVisit returns the cookie's value. The visitor can forge it, but only to see more or fewer of their own changes.
func (v *visit) keptVisit() time.Time {
	of, seconds, _ := strings.Cut(v.cookie(lastVisitCookie), ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	at := time.Unix(n, 0)
	if err != nil || of != string(v.session.ID) || at.After(v.Now()) || v.Now().Sub(at) > sessionAge {
		return time.Time{}
	}
	return at
}
