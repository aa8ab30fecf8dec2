package store

import (
	"context"
	"slices"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

// bookingPageStore holds booking pages and their holds.
type bookingPageStore struct{ *database }

var bookingPageColumns = columns[calendar.BookingPage]{
	{"p.id", func(p *calendar.BookingPage) any { return &p.ID }},
	{"p.user_id", func(p *calendar.BookingPage) any { return &p.Owner }},
	{"p.name", func(p *calendar.BookingPage) any { return &p.Name }},
	{"p.switched", func(p *calendar.BookingPage) any { return &p.On }},
	{"p.created", func(p *calendar.BookingPage) any { return db.Seconds(&p.Created) }},
	{"p.settings", func(p *calendar.BookingPage) any { return &p.Settings }},
}

var holdColumns = columns[calendar.Hold]{
	{"h.id", func(h *calendar.Hold) any { return &h.ID }},
	{"h.page_id", func(h *calendar.Hold) any { return &h.Page }},
	{"h.token", func(h *calendar.Hold) any { return &h.Token }},
	{"h.state", func(h *calendar.Hold) any { return &h.State }},
	{"h.calendar_id", func(h *calendar.Hold) any { return &h.Calendar }},
	{"h.uid", func(h *calendar.Hold) any { return &h.UID }},
	{"h.starts", func(h *calendar.Hold) any { return db.Seconds(&h.Start) }},
	{"h.ends", func(h *calendar.Hold) any { return db.Seconds(&h.End) }},
	{"h.expires", func(h *calendar.Hold) any { return db.Seconds(&h.Expires) }},
	{"h.created", func(h *calendar.Hold) any { return db.Seconds(&h.Created) }},
	{"h.name", func(h *calendar.Hold) any { return &h.Name }},
	{"h.address", func(h *calendar.Hold) any { return &h.Address }},
	{"h.zone", func(h *calendar.Hold) any { return &h.Zone }},
	{"h.language", func(h *calendar.Hold) any { return &h.Language }},
	{"h.network", func(h *calendar.Hold) any { return &h.Network }},
	{"h.moves", func(h *calendar.Hold) any { return &h.Moves }},
	{"h.host", func(h *calendar.Hold) any { return &h.Host }},
}

var bookingPersonColumns = columns[calendar.BookingPerson]{
	{"b.user_id", func(p *calendar.BookingPerson) any { return &p.User }},
	{"b.answer", func(p *calendar.BookingPerson) any { return &p.Answer }},
}

// listedHoldColumns are holdColumns with the state of the event: the owner may have deleted it or moved it in any
// program. They select from holds h with objects o.
var listedHoldColumns = append(slices.Clip(holdColumns), columns[calendar.Hold]{
	{"COALESCE(o.span_start, h.starts)", func(h *calendar.Hold) any { return db.Seconds(&h.Start) }},
	{"COALESCE(o.span_end, h.ends)", func(h *calendar.Hold) any { return db.Seconds(&h.End) }},
	{"o.uid IS NULL", func(h *calendar.Hold) any { return &h.Gone }},
}...)

var (
	selectBookingPages = `SELECT ` + bookingPageColumns.list() + ` FROM booking_pages p `
	selectHolds        = `SELECT ` + holdColumns.list() + ` FROM booking_holds h `
	selectHoldsIn      = withList(2, `SELECT `+holdColumns.list()+` FROM booking_holds h
		WHERE h.state = 'held' AND h.ends > $1 AND h.calendar_id§ORDER BY h.starts, h.id`)
	selectHoldsOf = `SELECT ` + listedHoldColumns.list() + ` FROM booking_holds h
		JOIN booking_pages p ON p.id = h.page_id
		LEFT JOIN objects o ON o.calendar_id = h.calendar_id AND o.uid = h.uid AND NOT o.deleted
		WHERE p.user_id = $1 AND h.state IN ('held', 'reserved', 'booked') AND (h.ends > $2 OR o.span_end > $2)
		ORDER BY h.starts, h.id`
)

// InsertBookingPage implements [calendar.BookingPages].
func (s bookingPageStore) InsertBookingPage(
	ctx context.Context, p calendar.BookingPage, people []calendar.UserID, most int,
) error {
	return s.transact(ctx, func(t *transaction) error {
		// Two requests must not both find the last place free.
		_, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM users WHERE id = $1`+t.Of().LockRows, p.Owner)
		if err != nil {
			return err
		}
		n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM booking_pages WHERE user_id = $1`, p.Owner)
		if err != nil {
			return err
		}
		if n >= int64(most) {
			return calendar.Errorf(calendar.TooLarge, "", "a user may have at most %d booking pages", most)
		}
		err = t.Run(ctx, `INSERT INTO booking_pages (id, user_id, name, switched, created, settings)
			VALUES ($1, $2, $3, $4, $5, $6)`, p.ID, p.Owner, p.Name, p.On, p.Created.Unix(), bytesOf(p.Settings))
		if err != nil {
			return err
		}
		return t.setBookingPeople(ctx, p.ID, people)
	})
}

// setBookingPeople writes the list of a page's people.
func (t *transaction) setBookingPeople(
	ctx context.Context, page calendar.BookingPageID, people []calendar.UserID,
) error {
	if err := t.Run(ctx, `UPDATE booking_people SET place = -1 WHERE page_id = $1`, page); err != nil {
		return err
	}
	for place, user := range people {
		if err := t.Run(ctx, `INSERT INTO booking_people (page_id, user_id, answer, place) VALUES ($1, $2, '', $3)
			ON CONFLICT (page_id, user_id) DO UPDATE SET place = $3`, page, user, place); err != nil {
			return err
		}
	}
	return t.Run(ctx, `DELETE FROM booking_people WHERE page_id = $1 AND place < 0 AND answer <> 'no'`, page)
}

// UpdateBookingPage implements [calendar.BookingPages].
func (s bookingPageStore) UpdateBookingPage(
	ctx context.Context, p calendar.BookingPage, people []calendar.UserID, again bool,
) error {
	return s.transact(ctx, func(t *transaction) error {
		err := db.ExpectRow(t.Exec(ctx, `UPDATE booking_pages SET name = $3, switched = $4, settings = $5
			WHERE id = $1 AND user_id = $2`, p.ID, p.Owner, p.Name, p.On, bytesOf(p.Settings)))
		if err != nil {
			return err
		}
		if again {
			err = t.Run(ctx, `UPDATE booking_people SET answer = '' WHERE page_id = $1 AND answer = 'yes'`, p.ID)
			if err != nil {
				return err
			}
		}
		return t.setBookingPeople(ctx, p.ID, people)
	})
}

// BookingPeople implements [calendar.BookingPages].
func (s bookingPageStore) BookingPeople(
	ctx context.Context, page calendar.BookingPageID,
) ([]calendar.BookingPerson, error) {
	return db.RowsOf(ctx, s.db.Reads, bookingPersonColumns.scan, `SELECT `+bookingPersonColumns.list()+`
		FROM booking_people b WHERE b.page_id = $1 AND b.place >= 0 ORDER BY b.place`, page)
}

// BookingPagesWith implements [calendar.BookingPages].
func (s bookingPageStore) BookingPagesWith(
	ctx context.Context, user calendar.UserID,
) ([]calendar.BookingRequest, error) {
	fields := func(r *calendar.BookingRequest) []any { return append(bookingPageColumns.fields(&r.Page), &r.Answer) }
	return db.RowsOf(ctx, s.db.Reads, db.ScanInto(fields), `SELECT `+bookingPageColumns.list()+`, b.answer
		FROM booking_people b JOIN booking_pages p ON p.id = b.page_id
		WHERE b.user_id = $1 AND b.place >= 0 ORDER BY p.created, p.id`, user)
}

// AnswerBookingPage implements [calendar.BookingPages].
func (s bookingPageStore) AnswerBookingPage(
	ctx context.Context, p calendar.BookingPage, user calendar.UserID, a calendar.BookingAnswer,
) error {
	return s.transact(ctx, func(t *transaction) error {
		// The owner must not change the settings at the same moment.
		_, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM booking_pages WHERE id = $1 AND settings = $2`+
			t.Of().LockRows, p.ID, bytesOf(p.Settings))
		if err != nil {
			return err
		}
		return db.ExpectRow(t.Exec(ctx, `UPDATE booking_people SET answer = $3
			WHERE page_id = $1 AND user_id = $2 AND place >= 0`, p.ID, user, a))
	})
}

// DeleteBookingPage implements [calendar.BookingPages].
func (s bookingPageStore) DeleteBookingPage(
	ctx context.Context, owner calendar.UserID, id calendar.BookingPageID,
) error {
	return db.ExpectRow(s.write(ctx, `DELETE FROM booking_pages WHERE id = $1 AND user_id = $2`, id, owner))
}

// BookingPages implements [calendar.BookingPages].
func (s bookingPageStore) BookingPages(ctx context.Context, owner calendar.UserID) ([]calendar.BookingPage, error) {
	return db.RowsOf(ctx, s.db.Reads, bookingPageColumns.scan, selectBookingPages+`WHERE p.user_id = $1
		ORDER BY p.created, p.id`, owner)
}

// BookingPageNamed implements [calendar.BookingPages].
func (s bookingPageStore) BookingPageNamed(ctx context.Context, name string) (calendar.BookingPage, error) {
	return db.RowOf(ctx, s.db.Reads, bookingPageColumns.scan, selectBookingPages+`WHERE p.name = $1`, name)
}

// BookingPage implements [calendar.BookingPages].
func (s bookingPageStore) BookingPage(ctx context.Context, id calendar.BookingPageID) (calendar.BookingPage, error) {
	return db.RowOf(ctx, s.db.Reads, bookingPageColumns.scan, selectBookingPages+`WHERE p.id = $1`, id)
}

// InsertHold implements [calendar.BookingPages].
func (s bookingPageStore) InsertHold(ctx context.Context, h calendar.Hold, most calendar.HoldLimits) error {
	return s.transact(ctx, func(t *transaction) error {
		_, err := db.RowOf(ctx, t, db.ScanText, `SELECT id FROM booking_pages WHERE id = $1`+t.Of().LockRows, h.Page)
		if err != nil {
			return err
		}
		day, hour := h.Created.Add(-24*time.Hour).Unix(), h.Created.Add(-time.Hour).Unix()
		for _, limit := range []struct {
			most int64
			text string
			args []any
		}{
			{most.Waiting, `page_id = $1 AND state = 'held' AND expires > $2`, []any{h.Page, h.Created.Unix()}},
			{most.Daily, `page_id = $1 AND created > $2`, []any{h.Page, day}},
			{most.Address, `address = $1 AND created > $2`, []any{h.Address, day}},
			{most.Network, `network = $1 AND created > $2`, []any{h.Network, hour}},
		} {
			n, err := db.RowOf(ctx, t, db.ScanNumber, `SELECT COUNT(*) FROM booking_holds WHERE `+limit.text,
				limit.args...)
			if err != nil {
				return err
			}
			if n >= limit.most {
				return calendar.Errorf(calendar.TooLarge, "", "too many times were chosen; try again later")
			}
		}
		return t.insertHold(ctx, h)
	})
}

func (t *transaction) insertHold(ctx context.Context, h calendar.Hold) error {
	return t.Run(ctx, `INSERT INTO booking_holds (id, page_id, token, state, calendar_id, uid, starts, ends,
		expires, created, name, address, zone, language, network, moves, host)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`, h.ID, h.Page,
		bytesOf(h.Token), h.State, h.Calendar, h.UID, h.Start.Unix(), h.End.Unix(), h.Expires.Unix(),
		h.Created.Unix(), h.Name, h.Address, h.Zone, h.Language, h.Network, h.Moves, h.Host)
}

// HoldsIn implements [calendar.BookingPages].
func (s bookingPageStore) HoldsIn(
	ctx context.Context, in []calendar.CalendarID, after time.Time,
) ([]calendar.Hold, error) {
	return rowsOfList(ctx, s.db.Reads, in, holdColumns.scan, selectHoldsIn, after.Unix())
}

// RehomeHold implements [calendar.BookingPages].
func (s bookingPageStore) RehomeHold(ctx context.Context, next, left calendar.Hold) error {
	return s.transact(ctx, func(t *transaction) error {
		err := db.ExpectRow(t.Exec(ctx, `UPDATE booking_holds SET host = $2, calendar_id = $3, uid = $4
			WHERE id = $1 AND state = 'held' AND uid = $5`, next.ID, next.Host, next.Calendar, next.UID, left.UID))
		if err != nil {
			return err
		}
		return t.insertHold(ctx, left)
	})
}

// HoldByToken implements [calendar.BookingPages].
func (s bookingPageStore) HoldByToken(ctx context.Context, token []byte) (calendar.Hold, error) {
	return db.RowOf(ctx, s.db.Reads, holdColumns.scan, selectHolds+`WHERE h.token = $1`, bytesOf(token))
}

// HoldByID implements [calendar.BookingPages].
func (s bookingPageStore) HoldByID(ctx context.Context, id calendar.HoldID) (calendar.Hold, error) {
	return db.RowOf(ctx, s.db.Reads, holdColumns.scan, selectHolds+`WHERE h.id = $1`, id)
}

// HoldsOf implements [calendar.BookingPages].
func (s bookingPageStore) HoldsOf(
	ctx context.Context, owner calendar.UserID, after time.Time,
) ([]calendar.Hold, error) {
	return db.RowsOf(ctx, s.db.Reads, listedHoldColumns.scan, selectHoldsOf, owner, after.Unix())
}

// KeepHold implements [calendar.BookingPages].
func (s bookingPageStore) KeepHold(ctx context.Context, h calendar.Hold) error {
	return s.transact(ctx, func(t *transaction) error { return t.insertHold(ctx, h) })
}

// SwapHolds implements [calendar.BookingPages].
func (s bookingPageStore) SwapHolds(ctx context.Context, h, left calendar.HoldID, now time.Time) error {
	return s.transact(ctx, func(t *transaction) error {
		one, err := db.RowOf(ctx, t, holdColumns.scan, selectHolds+`WHERE h.id = $1`+t.Of().LockRows, h)
		if err != nil {
			return err
		}
		other, err := db.RowOf(ctx, t, holdColumns.scan, selectHolds+`WHERE h.id = $1`+t.Of().LockRows, left)
		if err != nil {
			return err
		}
		err = db.ExpectRow(t.Exec(ctx, `UPDATE booking_holds SET state = 'booked', calendar_id = $2, uid = $3
			WHERE id = $1 AND state = 'reserved'`, h, other.Calendar, other.UID))
		if err != nil {
			return err
		}
		return db.ExpectRow(t.Exec(ctx, `UPDATE booking_holds SET calendar_id = $2, uid = $3, expires = $4
			WHERE id = $1 AND expires > $4`, left, one.Calendar, one.UID, now.Unix()))
	})
}

// ExpiredHolds implements [calendar.BookingPages].
func (s bookingPageStore) ExpiredHolds(ctx context.Context, before time.Time, most int) ([]calendar.Hold, error) {
	return db.RowsOf(ctx, s.db.Reads, holdColumns.scan, selectHolds+`WHERE h.expires < $1
		AND (h.state IN ('held', 'reserved')
		OR h.state = 'ended' AND EXISTS (SELECT 1 FROM objects o
			WHERE o.calendar_id = h.calendar_id AND o.uid = h.uid AND NOT o.deleted))
		ORDER BY h.expires, h.id LIMIT $2`, before.Unix(), most)
}

// EndHold implements [calendar.BookingPages].
func (s bookingPageStore) EndHold(ctx context.Context, id calendar.HoldID) error {
	return db.ExpectRow(s.write(ctx, `UPDATE booking_holds SET state = 'ended' WHERE id = $1 AND state <> 'booked'`,
		id))
}

// ForgetHolds implements [calendar.BookingPages].
func (s bookingPageStore) ForgetHolds(ctx context.Context, ended, past time.Time) error {
	_, err := s.write(ctx, `DELETE FROM booking_holds WHERE state = 'ended' AND expires < $1
		OR state = 'booked' AND ends < $2 AND NOT EXISTS (SELECT 1 FROM objects o
			WHERE o.calendar_id = booking_holds.calendar_id AND o.uid = booking_holds.uid AND NOT o.deleted
			AND o.span_end >= $2)`, ended.Unix(), past.Unix())
	return err
}

// UpdateHold implements [calendar.HoldKeeper].
func (t *transaction) UpdateHold(
	ctx context.Context, next calendar.Hold, from calendar.HoldState, moves int64, now time.Time,
) error {
	return db.ExpectRow(t.Exec(ctx, `UPDATE booking_holds SET state = $2, starts = $3, ends = $4, moves = $5
		WHERE id = $1 AND state = $6 AND moves = $7 AND (state <> 'held' OR expires > $8)`, next.ID, next.State,
		next.Start.Unix(), next.End.Unix(), next.Moves, from, moves, now.Unix()))
}
