package auth

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"github.com/alexedwards/argon2id"
)

// Hasher computes password hashes that are expensive to attack.
type Hasher interface {
	// Hash returns the hash of a secret.
	Hash(secret string) (Hash, error)
	// Check compares a secret with a hash, and reports whether the hash is weaker than one that Hash would make today.
	Check(secret string, h Hash) (Check, error)
	// Decoy returns a hash that no secret has. Checking against it costs as much as checking against a real one.
	Decoy() Hash
}

// Check is the result of comparing a secret with a hash.
type Check struct{ Right, Weak bool }

// Cost holds the parameters of Argon2id (RFC 9106 §3.1).
type Cost struct {
	MemoryKiB   uint32
	Iterations  uint32
	Parallelism uint8
}

// DefaultCost returns one of the sets that OWASP's Password Storage Cheat Sheet lists as equally strong, chosen for its
// memory use; docs/decisions/0043-credentials.md has the calculation.
func DefaultCost() Cost { return Cost{MemoryKiB: 19 * 1024, Iterations: 2, Parallelism: 1} }

// maxMemoryKiB limits the memory that a stored hash can make us allocate, so that a damaged row cannot crash the
// process.
const maxMemoryKiB = 1 << 20

const (
	saltLength = 16
	keyLength  = 32
)

// Argon2id is the Hasher used in production.
type Argon2id struct{ Cost Cost }

func (a Argon2id) params() *argon2id.Params {
	return &argon2id.Params{
		Memory: a.Cost.MemoryKiB, Iterations: a.Cost.Iterations, Parallelism: a.Cost.Parallelism,
		SaltLength: saltLength, KeyLength: keyLength,
	}
}

// Hash returns the hash of a secret, with a new salt.
func (a Argon2id) Hash(secret string) (Hash, error) {
	h, err := argon2id.CreateHash(secret, a.params())
	if err != nil {
		return "", fmt.Errorf("hashing: %w", err)
	}
	return Hash(h), nil
}

// Check compares in constant time, with the parameters stored in the hash.
func (a Argon2id) Check(secret string, h Hash) (Check, error) {
	p, _, _, err := argon2id.DecodeHash(string(h))
	if err != nil {
		return Check{}, fmt.Errorf("a stored hash cannot be read: %w", err)
	}
	// The library panics on values below one and allocates as much as the parameters say.
	if p.Iterations < 1 || p.Parallelism < 1 || p.Memory > maxMemoryKiB || p.KeyLength == 0 {
		return Check{}, fmt.Errorf("a stored hash has senseless parameters: m=%d,t=%d,p=%d", p.Memory, p.Iterations,
			p.Parallelism)
	}
	right, err := argon2id.ComparePasswordAndHash(secret, string(h))
	if err != nil {
		return Check{}, fmt.Errorf("checking a hash: %w", err)
	}
	return Check{Right: right, Weak: p.Memory < a.Cost.MemoryKiB || p.Iterations < a.Cost.Iterations}, nil
}

// Decoy returns random bytes in the form of a hash; finding a secret for it means breaking Argon2id.
func (a Argon2id) Decoy() Hash {
	var random [saltLength + keyLength]byte
	// Never fails: crypto/rand crashes the program if the system has no randomness.
	_, _ = rand.Read(random[:])
	b64 := base64.RawStdEncoding.EncodeToString
	return Hash(fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", a.Cost.MemoryKiB, a.Cost.Iterations,
		a.Cost.Parallelism,
		b64(random[:saltLength]), b64(random[saltLength:])))
}
