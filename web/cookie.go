package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// cookieName is a cookie's name without its prefix.
type cookieName string

const sessionCookie cookieName = "session"

// sessionAge is how long a browser keeps the session cookie; the server ends the session by its own clock.
const sessionAge = 30 * 24 * time.Hour

// cookieOf makes a cookie. With https, no other host and no plain connection can set one of that name (RFC 6265bis
// §4.1.3.2).
func (p *pageRequest) cookieOf(name cookieName, value string, age time.Duration) *http.Cookie {
	c := &http.Cookie{
		Name: string(name), Value: value, Path: p.base + "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		MaxAge: int(age / time.Second),
	}
	if p.secure || p.r.TLS != nil {
		c.Name, c.Path, c.Secure = "__Host-"+c.Name, "/", true
	}
	return c
}

func (p *pageRequest) setCookie(name cookieName, value string, age time.Duration) {
	http.SetCookie(p.w, p.cookieOf(name, value, age))
}

func (p *pageRequest) dropCookie(name cookieName) {
	c := p.cookieOf(name, "", 0) //nolint:gosec // it is made with all of them
	c.MaxAge = -1
	http.SetCookie(p.w, c)
	if !c.Secure {
		// Version 0.1 used this path, and browsers send the cookie with the longer path first.
		c.Path = p.base + root
		http.SetCookie(p.w, c)
	}
}

// cookie returns the value of a cookie, or "".
func (p *pageRequest) cookie(name cookieName) string {
	c, err := p.r.Cookie(p.cookieOf(name, "", 0).Name)
	if err != nil {
		return ""
	}
	return c.Value
}

// renewCookie extends the cookie of an active user, at most once a day.
func (p *pageRequest) renewCookie(secret string) {
	if p.Now().Sub(p.session.Seen) > 24*time.Hour {
		p.setCookie(sessionCookie, secret, sessionAge)
	}
}

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
		p.adoptLanguage()
	}
}

// keepLastVisit keeps the end of the previous visit for the rest of this one. The value is bound to the session, so
// that another person with the same browser does not see it.
func (p *pageRequest) keepLastVisit(at time.Time) {
	p.before = at
	p.setCookie(lastVisitCookie, string(p.session.ID)+"."+strconv.FormatInt(at.Unix(), 10), sessionAge)
}

// lastVisit returns when the person was last here before this visit, in this browser or another; zero if unknown.
func (p homePages) lastVisit() (time.Time, error) {
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
