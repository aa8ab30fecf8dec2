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

// digest stands for a credential in memory. It is keyed with what only this process has, so a
// memory dump of it gives nothing to guess from without the key.
type digest [sha256.Size]byte

// verdict is what a credential turned out to be.
type verdict struct {
	right  bool
	caller calendar.Caller
	// expires is when the token does; zero for never.
	expires time.Time
}

func (v verdict) good(now time.Time) bool {
	return v.right && (v.expires.IsZero() || now.Before(v.expires))
}

// memory holds verdicts, so that a password is hashed once and not with every request. Each hangs on its user's
// generation in the store: when that moves, whichever process moved it, the verdict is worth nothing.
type memory struct {
	// macs are *keyed.
	macs     sync.Pool
	ttlWrong time.Duration

	mu    sync.Mutex
	right *lru[digest, dated]
	// wrong has a bound of its own, lest a flood of wrong credentials pushes out the right ones.
	wrong *lru[digest, dated]
	// known are credentials that were right at some time. It outlives the generation: it grants
	// nothing but a place ahead of strangers.
	known *lru[digest, struct{}]
}

// dated is a verdict with the generation that was read before the credential was looked up: what was revoked in
// between is not taken for good.
type dated struct {
	verdict
	generation int64
	// until is when a wrong one is forgotten.
	until time.Time
}

func (d dated) stands(generation int64, now time.Time) bool {
	return d.generation == generation && (d.right || now.Before(d.until))
}

func newMemory(l Limits) *memory {
	key := make([]byte, sha256.Size)
	// Never fails: crypto/rand ends the program where the system has no randomness.
	_, _ = rand.Read(key)
	return &memory{
		macs:     sync.Pool{New: func() any { return &keyed{mac: hmac.New(sha256.New, key)} }},
		ttlWrong: l.RememberWrong,
		right:    newLRU[digest, dated](l.Credentials), wrong: newLRU[digest, dated](l.Credentials),
		known: newLRU[digest, struct{}](l.Credentials),
	}
}

// keyed is what a digest takes. Every request takes one.
type keyed struct {
	mac hash.Hash
	// text is what goes into it, and then the sum.
	text []byte
}

// digest is injective in its parts: each is preceded by its length.
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
	clear(k.text) // no credential stays in it
	k.text = k.mac.Sum(k.text[:0])
	return digest(k.text)
}

// recall returns the verdict on a credential if it was given in this generation, and, where it was wrong, not long ago.
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

// remember keeps a verdict of a generation.
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

// knows tells whether the credential was right before.
func (m *memory) knows(d digest) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.known.get(d)
	return ok
}
