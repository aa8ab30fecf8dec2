package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func leaseTests() []test {
	return []test{
		{"one at a time has it", leaseIsOnes},
		{"it passes on when it is over, or given back", leaseEnds},
	}
}

func (b *bundle) lease(s calendar.Store, name, holder string) bool {
	b.Helper()
	given, err := s.Lease(b.Context(), name, holder, b.now(), b.now().Add(time.Minute))
	b.must(err)
	return given
}

func leaseIsOnes(b *bundle) {
	other := b.another()
	same(b, "the first who asks", b.lease(b.Store, "mail", "one"), true)
	same(b, "another", b.lease(other, "mail", "two"), false)
	same(b, "another of something else", b.lease(other, "post", "two"), true)
	b.pass(59 * time.Second)
	same(b, "the holder again", b.lease(b.Store, "mail", "one"), true)
	b.pass(59 * time.Second)
	same(b, "another, when the first term is over", b.lease(other, "mail", "two"), false)
}

func leaseEnds(b *bundle) {
	b.lease(b.Store, "mail", "one")
	b.pass(time.Minute)
	same(b, "when it is over", b.lease(b.Store, "mail", "two"), true)
	b.must(b.Release(b.Context(), "mail", "one"))
	same(b, "when one who lost it gave it back", b.lease(b.Store, "mail", "three"), false)
	b.must(b.Release(b.Context(), "mail", "two"))
	same(b, "when it was given back", b.lease(b.Store, "mail", "three"), true)
}
