package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func leaseTests() []test {
	return []test{
		{"it has one holder at a time", leaseIsOnes},
		{"it passes on when it expires or is released", leaseEnds},
		{"it can be renewed until another holder takes it", leaseProlonged},
		{"a transaction requires it, and blocks other holders", leaseFences},
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

func leaseProlonged(b *bundle) {
	other := b.another()
	prolong := func(holder string) bool {
		kept, err := b.Prolong(b.Context(), "mail", holder, b.now().Add(time.Minute))
		b.must(err)
		return kept
	}
	same(b, "what nobody has", prolong("one"), false)
	b.lease(b.Store, "mail", "one")
	same(b, "what another has", prolong("two"), false)
	b.pass(time.Hour)
	same(b, "after it was over", prolong("one"), true)
	same(b, "another then", b.lease(other, "mail", "two"), false)
	b.pass(time.Hour)
	same(b, "another, after it was over", b.lease(other, "mail", "two"), true)
	b.must(other.Release(b.Context(), "mail", "two"))
	same(b, "what another has had", prolong("one"), false)
}

func leaseFences(b *bundle) {
	other := b.another()
	b.lease(b.Store, "mail", "one")
	b.pass(time.Hour) // expired, but not taken over
	taken := make(chan bool)
	var held, others bool
	b.must(b.Update(b.Context(), func(tx calendar.Tx) (err error) {
		if others, err = tx.Fence(b.Context(), calendar.Fence{Lease: "mail", Holder: "two"}); err != nil {
			return err
		}
		if held, err = tx.Fence(b.Context(), calendar.Fence{Lease: "mail", Holder: "one"}); err != nil {
			return err
		}
		go func() { taken <- b.lease(other, "mail", "two") }()
		select {
		case <-taken:
			b.Error("another has it before the transaction is over")
		case <-time.After(50 * time.Millisecond):
		}
		return nil
	}))
	same(b, "it is held", held, true)
	same(b, "it is another's", others, false)
	same(b, "another, after the transaction", <-taken, true)
	b.must(b.Update(b.Context(), func(tx calendar.Tx) (err error) {
		held, err = tx.Fence(b.Context(), calendar.Fence{Lease: "mail", Holder: "one"})
		return err
	}))
	same(b, "it was lost", held, false)
}
