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

// PushID identifies a push subscription. Only the program that created it knows the ID.
type PushID string

// PushSubscription is a program on a device that is notified of changes through a push service (WebDAV-Push).
type PushSubscription struct {
	ID   PushID
	User UserID
	// Token is the credential that created it; empty for a password.
	Token TokenID
	// Calendar is the calendar to watch; empty means the user's home and everything in it.
	Calendar CalendarID
	// Endpoint is the push service's URL for messages. Key and Auth are the keys to encrypt them.
	Endpoint  string
	Key, Auth []byte
	Expires   time.Time
	// Told and ToldOwn are the state that the program knows: a calendar's Version and Own, or sums of these for a
	// home.
	Told, ToldOwn Version
	// Due is the earliest time of the next message. Tries counts the failures since the last success.
	Due   time.Time
	Tries int64
}

// PushDue is a subscription with the current state, which its program does not know yet.
type PushDue struct {
	PushSubscription
	Now, NowOwn Version
}

// Moved is the state change of a calendar that one request made.
type Moved struct {
	Calendar CalendarID
	// Before and After are its versions, with none between them.
	Before, After Version
	// Own is the caller's own version, which did not change.
	Own Version
	// By is the caller who made the change.
	By Caller
}

// Pushes is the part of a Store that holds push subscriptions.
type Pushes interface {
	// RegisterPush stores a subscription with the current state as known. An existing one with the same user,
	// calendar and endpoint keeps its ID, state and Tries. It deletes the user's expired subscriptions first. TooLarge
	// if a new one would be the user's most+1st, or the homes+1st that watches the user's home, which is more expensive
	// to check.
	RegisterPush(ctx context.Context, sub PushSubscription, most, homes int) (PushSubscription, error)
	// UnregisterPush deletes a user's subscription, or returns NotFound.
	UnregisterPush(ctx context.Context, user UserID, id PushID) error
	// QuietPush marks a change as known to some of a user's subscriptions to the calendar or the home, or to all if ids
	// is empty. It affects only subscriptions that knew the state before the change, and only if the journal confirms
	// that m.By made the change.
	QuietPush(ctx context.Context, user UserID, ids []PushID, m Moved) error
	// DuePushes returns subscriptions that do not know the current state: per user earliest due first, and one of
	// each user before a second of any user.
	DuePushes(ctx context.Context, now time.Time, most int) ([]PushDue, error)
	// SettlePushes stores Told, ToldOwn, Due and Tries of subscriptions, and deletes those without an Endpoint.
	SettlePushes(ctx context.Context, all []PushSubscription) error
}

// TopicKey is the key for topic names. Without the key, a topic reveals nothing about the user or the calendar.
type TopicKey []byte

// Topic returns the topic name in messages to a program. Topics differ by user, because a device may have several
// accounts.
func (k TopicKey) Topic(user UserID, cal CalendarID) string {
	return k.name("topic", string(user), string(cal))
}

// Slot names the subscription's pending message at the push service, which a newer message replaces. It reveals
// nothing else.
func (k TopicKey) Slot(id PushID) string { return k.name("slot", string(id)) }

func (k TopicKey) name(parts ...string) string {
	m := hmac.New(sha256.New, k)
	_, _ = io.WriteString(m, strings.Join(parts, "\x00")) // never fails
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:18])
}
