package calendar

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"strings"
	"time"
)

// PushID names a subscription to messages about changes. It is a secret of the program that made it.
type PushID string

// PushSubscription is a program on a device that is told of changes through a push service (WebDAV-Push).
type PushSubscription struct {
	ID   PushID
	User UserID
	// Token is the credential that made it; empty for a password.
	Token TokenID
	// Calendar is what it is told of; empty for the user's home with all that is in it.
	Calendar CalendarID
	// Endpoint is where the push service takes messages, Key and Auth are what they are encrypted with.
	Endpoint  string
	Key, Auth []byte
	Expires   time.Time
	// Told and ToldOwn are the state that the program knows: of a calendar its Version and Own, of a home a sum of such.
	Told, ToldOwn Version
	// Due is before when it is not told, Tries how often that failed since it was last told.
	Due   time.Time
	Tries int64
}

// PushDue is a subscription with what there is to tell: the state that its program does not know yet.
type PushDue struct {
	PushSubscription
	Now, NowOwn Version
}

// Moved is a change of a calendar's state that one request made.
type Moved struct {
	Calendar CalendarID
	// Before and After are its versions, with nothing between them.
	Before, After Version
	// Own is that of a sharee, which did not move.
	Own Version
	// By is who made the change.
	By Caller
}

// Pushes is the part of a Store that keeps who is told by push.
type Pushes interface {
	// RegisterPush keeps a subscription, which knows the present state of what it is for. One of the same user, calendar and
	// endpoint keeps its ID, its state and its Tries. Of more than most the user loses those that are over first. TooLarge where
	// more than homes of them would be for the user's home, which takes longer to look at.
	RegisterPush(ctx context.Context, sub PushSubscription, most, homes int) (PushSubscription, error)
	// UnregisterPush ends one of a user's; NotFound when there is none.
	UnregisterPush(ctx context.Context, user UserID, id PushID) error
	// QuietPush notes that a change is known to some of a user's subscriptions, or, with none, to all: those that knew all
	// before it, and only where the journal says that it was made by that caller.
	QuietPush(ctx context.Context, user UserID, ids []PushID, m Moved) error
	// DuePushes returns subscriptions that do not know the present state of what they are for: of each user the
	// earliest due first, and one of everybody's before a second of anybody's.
	DuePushes(ctx context.Context, now time.Time, most int) ([]PushDue, error)
	// SettlePushes notes what became of some: Told, ToldOwn, Due and Tries. Those with no Endpoint are forgotten.
	SettlePushes(ctx context.Context, all []PushSubscription) error
}

// TopicKey is what topics are made with: anyone who has it not learns of a topic nothing about the user or the calendar.
type TopicKey []byte

// Topic names what a program is told of, in messages to it. Each user has their own: a device may have several accounts.
func (k TopicKey) Topic(user UserID, cal CalendarID) string {
	return k.name("topic", string(user), string(cal))
}

// Slot names what the messages of a subscription about a topic take the place of, at the push service, which learns no more.
func (k TopicKey) Slot(id PushID) string { return k.name("slot", string(id)) }

func (k TopicKey) name(parts ...string) string {
	m := hmac.New(sha256.New, k)
	_, _ = io.WriteString(m, strings.Join(parts, "\x00")) // never fails
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}
