package calendar

import (
	"context"
	"time"
)

// Delegation gives a user access to all calendars that another user owns.
type Delegation struct {
	Owner, Delegate User
	// Access is ReadAccess or WriteAccess.
	Access  Access
	Created time.Time
}

// MaxDelegates limits the delegates of a user.
const MaxDelegates = 20

// MaxDelegators limits the users who have the same delegate: their calendars are in the delegate's lists.
const MaxDelegators = 100

// DelegateReader is the part of a Store that reads delegations.
type DelegateReader interface {
	// Delegates returns a user's delegates, sorted by name.
	Delegates(ctx context.Context, owner UserID) ([]Delegation, error)
	// DelegatedTo returns the delegations in force that a user has from others, sorted by the owners' names. It leaves
	// out disabled owners and owners whom the user has blocked.
	DelegatedTo(ctx context.Context, delegate UserID) ([]Delegation, error)
}

// DelegateKeeper is the part of a Tx that changes delegations.
type DelegateKeeper interface {
	// Delegates is DelegateReader.Delegates within the transaction. It locks the owner: no other transaction changes
	// their delegates until the commit.
	Delegates(ctx context.Context, owner UserID) ([]Delegation, error)
	// HoldDelegation returns the access that a user has as a delegate of an owner now, NoAccess if none. It does not
	// change before the commit.
	HoldDelegation(ctx context.Context, owner, delegate UserID) (Access, error)
	// CountDelegators returns how many users have a delegate. It includes users who are disabled or blocked.
	CountDelegators(ctx context.Context, delegate UserID) (int64, error)
	// PutDelegation stores a delegation, in place of an existing one of the two users.
	PutDelegation(ctx context.Context, d Delegation) error
	// DropDelegation deletes a delegation; NotFound when there is none.
	DropDelegation(ctx context.Context, owner, delegate UserID) error
}

// ActsFor reports whether the caller makes the request as a delegate of User.
func (c Caller) ActsFor() bool { return c.Delegate.ID != "" }

// For returns the user if a delegate acts for them, "" if they act for themselves.
func (c Caller) For() UserID {
	if c.ActsFor() {
		return c.User.ID
	}
	return ""
}

// Author returns the user who makes the request: the delegate if User has one here, otherwise User.
func (c Caller) Author() User {
	if c.ActsFor() {
		return c.Delegate
	}
	return c.User
}

// As returns the caller as a delegate of the owner. The access of the delegation limits the caller from now on.
func (c Caller) As(d Delegation) Caller {
	c.User, c.Delegate, c.Most, c.Mails = d.Owner, c.User, d.Access, nil
	return c
}

// MayActFor authorizes the use of other users' calendars as their delegate. A token limited to certain calendars cannot
// reach those.
func (c Caller) MayActFor() error {
	if c.ActsFor() || !c.ForOthers || c.Calendars != nil {
		return Errorf(Forbidden, RulePrivileges, "this token may not use the calendars of others as a delegate")
	}
	return nil
}

// ErrNotDelegate reports that the caller is not a delegate of a user, who may not exist.
func ErrNotDelegate(user string) error {
	return Errorf(NotFound, "", "no user %q has made you their delegate", user)
}
