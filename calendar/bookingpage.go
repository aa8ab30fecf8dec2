package calendar

import (
	"context"
	"time"
)

// BookingPageID identifies a booking page.
type BookingPageID string

// HoldID identifies a hold.
type HoldID string

// BookingPage is a page where visitors choose a time with its owner. See docs/decisions/0126-booking-pages.md.
type BookingPage struct {
	ID    BookingPageID
	Owner UserID
	// Name is the last part of its address.
	Name    string
	On      bool
	Created time.Time
	// Settings is the JSON of booking.Settings.
	Settings []byte
}

// BookingPerson is a user whom a booking page names in addition to its owner.
type BookingPerson struct {
	User   UserID
	Answer BookingAnswer
}

// BookingAnswer is a user's answer to a booking page that names them.
type BookingAnswer string

// The answers. A page uses the times only of users who agreed.
const (
	NotAnswered BookingAnswer = ""
	Agreed      BookingAnswer = "yes"
	Refused     BookingAnswer = "no"
)

// BookingRequest is a page that names a user, with the user's answer.
type BookingRequest struct {
	Page   BookingPage
	Answer BookingAnswer
}

// HoldState is the state of a hold.
type HoldState string

// The states of a hold.
const (
	// Held is a hold that waits for its confirmation, until it expires.
	Held HoldState = "held"
	// Reserved is a hold that its visitor has confirmed, while its room has not accepted yet. It takes its time.
	Reserved HoldState = "reserved"
	// Booked is a hold that its visitor has confirmed.
	Booked HoldState = "booked"
	// Released is a booking that was cancelled. It is not stored: its event is gone.
	Released HoldState = "released"
	// Ended is a hold that expired. It is kept for the limits of a day.
	Ended HoldState = "ended"
)

// Hold is a time that a visitor of a booking page has chosen, and the booking that it becomes. Its event is in the
// calendar of its host.
type Hold struct {
	ID   HoldID
	Page BookingPageID
	// Host is the user who gets the booking; "" is the page's owner.
	Host UserID
	// Token is the hash of the token in the visitor's link.
	Token    []byte
	State    HoldState
	Calendar CalendarID
	UID      UID
	// Start and End are the chosen times. Expires ends a hold that is not confirmed.
	Start, End, Expires, Created time.Time
	// Name and Address are the visitor's, Zone and Language are the page's as the visitor saw it.
	Name           string
	Address        string
	Zone, Language string
	// Network is a hash of the visitor's network, to limit holds.
	Network string
	// Moves counts the changes of time.
	Moves int64
	// Gone is set if the event is not in the calendar any more. Only lists have it.
	Gone bool
}

// HoldLimits limit the holds of a page.
type HoldLimits struct {
	// Waiting limits the holds of a page that wait for a confirmation, Daily all holds of a page within a day.
	Waiting, Daily int64
	// Address limits the holds of an address on all pages within a day, because each sends a mail. Network limits the
	// holds of a network within an hour.
	Address, Network int64
}

// BookingPages is the part of a Store that holds booking pages.
type BookingPages interface {
	// InsertBookingPage adds a page and its people. Exists if the name is taken, TooLarge if the owner has too many.
	InsertBookingPage(ctx context.Context, p BookingPage, people []UserID, most int) error
	// UpdateBookingPage writes Name, On and Settings of an owner's page, and its people; NotFound if there is none,
	// Exists if the name is taken. With again, people who agreed are asked again. A refusal stays, even if the person
	// is removed and named again.
	UpdateBookingPage(ctx context.Context, p BookingPage, people []UserID, again bool) error
	// BookingPeople lists the people of a page, in its order.
	BookingPeople(ctx context.Context, page BookingPageID) ([]BookingPerson, error)
	// BookingPagesWith lists the pages of others that name a user, the oldest first.
	BookingPagesWith(ctx context.Context, user UserID) ([]BookingRequest, error)
	// AnswerBookingPage stores a user's answer to a page that names them; NotFound if it does not, or if its settings
	// differ from those in p.
	AnswerBookingPage(ctx context.Context, p BookingPage, user UserID, a BookingAnswer) error
	// DeleteBookingPage deletes an owner's page and its holds; NotFound if there is none.
	DeleteBookingPage(ctx context.Context, owner UserID, id BookingPageID) error
	// BookingPages lists an owner's pages, the oldest first.
	BookingPages(ctx context.Context, owner UserID) ([]BookingPage, error)
	// BookingPageNamed returns a page by its name, BookingPage by its id; NotFound if there is none.
	BookingPageNamed(ctx context.Context, name string) (BookingPage, error)
	BookingPage(ctx context.Context, id BookingPageID) (BookingPage, error)

	// InsertHold adds a hold. TooLarge if that would exceed a limit.
	InsertHold(ctx context.Context, h Hold, most HoldLimits) error
	// HoldByToken returns the hold of a link, HoldByID one by its id; NotFound if there is none.
	HoldByToken(ctx context.Context, token []byte) (Hold, error)
	HoldByID(ctx context.Context, id HoldID) (Hold, error)
	// HoldsOf lists the open holds and the bookings of an owner's pages whose time ends after a moment, by start.
	HoldsOf(ctx context.Context, owner UserID, after time.Time) ([]Hold, error)
	// HoldsIn lists the open holds in calendars whose time ends after a moment.
	HoldsIn(ctx context.Context, in []CalendarID, after time.Time) ([]Hold, error)
	// RehomeHold writes Host, Calendar and UID of an open hold; NotFound if it is none, or if left has another UID.
	// It adds left, so that the former event is deleted even if this process ends.
	RehomeHold(ctx context.Context, next, left Hold) error
	// KeepHold adds a hold without limits, for an event that is deleted when the hold ends.
	KeepHold(ctx context.Context, h Hold) error
	// SwapHolds books a reserved hold, with the event of left, which gets the hold's event and expires. NotFound if the
	// one is not reserved, or the other has expired.
	SwapHolds(ctx context.Context, h, left HoldID, now time.Time) error
	// ExpiredHolds lists at most so many unconfirmed holds that expired before a time, and holds that ended but still
	// have an event.
	ExpiredHolds(ctx context.Context, before time.Time, most int) ([]Hold, error)
	// EndHold ends a hold; NotFound if it is confirmed.
	EndHold(ctx context.Context, id HoldID) error
	// ForgetHolds deletes holds that expired before ended and are ended, and bookings whose time and event ended before
	// past.
	ForgetHolds(ctx context.Context, ended, past time.Time) error
}

// HoldKeeper is the part of a Tx that confirms and moves holds.
type HoldKeeper interface {
	// UpdateHold writes State, Start, End and Moves of a hold that is in a state and has so many moves, and has not
	// expired if it is unconfirmed. NotFound otherwise.
	UpdateHold(ctx context.Context, next Hold, from HoldState, moves int64, now time.Time) error
}

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
	// Zone is the time zone that the person chose. Network is a hash of the network, to limit answers.
	Zone, Network string
	Created       time.Time
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
	// UpdatePollAnswer writes Zone and Answers of a person whose answers have the same version. Stale if they have
	// another one or the poll takes none any more, TooLarge after too many changes.
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
