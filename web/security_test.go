package web_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// hidden is the value of a field that a page's form has.
func (s shown) hidden(name string) string {
	s.b.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(s.body)
	if found == nil {
		s.b.Fatalf("/account/%s has no field %q:\n%s", s.path, name, s.body)
	}
	return found[1]
}

// tampered is a text of which the first letter is another one, whichever it was.
func tampered(text string) string {
	return map[bool]string{true: "y", false: "x"}[text[0] == 'x'] + text[1:]
}

// secret is what a page shows to be kept.
func (s shown) secret() string {
	s.b.Helper()
	found := regexp.MustCompile(`(?s)class="secret">([^<]*)<`).FindStringSubmatch(s.body)
	if found == nil {
		s.b.Fatalf("/account/%s shows no secret:\n%s", s.path, s.body)
	}
	return found[1]
}

// app is an app that makes codes, written by the RFC and not by our code.
func app(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	var counter [8]byte
	binary.BigEndian.PutUint64(counter[:], uint64(at.Unix()/30))
	mac := hmac.New(sha1.New, key)
	mac.Write(counter[:])
	sum := mac.Sum(nil)
	n := binary.BigEndian.Uint32(sum[sum[19]&15:]) & 0x7fffffff
	return fmt.Sprintf("%06d", n%1000000)
}

// withCodes turns codes on, and returns the app's secret and the recovery codes.
func (b *browser) withCodes() (secret string, recovery []string) {
	b.Helper()
	form := b.get("security/codes").shows(http.StatusOK, "your password alone opens neither")
	secret = form.secret()
	kept := b.post("security/codes", "sealed", form.hidden("sealed"), "code", app(b.T, secret, b.Now())).
		shows(http.StatusOK, "Each signs you in once")
	return secret, strings.Fields(kept.secret())
}

// The first step of two is not a session, codes are good within a period of now and once, and recovery codes stand in.
func TestSecondStep(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		secret, recovery := b.withCodes()
		b.get("security").shows(http.StatusOK, "10 are left", "Turn codes off")

		first := func() (*browser, string) {
			b := h.browser()
			s := b.post("sign-in", "name", "ann", "password", rightPassword, "next", "security").shows(http.StatusOK,
				"One more step")
			b.get("security").at("sign-in?next=security")
			return b, s.hidden("sealed")
		}
		try := func(code string, status int) {
			t.Helper()
			b, sealed := first()
			s := b.post("sign-in/code", "sealed", sealed, "code", code, "next", "security").shows(status)
			if status == http.StatusOK {
				s.at("security")
				return
			}
			b.get("security").at("sign-in?next=security")
		}
		try(app(t, secret, h.Now()), http.StatusUnprocessableEntity) // it was used to turn codes on
		h.pass(90 * time.Second)
		try(app(t, secret, h.Now().Add(-60*time.Second)), http.StatusUnprocessableEntity)
		try(app(t, secret, h.Now().Add(60*time.Second)), http.StatusUnprocessableEntity)
		try(app(t, secret, h.Now().Add(-30*time.Second)), http.StatusOK)
		try(app(t, secret, h.Now().Add(-30*time.Second)), http.StatusUnprocessableEntity)
		try(app(t, secret, h.Now().Add(30*time.Second)), http.StatusOK)
		try(app(t, secret, h.Now()), http.StatusUnprocessableEntity) // older than the latest
		try(strings.ToUpper(recovery[3]), http.StatusOK)
		try(recovery[3], http.StatusUnprocessableEntity)

		// Guesses are few, wherever they come from and however often the password is given again.
		h.pass(time.Hour)
		for range 6 {
			try("000000", http.StatusUnprocessableEntity)
		}
		try(app(t, secret, h.Now()), http.StatusTooManyRequests)
		h.pass(time.Minute)
		try(app(t, secret, h.Now()), http.StatusOK)

		// A step that took too long, and one that somebody made up.
		late, sealed := first()
		h.pass(10 * time.Minute)
		late.post("sign-in/code", "sealed", sealed, "code", app(t, secret, h.Now())).
			shows(http.StatusUnprocessableEntity, "took too long")
		late.post("sign-in/code", "sealed", tampered(sealed), "code", app(t, secret, h.Now())).
			shows(http.StatusUnprocessableEntity, "begin again")
	})
}

// Once more than a password is asked for, programs need passwords of their own, and learn nothing of the main one.
func TestProgramsAndSecondFactors(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		from := here
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", rightPassword, from); err != nil {
			t.Fatal(err)
		}
		_, program, err := h.auth.CreateToken(t.Context(), auth.TokenSpec{
			User: "ann", Name: "Phone", Scopes: calendar.ScopeAll,
		})
		h.must(err)
		b := h.as("ann")
		b.withCodes()
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", rightPassword, from); err == nil {
			t.Error("the main password opens the door to programs")
		}
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", string(program), from); err != nil {
			t.Errorf("an app password: %v", err)
		}
		b.post("security/codes/remove").at("security?done=removed").shows(http.StatusOK, "Set up codes").
			hides("are left")
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", rightPassword, from); err != nil {
			t.Errorf("without a second factor: %v", err)
		}
	})
}

// What hands out power asks again who it is, and goes on to where it was asked for.
func TestProof(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		h.pass(15 * time.Minute)
		for _, path := range []string{"security/password", "security/codes", "apps/new", "delete", "export"} {
			b.get(path).shows(http.StatusOK, "Confirm that it is you").
				at("confirm?next=" + strings.ReplaceAll(path, "/", "%2F"))
		}
		b.post("security/password", "password", "a new password", "again", "a new password").shows(http.StatusOK,
			"Confirm that it is you")
		b.post("delete", "name", "ann").shows(http.StatusOK, "Confirm that it is you")
		b.post("confirm", "password", "wrong", "next", "delete").shows(http.StatusUnprocessableEntity, "did not match")
		b.get("delete").shows(http.StatusOK, "Confirm that it is you")
		b.post("confirm", "password", rightPassword, "next", "security/password").at("security/password")
		b.get("delete").at("delete")
		h.browser().get("delete").at("sign-in?next=delete")
	})
}

// A password that does not sign its user in does not prove who they are either, and what it had opened before ends with
// the first second factor.
func TestProofTakesSecondFactor(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		ann, thief := h.as("ann"), h.as("ann")
		secret, recovery := ann.withCodes()
		thief.get("security").at("sign-in?next=security")

		h.pass(time.Hour)
		ann.get("delete").shows(http.StatusOK, "Confirm that it is you", "Your password", "Code from your app")
		wrong := func(fields ...string) {
			t.Helper()
			ann.post("confirm", append(fields, "next", "delete")...).shows(http.StatusUnprocessableEntity,
				"did not match")
			ann.get("delete").shows(http.StatusOK, "Confirm that it is you")
			ann.post("security/codes/remove").shows(http.StatusOK, "Confirm that it is you")
		}
		wrong("password", rightPassword)
		wrong("password", rightPassword, "code", "000000")
		wrong("password", "something else", "code", app(t, secret, h.Now()))
		wrong("code", app(t, secret, h.Now()))
		ann.post("confirm", "password", rightPassword, "code", app(t, secret, h.Now()), "next", "delete").at("delete")
		h.pass(time.Hour)
		ann.post("confirm", "password", rightPassword, "code", recovery[0], "next", "delete").at("delete")
		h.pass(time.Hour)
		wrong("password", rightPassword, "code", recovery[0])
	})
}

// The second step ends with the password of the first.
func TestSecondStepEndsWithPassword(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		ann := h.as("ann")
		secret, _ := ann.withCodes()
		h.pass(2 * time.Minute)
		thief := h.browser()
		sealed := thief.post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusOK, "One more step").
			hidden("sealed")
		ann.post("security/password", "password", "a new password", "again", "a new password").
			at("security?done=password-changed")
		thief.post("sign-in/code", "sealed", sealed, "code", app(t, secret, h.Now())).
			shows(http.StatusUnprocessableEntity, "sign in again")
		thief.get("security").at("sign-in?next=security")
		sealed = thief.post("sign-in", "name", "Ann", "password", "a new password").shows(http.StatusOK,
			"One more step").hidden("sealed")
		thief.post("sign-in/code", "sealed", sealed, "code", app(t, secret, h.Now())).at("/calendar/week/")
	})
}

// A new password signs all other browsers out, and the old one ends.
func TestChangePassword(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, other := h.as("ann"), h.as("ann")
		b.post("security/password", "password", "a new password", "again", "another").
			shows(http.StatusUnprocessableEntity, "two passwords differ")
		b.post("security/password", "password", "short", "again", "short").shows(http.StatusUnprocessableEntity,
			"too short")
		other.get("security").at("security")
		b.post("security/password", "password", "a new password", "again", "a new password").
			at("security?done=password-changed")
		other.get("security").at("sign-in?next=security")
		other.post("sign-in", "name", "ann", "password", rightPassword).shows(http.StatusUnprocessableEntity)
		other.post("sign-in", "name", "ann", "password", "a new password").shows(http.StatusOK)
	})
}

// Sessions are listed with what tells them apart, and ended by whose they are alone.
func TestSessions(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		b, phone, bob := h.as("ann"), h.browser(), h.as("bob")
		phone.agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 " +
			"Mobile/15E148 Safari/604.1"
		phone.post("sign-in", "name", "ann", "password", rightPassword)
		s := b.get("security").shows(http.StatusOK, "Safari on iPhone", "Firefox this one", "by password")
		id := s.hidden("id")
		bob.post("security/sessions/end", "id", id).shows(http.StatusNotFound)
		phone.get("security").at("security")
		b.post("security/sessions/end", "id", id).at("security?done=session-ended").hides("iPhone")
		phone.get("security").at("sign-in?next=security")
		phone.post("sign-in", "name", "ann", "password", rightPassword)
		phone.post("security/sessions/end-others").shows(http.StatusOK)
		b.get("security").at("sign-in?next=security")
		if all, err := h.auth.Sessions(t.Context(), ann); err != nil || len(all) != 1 {
			t.Errorf("ann has %d sessions, %v", len(all), err)
		}
	})
}

// A flood of wrong sign-ins costs strangers their answers, and nobody else theirs.
func TestFlood(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		statuses := make([]int, 1000)
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() {
				_, err := h.auth.SignIn(t.Context(), fmt.Sprint("user", i%50), fmt.Sprint("wrong ", i),
					netip.MustParseAddr("203.0.113.9"), "")
				statuses[i] = 1
				if err == nil {
					statuses[i] = 2
				}
			})
		}
		b.get("security").shows(http.StatusOK)
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", rightPassword, netip.MustParseAddr("198.51.100.7")); err !=
			nil {
			t.Errorf("a program meanwhile: %v", err)
		}
		all.Wait()
		for i, status := range statuses {
			if status != 1 {
				t.Fatalf("attempt %d came to %d", i, status)
			}
		}
		h.as("ann").get("security").shows(http.StatusOK)
	})
}
