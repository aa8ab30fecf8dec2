package storetest

import (
	"fmt"
	"time"

	"caldav-mcp-server/calendar"
)

// proposalsStay: a proposal removed from the inbox is kept until it is dropped, replaced or old.
func proposalsStay(b *bundle) {
	ann := b.user("ann")
	hide := func(name calendar.ObjectName, seen calendar.Version) error {
		return b.Update(b.Context(), func(tx calendar.Tx) error {
			return tx.HideInboxItem(b.Context(), ann.ID, name, seen)
		})
	}
	of := func() []calendar.InboxNote {
		b.Helper()
		all, err := b.Proposals(b.Context(), ann.ID, 9)
		b.must(err)
		return all
	}
	one, two, other := b.item("one"), b.item("two"), b.item("other")
	one.Method, two.Method = calendar.MethodCounter, calendar.MethodCounter
	b.deliver(ann, one, two, other)
	same(b, "another version", calendar.ReasonOf(hide("one", 7)), calendar.Stale)
	b.must(hide("one", 1))
	b.must(hide("one", 0))
	b.must(hide("other", 0))
	b.must(hide("none", 0))
	one.Version, one.Method = 4, calendar.MethodCounter
	gone := func(name calendar.ObjectName, v calendar.Version) calendar.InboxItem {
		return calendar.InboxItem{Name: name, Version: v, Created: one.Created, Gone: true}
	}
	two.Version = 2
	same(b, "the inbox", b.inbox(ann).Items, []calendar.InboxItem{gone("one", 4), gone("other", 5), two})
	b.refuses(calendar.NotFound, "")(b.InboxItem(b.Context(), ann.ID, "one"))
	gives(b, "it is a proposal still", one)(b.Proposal(b.Context(), ann.ID, "one"))
	gives(b, "the one in the inbox", two)(b.Proposal(b.Context(), ann.ID, "two"))
	b.refuses(calendar.NotFound, "")(b.Proposal(b.Context(), ann.ID, "other"))
	size := int64(len(one.Data))
	same(b, "both", of(), []calendar.InboxNote{{Name: "two", Size: size}, {Name: "one", Size: size, Removed: true}})
	b.stale(ann, "one", 1)
	b.discard(ann, "one")
	b.stale(ann, "one", 4)
	same(b, "dropped", of(), []calendar.InboxNote{{Name: "two", Size: size}})
	b.must(hide("two", 0))
	two.Method = calendar.MethodReply
	b.deliver(ann, two)
	same(b, "replaced by something else", len(of()), 0)
	b.deliver(ann, one)
	b.must(hide("one", 0))
	b.pass(time.Hour)
	b.must(b.Prune(b.Context(), b.now()))
	same(b, "old", len(of()), 0)
}

// proposalsBounded: other messages never push out a proposal, and proposals push out only proposals, including
// removed ones.
func proposalsBounded(b *bundle) {
	ann := b.user("ann")
	many := func(prefix string, method calendar.Method) (items []calendar.InboxItem) {
		for i := range 505 {
			item := b.item(fmt.Sprintf("%s%03d", prefix, i))
			item.Method = method
			items = append(items, item)
		}
		return items
	}
	first := b.item("first")
	first.Method = calendar.MethodCounter
	b.deliver(ann, first)
	b.update(func(tx calendar.Tx) error { return tx.HideInboxItem(b.Context(), ann.ID, "first", 0) })
	b.deliver(ann, many("reply", calendar.MethodReply)...)
	count := func() (proposals int) {
		all, err := b.Proposals(b.Context(), ann.ID, 1000)
		b.must(err)
		return len(all)
	}
	same(b, "beside 500 others", count(), 1)
	b.pass(time.Minute)
	b.deliver(ann, many("wish", calendar.MethodCounter)...)
	same(b, "proposals", count(), 500)
	b.refuses(calendar.NotFound, "")(b.Proposal(b.Context(), ann.ID, "first"))
	_, err := b.Proposal(b.Context(), ann.ID, "wish005")
	b.must(err)
	there := 0
	for _, i := range b.inbox(ann).Items {
		if !i.Gone {
			there++
		}
	}
	same(b, "messages", there, 1000)
}
