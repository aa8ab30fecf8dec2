package store

import (
	"context"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// arrangementFields are the sharee's own columns of shares, all NULL if there is no share.
var arrangementFields = columns[calendarRow]{
	{"COALESCE(own_version, 0)", func(c *calendarRow) any { return (*int64)(&c.Own) }},
	{"own_position", func(c *calendarRow) any { return &c.own.Order }},
	{"own_opaque", func(c *calendarRow) any { return &c.own.Opaque }},
	{"own_hidden", func(c *calendarRow) any { return &c.own.Hidden }},
	{"own_name", func(c *calendarRow) any { return &c.own.Name }},
	{"own_description", func(c *calendarRow) any { return &c.own.Description }},
	{"own_color", func(c *calendarRow) any { return &c.own.Color }},
}

var packedArrangement = arrangementFields.packed()

// Arrangement implements [calendar.Tx].
func (t shareTx) Arrangement(ctx context.Context, id calendar.CalendarID, user calendar.UserID) (calendar.Arrangement, error) {
	c, err := db.RowOf(ctx, t, packedArrangement.scan, `SELECT `+packedArrangement.selected+` FROM shares WHERE calendar_id = $1 AND user_id = $2`, id, user)
	return c.own, err
}

// Arrange implements [calendar.Tx].
func (t shareTx) Arrange(ctx context.Context, id calendar.CalendarID, user calendar.UserID, a calendar.Arrangement) error {
	t.hint.Everything = true
	return db.ExpectRow(t.Exec(ctx, `UPDATE shares SET own_name = $3, own_description = $4, own_color = $5, own_position = $6,
			own_opaque = $7, own_hidden = $8 WHERE calendar_id = $1 AND user_id = $2`,
		id, user, a.Name, a.Description, a.Color, a.Order, a.Opaque, a.Hidden))
}
