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
func (v *visit) cookieOf(name cookieName, value string, age time.Duration) *http.Cookie {
	c := &http.Cookie{
		Name: string(name), Value: value, Path: v.base + root, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		MaxAge: int(age / time.Second),
	}
	if v.secure || v.r.TLS != nil {
		c.Name, c.Path, c.Secure = "__Host-"+c.Name, "/", true
	}
	return c
}

func (v *visit) setCookie(name cookieName, value string, age time.Duration) {
	http.SetCookie(v.w, v.cookieOf(name, value, age))
}

func (v *visit) dropCookie(name cookieName) {
	c := v.cookieOf(name, "", 0) //nolint:gosec // it is made with all of them
	c.MaxAge = -1
	http.SetCookie(v.w, c)
}

// cookie returns the value of a cookie, or "".
func (v *visit) cookie(name cookieName) string {
	c, err := v.r.Cookie(v.cookieOf(name, "", 0).Name)
	if err != nil {
		return ""
	}
	return c.Value
}

// renewCookie extends the cookie of an active user, at most once a day.
func (v *visit) renewCookie(secret string) {
	if v.Now().Sub(v.session.Seen) > 24*time.Hour {
		v.setCookie(sessionCookie, secret, sessionAge)
	}
}
