package app_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"caldav-mcp-server/auth/vault"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// TestCheckMasterKey: the server starts only with the key of all linked accounts, and creates no other one.
func TestCheckMasterKey(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		s := housetest.Open(t, url, housetest.At(time.Unix(1_800_000_000, 0))).Store
		h := &app.App{Store: s}
		folder := t.TempDir()
		file := filepath.Join(folder, app.MasterKeyFile)
		check := func(keys ...vault.Key) error {
			return h.CheckMasterKey(t.Context(), settings.Config{DataDir: folder, MasterKeys: keys})
		}
		if err := check(); err != nil {
			t.Fatalf("without accounts: %v", err)
		}
		right, wrong := vault.NewKey(), vault.NewKey()
		user := calendar.User{ID: "ann-id", Name: "ann"}
		if err := s.InsertUser(t.Context(), user, ""); err != nil {
			t.Fatal(err)
		}
		if err := s.InsertAccount(t.Context(), calendar.Account{
			ID: "a", Owner: user.ID, Provider: "ics", Name: "Feed", Secret: []byte("sealed"), Key: right.ID(),
			Every: time.Hour, Status: calendar.AccountGood,
		}, 100); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, err error) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), "(1 of 1) were encrypted with another master key") {
				t.Errorf("%s: %v", what, err)
			}
		}
		refused("no key", check())
		refused("another key", check(wrong))
		if err := check(wrong, right); err != nil {
			t.Errorf("an older key: %v", err)
		}
		if _, err := vault.Read(file); err == nil {
			t.Error("the check created a key")
		}
		if _, err := vault.In(file)(); err != nil {
			t.Fatal(err)
		}
		refused("another file", check())
		if err := vault.Rewrite(file, []vault.Key{right}); err != nil {
			t.Fatal(err)
		}
		if err := check(); err != nil {
			t.Errorf("the right file: %v", err)
		}
	})
}
