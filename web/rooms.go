package web

import (
	"cmp"
	"strconv"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/zone"
)

func (h *Handler) roomPages() []page {
	create := post("rooms", provenAdmins, roomPages.create)
	create.back = "rooms"
	return []page{
		get("rooms", admins, showing("rooms", roomPages.content)),
		create,
		get("rooms/{name}", admins, showing("room", roomPages.wanted)),
		post("rooms/{name}", provenAdmins, roomPages.change),
	}
}

// roomForm is the form of a room, with the values entered so far.
type roomForm struct {
	Name, DisplayName, Email, Timezone, Kind, Capacity, Bookers string
	ByHand                                                      bool
	// Places are the time zones to choose from, Names the users and groups who could book the room.
	Places []string
	Names  []calendar.User
}

// roomsContent is the data of the page of all rooms, for administrators.
type roomsContent struct {
	Rooms []roomRow
	Form  roomForm
}

// roomRow is a room in the list, with the word for its bookers.
type roomRow struct {
	calendar.User
	Bookers string
}

// roomContent is the data of the page of one room.
type roomContent struct {
	Room calendar.User
	Form roomForm
}

// roomPages manage rooms and resources, for administrators.
type roomPages struct{ *pageRequest }

func (p roomPages) content() (c roomsContent, err error) {
	rooms, err := p.Auth.Rooms(p.r.Context())
	if err != nil {
		return c, err
	}
	for _, room := range rooms {
		word, err := p.Auth.BookersWord(p.r.Context(), room)
		if err != nil {
			return c, err
		}
		c.Rooms = append(c.Rooms, roomRow{room, word})
	}
	c.Form, err = p.form(roomForm{Timezone: p.user().Timezone, Bookers: auth.BookersUsers})
	return c, err
}

// form returns the form as it was sent, or with these values.
func (p roomPages) form(f roomForm) (roomForm, error) {
	if p.r.PostForm.Has("bookers") {
		f = roomForm{
			Name: p.field("name"), DisplayName: p.field("display-name"), Email: p.field("email"),
			Timezone: p.field("timezone"), Kind: p.field("kind"), Capacity: p.field("capacity"),
			Bookers: p.field("bookers"), ByHand: p.field("by-hand") != "",
		}
	}
	f.Places = zone.Places()
	names, err := p.Auth.UserNames(p.r.Context())
	if err != nil {
		return f, err
	}
	groups, err := p.Auth.Groups(p.r.Context())
	f.Names = append(f.Names, calendar.User{Name: auth.BookersUsers}, calendar.User{Name: auth.BookersAnybody})
	for _, g := range groups {
		f.Names = append(f.Names, g.User)
	}
	f.Names = append(f.Names, names...)
	return f, err
}

// read parses the form's capacity, bookers and time zone.
func (p roomPages) read(f roomForm) (capacity int64, bookers, timezone string, err error) {
	if f.Capacity != "" {
		if capacity, err = strconv.ParseInt(f.Capacity, 10, 64); err != nil || capacity < 0 {
			return 0, "", "", p.wrong("rooms.capacity-wrong", "text", excerpt(f.Capacity))
		}
	}
	if bookers, err = p.Auth.Bookers(p.r.Context(), f.Bookers); err != nil {
		return 0, "", "", err
	}
	timezone, err = p.timezone()
	return capacity, bookers, timezone, err
}

func (p roomPages) create() error {
	c, err := p.content()
	if err != nil {
		return err
	}
	f := c.Form
	capacity, bookers, timezone, err := p.read(f)
	if err != nil {
		return p.again("rooms", c, err)
	}
	kind := calendar.RoomToMeet
	if f.Kind == string(calendar.Resource) {
		kind = calendar.Resource
	}
	room, err := p.NewRoom(p.r.Context(), auth.NewUser{
		Name: f.Name, DisplayName: f.DisplayName, Email: f.Email, Timezone: timezone, Invited: true,
		Room: calendar.Room{Kind: kind, Capacity: capacity, Bookers: bookers, ByHand: f.ByHand},
	})
	if err != nil {
		return p.again("rooms", c, err)
	}
	p.did("rooms/create", room.Name)
	return p.done("rooms", "room-created")
}

// wanted returns the room that the path names.
func (p roomPages) wanted() (c roomContent, err error) {
	if c.Room, err = p.Auth.RoomNamed(p.r.Context(), p.r.PathValue("name")); err != nil {
		return c, errMissing()
	}
	word, err := p.Auth.BookersWord(p.r.Context(), c.Room)
	if err != nil {
		return c, err
	}
	f := roomForm{
		DisplayName: c.Room.DisplayName, Email: c.Room.Email, Timezone: c.Room.Timezone, Bookers: word,
		ByHand: c.Room.Room.ByHand,
	}
	if n := c.Room.Room.Capacity; n > 0 {
		f.Capacity = strconv.FormatInt(n, 10)
	}
	c.Form, err = p.form(f)
	return c, err
}

func (p roomPages) change() error {
	c, err := p.wanted()
	if err != nil {
		return err
	}
	page, notice := "rooms", ""
	switch do := p.field("do"); do {
	case "save":
		notice, err = "saved", p.save(c)
	case "delete":
		notice = "room-deleted"
		if p.field("sure") == "" {
			err = p.wrong("rooms.delete-unsure")
			break
		}
		_, err = p.DeleteUser(p.r.Context(), c.Room, calendar.UserDeletion{})
	default:
		return errMissing()
	}
	if err != nil {
		return p.again("room", c, err)
	}
	p.did("rooms/"+p.field("do"), c.Room.Name)
	return p.done(page, notice)
}

func (p roomPages) save(c roomContent) error {
	capacity, bookers, timezone, err := p.read(c.Form)
	if err != nil {
		return err
	}
	if c.Form.Email == "" {
		return p.wrong("rooms.email-missing")
	}
	timezone = cmp.Or(timezone, c.Room.Timezone)
	_, err = p.ChangeUser(p.r.Context(), c.Room.Name, auth.UserEdit{
		DisplayName: &c.Form.DisplayName, Email: &c.Form.Email, Timezone: &timezone,
		Capacity: &capacity, Bookers: &bookers, ByHand: &c.Form.ByHand,
	})
	return err
}
