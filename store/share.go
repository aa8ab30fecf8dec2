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

// arrangementColumns are those of the shares that are the sharee's own, all of them NULL where there
// is no share. They are read packed.
const (
	arrangementColumns = `own_name, own_description, own_color, own_position, own_opaque, own_hidden`
	arrangementNumbers = `CASE WHEN own_position IS NULL THEN 0 ELSE 1 END, COALESCE(own_position, 0),
		CASE WHEN own_opaque THEN 1 ELSE 0 END, CASE WHEN own_hidden THEN 1 ELSE 0 END,
		COALESCE(octet_length(own_name), -1), COALESCE(octet_length(own_description), -1), COALESCE(octet_length(own_color), -1)`
	arrangementTexts = `COALESCE(own_name, '') || COALESCE(own_description, '') || COALESCE(own_color, '')`
)

// packedArrangement is what stands before the texts of an arrangement.
type packedArrangement struct{ name, description, color int64 }

func (u *unpacker) arrangement() (a calendar.Arrangement, lengths packedArrangement) {
	a.Order = u.maybeNumber()
	a.Opaque, a.Hidden = u.yes(), u.yes()
	u.numbers(&lengths.name, &lengths.description, &lengths.color)
	return a, lengths
}

func (u *unpacker) arrangementTexts(a *calendar.Arrangement, lengths packedArrangement) {
	a.Name, a.Description, a.Color = u.maybeText(lengths.name), u.maybeText(lengths.description), u.maybeText(lengths.color)
}

// Arrangement implements [calendar.Tx].
func (t *Tx) Arrangement(ctx context.Context, id calendar.CalendarID, user calendar.UserID) (calendar.Arrangement, error) {
	return rowOf(ctx, t, func(row scanner) (calendar.Arrangement, error) {
		text, err := scanText(row)
		if err != nil {
			return calendar.Arrangement{}, err
		}
		u := unpacker{rest: text}
		a, lengths := u.arrangement()
		u.arrangementTexts(&a, lengths)
		return a, u.err()
	}, `SELECT concat_ws(' ', `+arrangementNumbers+`, `+arrangementTexts+`) FROM shares WHERE calendar_id = $1 AND user_id = $2`, id, user)
}

// Arrange implements [calendar.Tx].
func (t *Tx) Arrange(ctx context.Context, id calendar.CalendarID, user calendar.UserID, a calendar.Arrangement) error {
	t.hint.Everything = true
	return expectRow(t.exec(ctx, `UPDATE shares SET own_name = $3, own_description = $4, own_color = $5, own_position = $6,
			own_opaque = $7, own_hidden = $8 WHERE calendar_id = $1 AND user_id = $2`,
		id, user, a.Name, a.Description, a.Color, a.Order, a.Opaque, a.Hidden))
}
