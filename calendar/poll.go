package calendar

import (
	"context"
	"time"
)

// PollID identifies a poll.
type PollID string

// PollPersonID identifies a person of a poll.
type PollPersonID string

// PollState is the state of a poll.
type PollState string

// The states of a poll.
const (
	// PollOpen is a poll whose owner has not picked a time. It takes answers until it closes.
	PollOpen PollState = "open"
	// PollPicked is a poll with an event, PollCancelled one without.
	PollPicked    PollState = "picked"
	PollCancelled PollState = "cancelled"
)

// Poll offers several times to several people. See docs/decisions/0133-polls.md.
type Poll struct {
	ID    PollID
	Owner UserID
	// Link is the secret of the link for everyone.
	Link  string
	State PollState
	// Version counts the changes by the owner.
	Version int64
	// Closes ends the answers. Ends is when the poll is deleted.
	Closes, Ends, Created time.Time
	// Settings is the JSON of poll.Settings.
	Settings []byte
	// Picked is the id of the time that the owner picked; Calendar and UID name the event.
	Picked   int64
	Calendar CalendarID
	UID      UID
}

// PollPerson is a person who was asked in a poll, or who answered by the link for everyone.
type PollPerson struct {
	ID   PollPersonID
	Poll PollID
	// Link is the secret of the person's own link.
	Link string
	// Invited is set if the owner named the person, with a mail address.
	Invited       bool
	Name, Address string
	// Zone is the time zone that the person chose, Language is that of the page with the answers. Network is a hash of
	// the network, to limit answers.
	Zone, Language, Network string
	Created                 time.Time
	// Answers is the JSON of poll.Answers. Changes counts its versions; it is 0 before the first.
	Answers []byte
	Changes int64
	// Reminded is the time of the last reminder.
	Reminded  time.Time
	Reminders int64
}

// PollLimits limit polls.
type PollLimits struct {
	// Polls limits the polls of a user, Invited the people of a poll who have been named, People all of them.
	Polls, Invited, People int64
	// Network limits the new answers of a network within an hour, Changes the changes of one person's answers.
	Network, Changes int64
}

// Polls is the part of a Store that holds polls.
type Polls interface {
	// SavePoll adds a poll, or writes State, Closes, Ends and Settings of an open one of the same version. It
	// adds people and queues letters in the same transaction. The new version is one more. Stale if the poll has
	// another version or is not open, TooLarge if that would exceed a limit.
	SavePoll(
		ctx context.Context, p Poll, added []PollPerson, letters []Letter, most PollLimits, outbox OutboxLimits,
	) error
	// DeletePoll deletes an owner's poll; NotFound if there is none. DeletePollPerson deletes a person of a poll.
	DeletePoll(ctx context.Context, owner UserID, id PollID) error
	DeletePollPerson(ctx context.Context, id PollID, person PollPersonID) error
	// Polls lists an owner's polls, the newest first. Poll returns one by its id, PollByLink by the secret of its link
	// for everyone; NotFound if there is none.
	Polls(ctx context.Context, owner UserID) ([]Poll, error)
	Poll(ctx context.Context, id PollID) (Poll, error)
	PollByLink(ctx context.Context, link string) (Poll, error)
	// PollPeople lists the people of a poll, the oldest first. PollPerson returns one by id, PollPersonByLink by the
	// secret of their own link; NotFound if there is none.
	PollPeople(ctx context.Context, id PollID) ([]PollPerson, error)
	PollPerson(ctx context.Context, id PollPersonID) (PollPerson, error)
	PollPersonByLink(ctx context.Context, link string) (PollPerson, error)
	// AddPollAnswer adds a person with answers to a poll. Stale if the poll takes none any more, TooLarge if that would
	// exceed a limit.
	AddPollAnswer(ctx context.Context, p PollPerson, most PollLimits) error
	// UpdatePollAnswer writes Zone, Language and Answers of a person whose answers have the same version. Stale if they
	// have another one or the poll takes none any more, TooLarge after too many changes.
	UpdatePollAnswer(ctx context.Context, p PollPerson, now time.Time, most PollLimits) error
	// RemindPoll queues reminders for people of an open poll and counts them. Stale, and no letter, if the poll takes
	// no answers or a person has other Reminders: another process was faster.
	RemindPoll(
		ctx context.Context, p Poll, people []PollPerson, letters []Letter, now time.Time, o OutboxLimits,
	) error
}

// PollKeeper is the part of a Tx that ends polls.
type PollKeeper interface {
	// PickPoll writes State, Ends, Picked, Calendar and UID of an open poll of the same version; Stale otherwise.
	PickPoll(ctx context.Context, p Poll) error
}
