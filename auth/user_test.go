package auth_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func TestCanonicalName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"alice": "alice", "Alice": "alice", "ALICE.B-c_d": "alice.b-c_d", "alice@example.com": "alice@example.com",
		"0": "0", strings.Repeat("a", 64): strings.Repeat("a", 64),
		"": "", " alice": "", "alice ": "", "alice\n": "", ".alice": "", "-alice": "", "@": "", "..": "",
		"alice:x": "", "alice/x": "", "alice%20": "", "älice": "", "al\x00ice": "", "al\xffice": "",
		strings.Repeat("a", 65): "",
	} {
		got, err := auth.CanonicalName(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("CanonicalName(%q) = %q, %v; want %q", name, got, err, want)
		}
		if err != nil && calendar.ReasonOf(err) != calendar.Invalid {
			t.Errorf("CanonicalName(%q): %v is not Invalid", name, err)
		}
	}
}

func TestCreateUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		made, err := h.CreateUser(h.t.Context(), auth.NewUser{
			Name: "Alice", DisplayName: "Alice Ünal", Email: "alice@example.com", Timezone: "Europe/Berlin",
			Password: rightPassword,
		})
		want := calendar.User{
			ID: "user-1", Name: "alice", DisplayName: "Alice Ünal", Email: "alice@example.com",
			Timezone: "Europe/Berlin",
			Created:  h.Now(),
		}
		if diff := cmp.Diff(want, made); err != nil || diff != "" {
			h.t.Fatalf("%v\n%s", err, diff)
		}
		h.createUser("bob")
		all, err := h.Users(h.t.Context())
		if err != nil || len(all) != 2 || !cmp.Equal(all[0], want) || all[1].Name != "bob" {
			h.t.Errorf("%+v, %v", all, err)
		}
		for _, name := range []string{"alice", "ALICE"} {
			if u, err := h.User(h.t.Context(), name); err != nil || !cmp.Equal(u, want) {
				h.t.Errorf("User(%q) = %+v, %v", name, u, err)
			}
		}
		if _, err := h.User(h.t.Context(), "carol"); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("User(carol): %v, want NotFound", err)
		}
		_, err = h.CreateUser(h.t.Context(), auth.NewUser{Name: "aLICE", Password: rightPassword})
		if calendar.ReasonOf(err) != calendar.Exists ||
			!strings.Contains(err.Error(), `there is a user "alice" already`) {
			h.t.Errorf("a second alice: %v, want Exists", err)
		}
	})
}

func TestCreateUserRefuses(t *testing.T) {
	t.Parallel()
	token := "mcp_" + strings.Repeat("A", 64)
	each(t, func(h *house) {
		for _, c := range []struct {
			user auth.NewUser
			says string
		}{
			{auth.NewUser{Name: "al ice", Password: rightPassword}, "is no user name"},
			{auth.NewUser{Name: "alice"}, "at least 8 characters"},
			{auth.NewUser{Name: "alice", Password: "sieben7"}, "at least 8 characters"},
			{auth.NewUser{Name: "alice", Password: "äöüäöüä"}, "at least 8 characters"},
			{auth.NewUser{Name: "alice", Password: strings.Repeat("x", 1025)}, "at most 1024 bytes"},
			{auth.NewUser{Name: "alice", Password: "line\nbreak"}, "control character"},
			{auth.NewUser{Name: "alice", Password: "latin-1 \xfc\xe4"}, "not UTF-8"},
			{auth.NewUser{Name: "alice", Password: token}, "looks like an access token"},
			{auth.NewUser{Name: "alice", Password: rightPassword, Email: "alice"}, "is no e-mail address"},
			{auth.NewUser{
				Name: "alice", Password: rightPassword, Email: "A <alice@example.com>",
			}, "is no e-mail address"},
			{auth.NewUser{Name: "alice", Password: rightPassword, Timezone: "Berlin"}, "is no time zone"},
			{auth.NewUser{Name: "alice", Password: rightPassword, Timezone: "Local"}, "is no time zone"},
			{auth.NewUser{Name: "alice", Password: rightPassword, Timezone: "../../etc/passwd"}, "is no time zone"},
			{auth.NewUser{Name: "alice", Password: rightPassword, DisplayName: "a\r\nb"}, "line break"},
			{auth.NewUser{
				Name: "alice", Password: rightPassword, DisplayName: strings.Repeat("ä", 201),
			}, "longer than 200"},
		} {
			_, err := h.CreateUser(h.t.Context(), c.user)
			if err == nil || calendar.ReasonOf(err) != calendar.Invalid || !strings.Contains(err.Error(), c.says) {
				h.t.Errorf("%+v: %v; want Invalid, %q", c.user, err, c.says)
			}
			if err != nil && c.user.Password != "" && strings.Contains(err.Error(), c.user.Password) {
				h.t.Errorf("the error tells the password: %v", err)
			}
		}
		if all, err := h.Users(h.t.Context()); err != nil || len(all) != 0 {
			h.t.Errorf("%d users were made, %v", len(all), err)
		}
	})
}

func TestSetPassword(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		if err := h.SetPassword(h.t.Context(), "Alice", "another horse"); err != nil {
			h.t.Fatal(err)
		}
		if err := h.login("alice", rightPassword); !errors.Is(err, auth.ErrUnauthorized) {
			h.t.Errorf("the old one: %v", err)
		}
		if err := h.login("alice", "another horse"); err != nil {
			h.t.Errorf("the new one: %v", err)
		}
		if err := h.bear(token); err != nil {
			h.t.Errorf("a token: %v", err)
		}
		if err := h.SetPassword(h.t.Context(), "alice", "short"); calendar.ReasonOf(err) != calendar.Invalid {
			h.t.Errorf("too short: %v, want Invalid", err)
		}
		if err := h.SetPassword(h.t.Context(), "bob", "another horse"); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("nobody's: %v, want NotFound", err)
		}
	})
}

func TestDeleteUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.createUser("alice")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		for _, err := range []error{h.login("alice", rightPassword), h.bear(token)} {
			if err != nil {
				h.t.Fatal(err)
			}
		}
		if err := h.DeleteUser(h.t.Context(), "alice"); err != nil {
			h.t.Fatal(err)
		}
		for _, err := range []error{h.login("alice", rightPassword), h.bear(token)} {
			if !errors.Is(err, auth.ErrUnauthorized) {
				h.t.Errorf("after the deletion: %v", err)
			}
		}
		if err := h.DeleteUser(h.t.Context(), "alice"); calendar.ReasonOf(err) != calendar.NotFound {
			h.t.Errorf("again: %v, want NotFound", err)
		}
	})
}
