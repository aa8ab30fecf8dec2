package storetest

import (
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

func delegateTests() []test {
	return []test{
		{"listed on both sides", delegatesListed},
		{"ended by a block, a disabled owner and a deleted user", delegatesEnd},
		{"known to each other", delegatesKnown},
	}
}

func (b *bundle) delegate(owner, to calendar.User, access calendar.Access) {
	b.Helper()
	d := calendar.Delegation{Owner: owner, Delegate: to, Access: access, Created: b.now()}
	b.update(func(tx calendar.Tx) error { return tx.PutDelegation(b.Context(), d) })
}

// held returns the access that a transaction reads.
func (b *bundle) held(owner, delegate calendar.User) (access calendar.Access) {
	b.Helper()
	b.update(func(tx calendar.Tx) (err error) {
		access, err = tx.HoldDelegation(b.Context(), owner.ID, delegate.ID)
		return err
	})
	return access
}

func delegatesListed(b *bundle) {
	ann, bob, eve := b.user("ann"), b.user("bob"), b.user("eve")
	b.delegate(ann, eve, calendar.ReadAccess)
	b.delegate(ann, bob, calendar.ReadAccess)
	first := b.now()
	b.pass(time.Hour)
	b.delegate(ann, bob, calendar.WriteAccess) // keeps its time
	want := []calendar.Delegation{
		{Delegate: bob, Access: calendar.WriteAccess, Created: first},
		{Delegate: eve, Access: calendar.ReadAccess, Created: first},
	}
	gives(b, "ann's", want)(b.Delegates(b.Context(), ann.ID))
	b.update(func(tx calendar.Tx) error {
		gives(b, "ann's in a transaction", want)(tx.Delegates(b.Context(), ann.ID))
		return nil
	})
	b.givesNone("bob's own")(b.Delegates(b.Context(), bob.ID))
	gives(b, "bob's from others", []calendar.Delegation{
		{Owner: ann, Access: calendar.WriteAccess, Created: first},
	})(b.DelegatedTo(b.Context(), bob.ID))
	b.update(func(tx calendar.Tx) error {
		for user, want := range map[calendar.UserID]int64{ann.ID: 0, bob.ID: 1} {
			n, err := tx.CountDelegators(b.Context(), user)
			b.must(err)
			same(b, "delegators", n, want)
		}
		return nil
	})
	same(b, "held", b.held(ann, bob), calendar.WriteAccess)
	same(b, "held the other way", b.held(bob, ann), calendar.NoAccess)
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.PutDelegation(b.Context(), calendar.Delegation{
			Owner: ann, Delegate: bob, Access: calendar.FreeBusyAccess,
		})
	}), calendar.Invalid, "")
	b.update(func(tx calendar.Tx) error { return tx.DropDelegation(b.Context(), ann.ID, bob.ID) })
	same(b, "held after the end", b.held(ann, bob), calendar.NoAccess)
	b.givesNone("after the end")(b.DelegatedTo(b.Context(), bob.ID))
	b.refused(b.Update(b.Context(), func(tx calendar.Tx) error {
		return tx.DropDelegation(b.Context(), ann.ID, bob.ID)
	}), calendar.NotFound, "")
}

func delegatesEnd(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.delegate(ann, bob, calendar.WriteAccess)
	none := func(what string) {
		b.Helper()
		same(b, what, b.held(ann, bob), calendar.NoAccess)
		b.givesNone(what)(b.DelegatedTo(b.Context(), bob.ID))
	}
	b.update(func(tx calendar.Tx) error { return tx.PutBlock(b.Context(), bob.ID, ann.ID) })
	none("blocked")
	b.update(func(tx calendar.Tx) error { return tx.DropBlock(b.Context(), bob.ID, ann.ID) })
	same(b, "unblocked", b.held(ann, bob), calendar.WriteAccess)
	yes, no := true, false
	b.must(b.ChangeUser(b.Context(), ann.ID, auth.UserEdit{Disabled: &yes}))
	none("disabled")
	b.must(b.ChangeUser(b.Context(), ann.ID, auth.UserEdit{Disabled: &no}))
	same(b, "enabled", b.held(ann, bob), calendar.WriteAccess)
	b.must(b.DeleteUser(b.Context(), bob.ID))
	b.givesNone("deleted")(b.Delegates(b.Context(), ann.ID))
}

func delegatesKnown(b *bundle) {
	ann, bob := b.user("ann"), b.user("bob")
	b.delegate(ann, bob, calendar.ReadAccess)
	b.knows("hers", ann, calendar.Acquaintance{User: bob})
	b.knows("his", bob, calendar.Acquaintance{User: ann})
}
