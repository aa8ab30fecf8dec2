package vault_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"caldav-mcp-server/auth/vault"
)

var alice = vault.Owner{User: "alice", Account: "a1"}

func sealed(t *testing.T, v *vault.Vault, secret string) ([]byte, string) {
	t.Helper()
	data, id, err := v.Seal([]byte(secret), alice)
	if err != nil {
		t.Fatal(err)
	}
	return data, id
}

func TestOnlyItsOwnerOpensIt(t *testing.T) {
	t.Parallel()
	v := vault.New(vault.Given([]vault.Key{vault.NewKey()}))
	data, _ := sealed(t, v, "the secret")
	if bytes.Contains(data, []byte("secret")) {
		t.Error("it can be read")
	}
	if got, err := v.Open(data, alice); err != nil || string(got) != "the secret" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, other := range []vault.Owner{{"bob", "a1"}, {"alice", "a2"}, {"alic", "ea1"}, {}} {
		if got, err := v.Open(data, other); !errors.Is(err, vault.ErrSealed) {
			t.Errorf("%v opens it: %q, %v", other, got, err)
		}
	}
	again, _ := sealed(t, v, "the secret")
	if bytes.Equal(again[9:], data[9:]) {
		t.Error("the same secret is sealed alike twice")
	}
}

func TestWithoutTheKeyNothingOpens(t *testing.T) {
	t.Parallel()
	data, _ := sealed(t, vault.New(vault.Given([]vault.Key{vault.NewKey()})), "x")
	_, err := vault.New(vault.Given([]vault.Key{vault.NewKey()})).Open(data, alice)
	if !errors.Is(err, vault.ErrNoKey) {
		t.Errorf("another key: %v", err)
	}
}

// TestEveryBitCounts changes each byte, and cuts at each.
func TestEveryBitCounts(t *testing.T) {
	t.Parallel()
	v := vault.New(vault.Given([]vault.Key{vault.NewKey()}))
	data, _ := sealed(t, v, "x")
	for i := range data {
		other := bytes.Clone(data)
		other[i] ^= 1
		if got, err := v.Open(other, alice); err == nil {
			t.Errorf("byte %d: %q", i, got)
		}
		if got, err := v.Open(data[:i], alice); err == nil {
			t.Errorf("cut at %d: %q", i, got)
		}
	}
}

func TestAFileIsMadeOnceAndReadAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "sub", "master.key")
	v := vault.New(vault.In(file))
	data, first := sealed(t, v, "x")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	keys, err := vault.In(file)()
	if err != nil || len(keys) != 1 || keys[0].ID() != first {
		t.Fatalf("read again: %v", err)
	}
	next := vault.NewKey()
	if err := vault.Rewrite(file, append([]vault.Key{next}, keys...)); err != nil {
		t.Fatal(err)
	}
	if now, err := v.Present(); err != nil || now != next.ID() {
		t.Errorf("the present key is %s, %v", now, err)
	}
	if _, err := v.Open(data, alice); err != nil {
		t.Errorf("what was sealed with the former key: %v", err)
	}
	for _, bad := range []string{"", "short", "!!!"} {
		if err := os.WriteFile(file, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := v.Seal([]byte("x"), alice); err == nil {
			t.Errorf("a file with %q seals", bad)
		}
	}
}
