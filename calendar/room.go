package calendar

import (
	"context"
	"iter"
	"time"
)

// RoomKind is what a user is who is no person, by the names of RFC 5545 §3.2.3 in lower case.
type RoomKind string

// The kinds of them.
const (
	RoomToMeet RoomKind = "room"
	Resource   RoomKind = "resource"
)

// Anybody is who may book a room that people elsewhere may book, by mail.
const Anybody = "*"

// Room is what makes a user a room, or another thing that people book: it answers invitations by itself.
type Room struct {
	Kind RoomKind
	// Capacity is how many people it takes; 0 is any number.
	Capacity int64
	// Bookers are who may book it: everybody with an account where it is empty, [Anybody], or the id of a user or a group.
	Bookers string
	// ByHand tells that only people answer for it: those who may write in its calendar.
	ByHand bool
}

// Bookable tells whether the user is a room.
func (r Room) Bookable() bool { return r.Kind != "" }

// Booking is an invitation of a room that waits for its answer.
type Booking struct {
	Room     UserID
	Calendar CalendarID
	UID      UID
	Posted   time.Time
}

// BookingReader is the part of a Store that knows what rooms are to answer.
type BookingReader interface {
	// Rooms returns the users who are rooms, by name.
	Rooms(ctx context.Context) ([]User, error)
	// Bookings returns what waits for an answer since before a time, the oldest first and so many at most.
	Bookings(ctx context.Context, before time.Time, most int) ([]Booking, error)
}

// BookingKeeper is the part of a Tx that keeps it.
type BookingKeeper interface {
	// PutBooking notes that a room is to answer; DropBooking that it has.
	PutBooking(ctx context.Context, b Booking) error
	DropBooking(ctx context.Context, cal CalendarID, uid UID) error
	// ObjectsWithin is Reader.Objects within the transaction.
	ObjectsWithin(ctx context.Context, cal CalendarID, q ObjectQuery) iter.Seq2[Object, error]
}
