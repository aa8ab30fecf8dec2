package calendar

import (
	"context"
	"iter"
	"time"
)

// RoomKind is the kind of a bookable resource, as in RFC 5545 §3.2.3 but in lower case.
type RoomKind string

// The kinds of resources.
const (
	RoomToMeet RoomKind = "room"
	Resource   RoomKind = "resource"
)

// Anybody as Bookers lets people on other servers book a room by mail.
const Anybody = "*"

// Room makes a user a room or another bookable resource, which answers invitations automatically.
type Room struct {
	Kind RoomKind
	// Capacity is the maximum number of people; 0 means no limit.
	Capacity int64
	// Bookers may book it: empty means every user with an account, [Anybody] means everyone, otherwise the ID of a
	// user or a group.
	Bookers string
	// ByHand is set when only people answer for it: the users with write access to its calendar.
	ByHand bool
}

// Bookable reports whether the user is a room or resource.
func (r Room) Bookable() bool { return r.Kind != "" }

// Booking is an invitation of a room that waits for the automatic answer.
type Booking struct {
	Room     UserID
	Calendar CalendarID
	UID      UID
	Posted   time.Time
}

// BookingReader is the part of a Store that reads pending bookings.
type BookingReader interface {
	// Rooms returns the users that are rooms or resources, sorted by name.
	Rooms(ctx context.Context) ([]User, error)
	// Bookings returns at most so many bookings that have waited since before a time, oldest first.
	Bookings(ctx context.Context, before time.Time, most int) ([]Booking, error)
}

// BookingKeeper is the part of a Tx that writes bookings.
type BookingKeeper interface {
	// PutBooking stores a pending booking; DropBooking deletes it once it is answered.
	PutBooking(ctx context.Context, b Booking) error
	DropBooking(ctx context.Context, cal CalendarID, uid UID) error
	// ObjectsWithin is Reader.Objects within the transaction.
	ObjectsWithin(ctx context.Context, cal CalendarID, q ObjectQuery) iter.Seq2[Object, error]
}
