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
