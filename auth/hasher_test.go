package auth

import (
	"strings"
	"testing"
)

// cheap is the least that Argon2id takes.
func cheap() Argon2id { return Argon2id{Cost{MemoryKiB: 8, Iterations: 1, Parallelism: 1}} }

func TestArgon2idChecks(t *testing.T) {
	t.Parallel()
	h, err := cheap().Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(h), "$argon2id$v=19$m=8,t=1,p=1$") {
		t.Errorf("the hash does not carry its parameters: %q", h)
	}
	stronger := Argon2id{Cost{MemoryKiB: 16, Iterations: 1, Parallelism: 1}}
	for _, c := range []struct {
		name   string
		hasher Argon2id
		secret string
		want   Check
	}{
		{"right", cheap(), "correct horse", Check{Right: true}},
		{"wrong", cheap(), "correct hors", Check{}},
		{"empty", cheap(), "", Check{}},
		{"right, of a lesser cost", stronger, "correct horse", Check{Right: true, Weak: true}},
	} {
		got, err := c.hasher.Check(c.secret, h)
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

func TestArgon2idSaltsEachHash(t *testing.T) {
	t.Parallel()
	one, _ := cheap().Hash("correct horse")
	two, _ := cheap().Hash("correct horse")
	if one == two {
		t.Errorf("the same password has the same hash twice: %q", one)
	}
}

func TestDecoyCostsWhatARealHashDoes(t *testing.T) {
	t.Parallel()
	actual, err := cheap().Hash("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	decoy := cheap().Decoy()
	if len(decoy) != len(actual) || cut(decoy) != cut(actual) {
		t.Errorf("decoy %q, real hash %q: the parameters differ", decoy, actual)
	}
	if got, err := cheap().Check("correct horse", decoy); err != nil || got.Right {
		t.Errorf("against the decoy: %+v, %v", got, err)
	}
	if decoy == cheap().Decoy() {
		t.Error("the decoy is always the same")
	}
}

// cut returns a hash up to its salt.
func cut(h Hash) string {
	parts := strings.Split(string(h), "$")
	return strings.Join(parts[:4], "$")
}

func TestArgon2idRefusesDamagedHashes(t *testing.T) {
	t.Parallel()
	const tail = "$c29tZXNhbHRzb21lc2FsdA$RdescudvJCsgt3ub+b+dWRWJTmaaJObGPi3hXGUCgDM"
	for name, h := range map[string]Hash{
		"empty":             "",
		"plain text":        "correct horse",
		"another algorithm": "$argon2i$v=19$m=8,t=1,p=1" + tail,
		"another version":   "$argon2id$v=16$m=8,t=1,p=1" + tail,
		"no passes":         "$argon2id$v=19$m=8,t=0,p=1" + tail,
		"no lanes":          "$argon2id$v=19$m=8,t=1,p=0" + tail,
		"4 TiB":             "$argon2id$v=19$m=4294967295,t=1,p=1" + tail,
		"no key":            "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHRzb21lc2FsdA$",
	} {
		if got, err := cheap().Check("correct horse", h); err == nil || got.Right {
			t.Errorf("%s: %+v, %v; want an error", name, got, err)
		}
	}
}
