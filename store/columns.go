package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// column is a column or an expression, and the field that receives its value.
type column[T any] struct {
	text string
	into func(*T) any
}

// columns describes the select list of a query. The list, its order and the parsing of a row all come from one
// table.
type columns[T any] []column[T]

// list returns the select list.
func (c columns[T]) list() string {
	texts := make([]string, len(c))
	for i, one := range c {
		texts[i] = one.text
	}
	return strings.Join(texts, ", ")
}

// scan parses a row.
func (c columns[T]) scan(row db.Scanner) (T, error) { return db.ScanInto(c.fields)(row) }

// fields returns pointers to the fields that receive the values.
func (c columns[T]) fields(one *T) []any {
	into := make([]any, len(c))
	for i, each := range c {
		into[i] = each.into(one)
	}
	return into
}

// level is a column with the name of an access level.
type level struct{ *calendar.Access }

// Scan implements [database/sql.Scanner].
func (l level) Scan(value any) error {
	word, ok := value.(string)
	if !ok {
		return fmt.Errorf("%T is not an access level", value)
	}
	*l.Access = calendar.ParseAccess(word)
	return nil
}

// versions is a column of versions separated by spaces, in any order.
type versions struct{ into *[]calendar.Version }

// Scan implements [database/sql.Scanner].
func (v versions) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return fmt.Errorf("%T is not a list of versions", value)
	}
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return err
		}
		*v.into = append(*v.into, calendar.Version(n))
	}
	slices.Sort(*v.into)
	return nil
}

// calendarIDs is a column of ids separated by spaces, in any order.
type calendarIDs struct{ into *[]calendar.CalendarID }

// Scan implements [database/sql.Scanner].
func (c calendarIDs) Scan(value any) error {
	err := db.Words(c.into).Scan(value)
	slices.Sort(*c.into)
	return err
}

// userColumns are the columns of users u.
var userColumns = columns[calendar.User]{
	{"u.id", func(u *calendar.User) any { return &u.ID }},
	{"u.name", func(u *calendar.User) any { return &u.Name }},
	{"u.display_name", func(u *calendar.User) any { return &u.DisplayName }},
	{"u.email", func(u *calendar.User) any { return &u.Email }},
	{"u.timezone", func(u *calendar.User) any { return &u.Timezone }},
	{"u.created", func(u *calendar.User) any { return db.Seconds(&u.Created) }},
	{"u.admin", func(u *calendar.User) any { return &u.Admin }},
	{"u.disabled", func(u *calendar.User) any { return &u.Disabled }},
	{"u.week_start", func(u *calendar.User) any { return &u.WeekStart }},
	{"u.working_days", func(u *calendar.User) any { return &u.WorkingDays }},
	{"u.working_hours", func(u *calendar.User) any { return &u.WorkingHours }},
	{"u.second_zone", func(u *calendar.User) any { return &u.View.SecondZone }},
	{"u.clock", func(u *calendar.User) any { return &u.View.Clock }},
	{"u.week_numbers_off", func(u *calendar.User) any { return &u.View.WeekNumbersOff }},
	{"u.working_hours_off", func(u *calendar.User) any { return &u.View.WorkingHoursOff }},
	{"u.shortcuts_off", func(u *calendar.User) any { return &u.View.ShortcutsOff }},
	{"u.language", func(u *calendar.User) any { return &u.Language }},
	{"u.browser_language", func(u *calendar.User) any { return &u.BrowserLanguage }},
	{"u.is_group", func(u *calendar.User) any { return &u.Group }},
	{"u.quota_calendars", func(u *calendar.User) any { return &u.Quota.Calendars }},
	{"u.quota_objects", func(u *calendar.User) any { return &u.Quota.Objects }},
	{"u.quota_bytes", func(u *calendar.User) any { return &u.Quota.Bytes }},
	{"u.place", func(u *calendar.User) any { return &u.Room.Kind }},
	{"u.capacity", func(u *calendar.User) any { return &u.Room.Capacity }},
	{"u.bookers", func(u *calendar.User) any { return &u.Room.Bookers }},
	{"u.by_hand", func(u *calendar.User) any { return &u.Room.ByHand }},
}

// selectUsers selects users.
var selectUsers = `SELECT ` + userColumns.list() + ` FROM users u `

// moment converts a stored time.
func moment(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// unlessZero returns a time as stored in columns of seconds: nil for the zero time.
func unlessZero(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	seconds := t.Unix()
	return &seconds
}

// bytesOf turns nil into empty, which a driver would store as NULL.
func bytesOf(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

func valueOr(p *int64, otherwise int64) int64 {
	if p == nil {
		return otherwise
	}
	return *p
}

func unless(v, none int64) *int64 {
	if v == none {
		return nil
	}
	return &v
}
