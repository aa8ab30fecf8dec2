package web

import (
	"net/http"
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
		Name: string(name), Value: value, Path: p.base + root, HttpOnly: true, SameSite: http.SameSiteLaxMode,
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
