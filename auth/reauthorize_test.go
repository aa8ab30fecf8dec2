package auth_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// endings are ways in which a credential stops being good, and one in which it stays.
func (h *house) endings(token auth.Token) map[string]func() error {
	ctx := h.t.Context()
	return map[string]func() error{
		"nothing": func() error { return nil },
		"another login": func() error {
			_, err := h.CreateUser(ctx, auth.NewUser{Name: "dora", Password: rightPassword})
			return err
		},
		"revoked":  func() error { return h.RevokeToken(ctx, token.ID) },
		"expired":  func() error { h.Pass(2 * time.Hour); return nil },
		"password": func() error { return h.SetPassword(ctx, "alice", "another "+rightPassword) },
		"deleted":  func() error { return h.DeleteUser(ctx, "alice") },
	}
}

// lets tells which of them leave the credential good.
func lets(ending string, token bool) bool {
	switch ending {
	case "nothing", "another login":
		return true
	case "password":
		return token
	case "revoked", "expired":
		return !token
	}
	return false
}

// eachEnding runs a test for a password and for a token, with each thing that may happen meanwhile.
func eachEnding(t *testing.T, test func(h *house, authorization, ending string, happens func(), good bool)) {
	t.Helper()
	each(t, func(first *house) {
		for _, ending := range []string{"nothing", "another login", "revoked", "expired", "password", "deleted"} {
			for _, byToken := range []bool{true, false} {
				h := first
				if _, err := h.CreateUser(h.t.Context(), auth.NewUser{Name: "alice", Password: rightPassword}); err !=
					nil {
					h.t.Fatal(err)
				}
				token, secret := h.createToken(auth.TokenSpec{User: "alice", Expires: h.Now().Add(time.Hour)})
				authorization := basic("alice", rightPassword)
				if byToken {
					authorization = "Bearer " + secret
				}
				happens := h.endings(token)[ending]
				test(h, authorization, ending, func() {
					if err := happens(); err != nil {
						h.t.Error(err)
					}
				}, lets(ending, byToken))
				for _, name := range []string{"alice", "dora"} {
					if err := h.DeleteUser(h.t.Context(), name); err != nil &&
						calendar.ReasonOf(err) != calendar.NotFound {
						h.t.Fatal(err)
					}
				}
			}
		}
	})
}

// TestRevokedWhileTheAnswerGoesOut: an answer breaks off once its credential is no longer good, and
// goes on where it still is.
func TestRevokedWhileTheAnswerGoesOut(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(h *house, authorization, ending string, happens func(), good bool) {
		r := httptest.NewRequestWithContext(h.t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		door := h.Require(davDoor(), func(w http.ResponseWriter, _ *http.Request, _ calendar.Caller) {
			_, _ = io.WriteString(w, "old")
			happens()
			h.Pass(10 * time.Second)
			_, _ = io.WriteString(w, "new")
		})
		err := panicOf(func() { door.ServeHTTP(w, r) })
		want := "old"
		if good {
			want = "oldnew"
		}
		if w.Body.String() != want || errors.Is(err, http.ErrAbortHandler) == good {
			h.t.Errorf("%s, %s: %q, %v", authorization[:6], ending, w.Body, err)
		}
	})
}

func panicOf(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = p.(error) // anything else is for the test to end with
		}
	}()
	f()
	return nil
}

// TestRevokedWhileTheBodyArrives: a body that took long is not acted upon when its credential is no
// longer good by its end.
func TestRevokedWhileTheBodyArrives(t *testing.T) {
	t.Parallel()
	eachEnding(t, func(h *house, authorization, ending string, happens func(), good bool) {
		body := io.MultiReader(strings.NewReader("BEGIN:"), readerFunc(func([]byte) (int, error) {
			happens()
			h.Pass(time.Second)
			return 0, io.EOF
		}), strings.NewReader("VCALENDAR"))
		r := httptest.NewRequestWithContext(h.t.Context(), http.MethodPut, "/", body)
		r.Header.Set("Authorization", authorization)
		w := httptest.NewRecorder()
		h.Require(davDoor(), func(w http.ResponseWriter, r *http.Request, _ calendar.Caller) {
			got, err := io.ReadAll(r.Body)
			if errors.Is(err, auth.ErrUnauthorized) {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			_, _ = fmt.Fprintf(w, "%s %v", got, err)
		}).ServeHTTP(w, r)
		challenged := len(w.Header().Values("WWW-Authenticate")) > 0
		if good != (w.Body.String() == "BEGIN:VCALENDAR <nil>") || good == challenged {
			h.t.Errorf("%s, %s: %d %q, challenged %v", authorization[:6], ending, w.Code, w.Body, challenged)
		}
	})
}

// readerFunc is a reader of one function.
type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
