package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// digest stands for a credential in memory. Its key exists only in this process, so a memory dump without the key gives
// no basis for guessing.
type digest [sha256.Size]byte

// verdict is the result of checking a credential.
type verdict struct {
	right  bool
	caller calendar.Caller
	// expires is the token's expiry; zero for never.
	expires time.Time
}

func (v verdict) good(now time.Time) bool {
	return v.right && (v.expires.IsZero() || now.Before(v.expires))
}

// memory caches verdicts, so that a password is hashed once and not for every request. A verdict holds for one
// generation of its user's credentials. When any process increments the generation in the store, the verdict is void.
type memory struct {
	// macs holds *keyed.
	macs     sync.Pool
	ttlWrong time.Duration

	mu    sync.Mutex
	right *lru[digest, dated]
	// wrong has its own limit, so that a flood of wrong credentials does not evict the right ones.
	wrong *lru[digest, dated]
	// known holds credentials that were right at some time, in any generation. It grants only a place ahead of
	// strangers.
	known *lru[digest, struct{}]
}

// dated is a verdict with the generation that was read before the credential was looked up. A revocation in between
// therefore invalidates it.
type dated struct {
	verdict
	generation int64
	// until is the expiry of a wrong verdict.
	until time.Time
}

func (d dated) stands(generation int64, now time.Time) bool {
	return d.generation == generation && (d.right || now.Before(d.until))
}

func newMemory(l Limits) *memory {
	key := make([]byte, sha256.Size)
	// Never fails: crypto/rand crashes the program if the system has no randomness.
	_, _ = rand.Read(key)
	return &memory{
		macs:     sync.Pool{New: func() any { return &keyed{mac: hmac.New(sha256.New, key)} }},
		ttlWrong: l.RememberWrong,
		right:    newLRU[digest, dated](l.Credentials), wrong: newLRU[digest, dated](l.Credentials),
		known: newLRU[digest, struct{}](l.Credentials),
	}
}

// keyed holds the buffers for computing a digest. Every request needs one, so they are pooled.
type keyed struct {
	mac hash.Hash
	// text is the input and afterwards the sum.
	text []byte
}

// digest is injective in its parts: the length precedes each.
func (m *memory) digest(parts ...string) digest {
	k, _ := m.macs.Get().(*keyed)
	defer m.macs.Put(k)
	k.text = k.text[:0]
	for _, p := range parts {
		k.text = binary.BigEndian.AppendUint64(k.text, uint64(len(p)))
		k.text = append(k.text, p...)
	}
	k.mac.Reset()
	k.mac.Write(k.text)
	clear(k.text) // no credential stays in memory
	k.text = k.mac.Sum(k.text[:0])
	return digest(k.text)
}

// recall returns the cached verdict on a credential if it is of this generation and, for a wrong one, recent.
func (m *memory) recall(d digest, generation int64, now time.Time) (verdict, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, verdicts := range []*lru[digest, dated]{m.right, m.wrong} {
		v, ok := verdicts.get(d)
		switch {
		case ok && v.stands(generation, now):
			return v.verdict, true
		case ok:
			verdicts.drop(d)
		}
	}
	return verdict{}, false
}

// remember caches a verdict for a generation.
func (m *memory) remember(d digest, generation int64, now time.Time, v verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v.right {
		m.known.put(d, struct{}{})
		m.right.put(d, dated{verdict: v, generation: generation})
		return
	}
	m.known.drop(d)
	m.wrong.put(d, dated{v, generation, now.Add(m.ttlWrong)})
}

// knows reports whether the credential was right before.
func (m *memory) knows(d digest) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.known.get(d)
	return ok
}
