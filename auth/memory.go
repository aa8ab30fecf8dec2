package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
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

// memory holds verdicts for a short time, so that a credential is hashed once and not with every
// request. They hang on the store's credential generation: when it moves, whichever process moved
// it, all of them are dropped.
type memory struct {
	key                []byte
	ttlRight, ttlWrong time.Duration

	mu         sync.Mutex
	generation int64
	right      *lru[digest, dated]
	// wrong has a bound of its own, lest a flood of wrong credentials pushes out the right ones.
	wrong *lru[digest, dated]
	// known are credentials that were right at some time. It outlives the generation: it grants
	// nothing but a place ahead of strangers.
	known *lru[digest, struct{}]
}

type dated struct {
	verdict
	until time.Time
}

func newMemory(l Limits) *memory {
	key := make([]byte, sha256.Size)
	// Never fails: crypto/rand ends the program where the system has no randomness.
	_, _ = rand.Read(key)
	return &memory{
		key: key, ttlRight: l.RememberRight, ttlWrong: l.RememberWrong,
		right: newLRU[digest, dated](l.Credentials), wrong: newLRU[digest, dated](l.Credentials),
		known: newLRU[digest, struct{}](l.Credentials),
	}
}

// digest is injective in its parts: each is preceded by its length.
func (m *memory) digest(parts ...string) digest {
	mac := hmac.New(sha256.New, m.key)
	for _, p := range parts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(p)))
		mac.Write(length[:])
		mac.Write([]byte(p))
	}
	return digest(mac.Sum(nil))
}

// recall returns the verdict on a credential if it was given in this generation and not long ago.
func (m *memory) recall(d digest, generation int64, now time.Time) (verdict, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn(generation)
	for _, verdicts := range []*lru[digest, dated]{m.right, m.wrong} {
		if v, ok := verdicts.get(d); ok && now.Before(v.until) {
			return v.verdict, true
		}
	}
	return verdict{}, false
}

// remember keeps a verdict. The generation is the one read before the credential was looked up:
// what was revoked in between is then not remembered as good.
func (m *memory) remember(d digest, generation int64, now time.Time, v verdict) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !v.right {
		m.known.drop(d)
	} else {
		m.known.put(d, struct{}{})
	}
	if generation != m.generation {
		return
	}
	if v.right {
		m.right.put(d, dated{v, now.Add(m.ttlRight)})
		return
	}
	m.wrong.put(d, dated{v, now.Add(m.ttlWrong)})
}

// knows tells whether the credential was right before.
func (m *memory) knows(d digest) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.known.get(d)
	return ok
}

// turn forgets all verdicts when the generation is another one. A request that read it just
// before it moved may turn it back: that costs a hash, never a wrong verdict.
func (m *memory) turn(generation int64) {
	if generation == m.generation {
		return
	}
	m.generation = generation
	m.right.clear()
	m.wrong.clear()
}
