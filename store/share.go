package store

import (
	"context"

	"caldav-mcp-server/calendar"
)

// accessWords are the levels of access as the shares have them.
var accessWords = [...]string{
	calendar.FreeBusyAccess: "freebusy",
	calendar.ReadAccess:     "read",
	calendar.WriteAccess:    "read-write",
}

// accessWord returns the word of a level; there is none for no access.
func accessWord(access calendar.Access) string { return accessWords[access] }

// accessOf reads a word. One that a newer program wrote means nothing here, rather than too much.
func accessOf(word string) calendar.Access {
	if word == "owner" {
		return calendar.OwnerAccess
	}
	for access, known := range accessWords {
		if known == word {
			return calendar.Access(access)
		}
	}
	return calendar.NoAccess
}

// arrangementColumns are those of the shares that are the sharee's own.
const arrangementColumns = `own_name, own_description, own_color, own_position, own_opaque, own_hidden`

// arrangementRow are the arrangementColumns, all of them NULL where there is no share.
type arrangementRow struct {
	calendar.Arrangement
	opaque, hidden *bool
}

func (r *arrangementRow) fields() []any {
	return []any{&r.Name, &r.Description, &r.Color, &r.Order, &r.opaque, &r.hidden}
}

func (r *arrangementRow) result() calendar.Arrangement {
	a := r.Arrangement
	a.Opaque, a.Hidden = r.opaque != nil && *r.opaque, r.hidden != nil && *r.hidden
	return a
}

// Arrangement implements [calendar.Tx].
func (t *Tx) Arrangement(ctx context.Context, id calendar.CalendarID, user calendar.UserID) (calendar.Arrangement, error) {
	return rowOf(ctx, t, func(row scanner) (calendar.Arrangement, error) {
		var r arrangementRow
		err := row.Scan(r.fields()...)
		return r.result(), err
	}, `SELECT `+arrangementColumns+` FROM shares WHERE calendar_id = $1 AND user_id = $2`, id, user)
}

// Arrange implements [calendar.Tx].
func (t *Tx) Arrange(ctx context.Context, id calendar.CalendarID, user calendar.UserID, a calendar.Arrangement) error {
	t.hint.Everything = true
	return expectRow(t.exec(ctx, `UPDATE shares SET own_name = $3, own_description = $4, own_color = $5, own_position = $6,
			own_opaque = $7, own_hidden = $8 WHERE calendar_id = $1 AND user_id = $2`,
		id, user, a.Name, a.Description, a.Color, a.Order, a.Opaque, a.Hidden))
}
