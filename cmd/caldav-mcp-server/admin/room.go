package admin

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
	"caldav-mcp-server/cmd/caldav-mcp-server/command"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
)

const createRoomDetails = `
A room is invited by its mail address, like an attendee, and responds by itself: it accepts if it is free and declines
if it is taken, for each instance of a series. No one can sign in as a room. It can be booked up to two years ahead.

BOOKERS can book it: users (everyone with an account here), anybody (also by mail from outside), or one user or group.
Users who can write to its calendar can always book it. They see all its bookings, and can overrule its responses.
  caldav-mcp-server create-room blue --email blue@example.org --display-name "Blue room, 2nd floor" --capacity 8
  caldav-mcp-server create-room projector --kind resource --email projector@example.org --bookers staff
  caldav-mcp-server share --user blue --calendar bookings --with alice --permission read-write
`

// roomFlags are the flags for a room.
type roomFlags struct {
	kind, bookers string
	capacity      int64
	byHand        bool
}

// CreateRoomCommand is the command create-room.
func CreateRoomCommand() command.Command {
	var room auth.NewUser
	var said roomFlags
	return command.Command{
		Name: "create-room", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "create a room or another bookable resource", Details: createRoomDetails,
		Flags: func(f *flag.FlagSet) {
			f.StringVar(&room.Email, "email", "", "mail `ADDRESS` for invitations (needed)")
			f.StringVar(&room.DisplayName, "display-name", "", "display `NAME`")
			f.StringVar(&room.Timezone, "timezone", "", "its time `ZONE`, such as Europe/Berlin")
			f.StringVar(&said.kind, "kind", string(calendar.RoomToMeet), "its `KIND`: room or resource")
			f.Int64Var(&said.capacity, "capacity", 0, "how many `PEOPLE` fit; 0 for no limit")
			f.StringVar(&said.bookers, "bookers", "users",
				"`WHO` can book it: users, anybody, or the name of a user or a group")
			f.BoolVar(&said.byHand, "by-hand", false,
				"it does not respond by itself: users who can write to its calendar do")
		},
		Check: func(*command.Context, []string) error {
			if kind := calendar.RoomKind(said.kind); kind != calendar.RoomToMeet && kind != calendar.Resource {
				return fmt.Errorf("--kind: %q is neither room nor resource", said.kind)
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			room.Name = operands[0]
			bookers, err := d.Auth.Bookers(ctx, said.bookers)
			if err != nil {
				return err
			}
			room.Room = calendar.Room{
				Kind: calendar.RoomKind(said.kind), Capacity: said.capacity, Bookers: bookers, ByHand: said.byHand,
			}
			made, err := d.App.CreateRoom(ctx, room)
			if err != nil {
				return err
			}
			return d.Done(roomJSON(roomListed{made, said.bookers}), "created the %s %s\n", said.kind, made.Name)
		},
	}
}

const setRoomDetails = `
Everything else stays, including bookings that the room has answered. set-user changes its names and its address, and
delete-user deletes it with all its bookings.
  caldav-mcp-server set-room blue --capacity 12 --bookers staff
`

// SetRoomCommand is the command set-room.
func SetRoomCommand() command.Command {
	var edit auth.UserEdit
	var bookers *string
	return command.Command{
		Name: "set-room", Operands: []string{"NAME"}, Settings: settings.StoreGroup, JSON: true,
		Summary: "change the bookers and the capacity of a room", Details: setRoomDetails,
		Flags: func(f *flag.FlagSet) {
			f.Func("capacity", "how many `PEOPLE` fit; 0 for no limit", func(text string) error {
				n, err := strconv.ParseInt(text, 10, 64)
				if edit.Capacity = &n; err != nil || n < 0 {
					return errors.New("is not a number of people")
				}
				return nil
			})
			textFlag(f, &bookers, "bookers", "`WHO` can book it: users, anybody, or the name of a user or a group")
			switchFlag(f, &edit.ByHand, "by-hand", "`BOOL`: it does not respond by itself")
		},
		Check: func(*command.Context, []string) error {
			if edit == (auth.UserEdit{}) && bookers == nil {
				return errors.New("it needs something to change, such as --capacity")
			}
			return nil
		},
		Run: func(ctx context.Context, d *command.Context, operands []string) error {
			room, err := d.Auth.RoomNamed(ctx, operands[0])
			if err != nil {
				return err
			}
			if bookers != nil {
				who, err := d.Auth.Bookers(ctx, *bookers)
				if err != nil {
					return err
				}
				edit.Bookers = &who
			}
			if room, err = d.Auth.ChangeUser(ctx, room.Name, edit); err != nil {
				return err
			}
			listed, err := describeRoom(ctx, d.App, room)
			if err != nil {
				return err
			}
			return d.Done(roomJSON(listed), "changed the %s %s\n", room.Room.Kind, room.Name)
		},
	}
}

// roomListed is a room with the word for its bookers.
type roomListed struct {
	calendar.User
	bookers string
}

func describeRoom(ctx context.Context, h *app.App, room calendar.User) (roomListed, error) {
	word, err := h.Auth.BookersWord(ctx, room)
	return roomListed{room, cmp.Or(word, "nobody")}, err
}

func describeRooms(ctx context.Context, h *app.App) ([]roomListed, error) {
	rooms, err := h.Auth.Rooms(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]roomListed, len(rooms))
	for i, room := range rooms {
		if all[i], err = describeRoom(ctx, h, room); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// listedRoom is a room in JSON.
type listedRoom struct {
	ID          calendar.UserID   `json:"id"`
	Name        string            `json:"name"`
	Kind        calendar.RoomKind `json:"kind"`
	DisplayName string            `json:"display_name"`
	Email       string            `json:"email"`
	Capacity    int64             `json:"capacity"`
	Bookers     string            `json:"bookers"`
	ByHand      bool              `json:"by_hand"`
	Created     *time.Time        `json:"created"`
}

func roomJSON(r roomListed) listedRoom {
	return listedRoom{
		r.ID, r.Name, r.Room.Kind, r.DisplayName, r.Email, r.Room.Capacity, r.bookers, r.Room.ByHand,
		console.JSONTime(r.Created),
	}
}

// ListRoomsCommand is the command list-rooms.
func ListRoomsCommand() command.Command {
	return command.Listing[roomListed, listedRoom]{
		Command: command.Command{Name: "list-rooms", Summary: "list bookable rooms and resources"},
		Find:    func(ctx context.Context, h *app.App) ([]roomListed, error) { return describeRooms(ctx, h) },
		JSON:    roomJSON,
		Heads:   []string{"NAME", "DISPLAY NAME", "EMAIL", "KIND", "CAPACITY", "BOOKERS", "ANSWERS", "CREATED"},
		Row: func(r roomListed, _ time.Time) []string {
			capacity, answers := "any", "by itself"
			if r.Room.Capacity > 0 {
				capacity = strconv.FormatInt(r.Room.Capacity, 10)
			}
			if r.Room.ByHand {
				answers = "by hand"
			}
			return []string{
				r.Name, r.DisplayName, r.Email, string(r.Room.Kind), capacity, r.bookers, answers,
				console.ShownTime(r.Created),
			}
		},
	}.AsCommand()
}
