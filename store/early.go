package store

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// early is a change of one object that is decided on what was read without its calendar's lock. It waits in the calendar's convoy
// for the commit that takes the lock, and keeps it if the calendar is at the version that it was decided for. If it is not, it
// begins anew under the lock. So nobody has the lock while the middle thinks.
type early struct {
	site
	// version is the one that it takes, of the epoch that was read, at when it does, failed how many loads of its convoy had failed when it
	// was decided.
	version calendar.Version
	epoch   calendar.Epoch
	at      int64
	failed  int
	// rows and grown are what it writes. Whoever watches the calendar is told with the load.
	rows  []*gathered
	grown calendar.Usage
	// unfit tells that it was to do what is done under the lock alone.
	unfit bool
	// word is the load that it is to see to, or nil once others have seen to its own: then err is what came of it.
	word chan *load
	err  error
}

// errUnderLock sends a change that was early back to the start, to be made under the lock.
var errUnderLock = errors.New("the change has to begin with the calendar's lock")

// site is where a change writes.
type site struct {
	id   calendar.CalendarID
	name calendar.ObjectName
	uid  calendar.UID
}

// selectSite yields the calendar, without data, and what selectDuplicates does, all as of one moment.
var selectSite = `SELECT ` + packedCalendar.selected + `, NULL::bytea FROM calendars WHERE id = $1 AND trashed IS NULL
	UNION ALL ` + selectDuplicates

// read reads what is there.
func (at site) read(ctx context.Context, q querier, mark int64) (*auth.Stored, error) {
	there := &auth.Stored{Mark: mark}
	rows, err := rowsOf(ctx, q, scanInto(func(p *packedRow) []any { return []any{&p.text, &p.data} }),
		selectSite, string(at.id), string(at.name), string(at.uid))
	for _, row := range rows {
		if err == nil && row.data == nil {
			there.Calendar, err = unpackCalendar(row.text)
		} else if err == nil {
			err = addStored(there, row)
		}
	}
	if err == nil && there.Calendar.ID == "" {
		err = q.of().translate(ctx, sql.ErrNoRows)
	}
	return there, err
}

// addStored adds an object, of which the row has the wholeColumns.
func addStored(to *auth.Stored, row packedRow) error {
	o, err := unpackStored(row)
	to.Objects = append(to.Objects, o)
	return err
}

// asked is what was asked for along with the request's credentials, if that is all there is to know.
func (at site) asked(ctx context.Context, now time.Time) *auth.Stored {
	there := auth.AlongOf(ctx).TakeOver(at.id, at.name, now)
	if there == nil || suggestedUID(at.name) == at.uid {
		return there
	}
	// The one live object with the UID may lie under another name, unless it is the one at this.
	if atName, withUID := duplicates(there.Objects, at.name, at.uid); withUID == nil || withUID != atName {
		return nil
	}
	return there
}

// suggestedUID is the UID that an object's name suggests: most apps make the one of the other.
func suggestedUID(name calendar.ObjectName) calendar.UID {
	return calendar.UID(strings.TrimSuffix(string(name), ".ics"))
}

// early implements [session].
func (p *pipeline) early(ctx context.Context, where site, now time.Time) (*auth.Stored, error) {
	if p.conn != nil || p.at != nil || len(p.pending) > 1 || len(p.rows) > 0 {
		return nil, nil
	}
	at := p.gates.arrive(where.id)
	there, err := where.asked(ctx, now), error(nil)
	if !at.convoy.knows(there) {
		there, err = p.read(ctx, where)
	}
	if err == nil {
		err = at.enter(ctx)
	}
	if err != nil {
		p.gates.depart(at)
		return nil, err
	}
	if p.at = at; at.batch != nil || at.convoy.careful() {
		return nil, p.underLock(ctx)
	}
	if !at.convoy.knows(there) {
		if err := at.convoy.settled(ctx); err != nil {
			return nil, err
		}
		if there, err = p.read(ctx, where); err != nil {
			return nil, err
		}
	}
	e := &early{site: where, epoch: there.Calendar.Epoch, at: now.Unix(), word: make(chan *load, 1)}
	if !at.convoy.follow(e, there.Calendar.Version) {
		return nil, errUnderLock
	}
	p.ahead = e
	cal := &there.Calendar
	cal.Version, cal.Modified = e.version, moment(e.at)
	cal.Access, cal.OwnerFree, cal.Shared = calendar.NoAccess, false, false // as [Tx.Advance] has it
	return there, nil
}

// read reads what is there.
func (p *pipeline) read(ctx context.Context, where site) (*auth.Stored, error) {
	return where.read(ctx, aside{p.lanes}, p.gates.marks.Load())
}

// refuse notes that an early change wants to do what is done under the lock alone.
func (e *early) refuse() error {
	e.unfit = true
	return errUnderLock
}

// row keeps a row of the calendar for the commit.
func (e *early) row(rows *gathering, into *insertion, values []any) error {
	if into != insertObject && into != insertLine || reflect.ValueOf(values[0]).String() != string(e.id) || !rows.keep(into, values) {
		return e.refuse()
	}
	return nil
}

// later keeps what an early change writes besides rows.
func (e *early) later(announce string, s pending) error {
	switch {
	case s.text == announce:
		return nil
	case s.text == countOne && s.args[0] == e.id:
		objects, _ := s.args[1].(int64)
		bytes, _ := s.args[2].(int64)
		e.grown = e.grown.Plus(calendar.Usage{Objects: objects, Bytes: bytes})
		return nil
	}
	return e.refuse()
}

// size is how many bytes of objects it writes.
func (e *early) size() (n int) {
	for _, g := range e.rows {
		n += g.bytes
	}
	return n
}

// endEarly waits until an early change is kept, if it is to be. Whatever an unfit one has come to, it was not told what it asked.
func (p *pipeline) endEarly(ctx context.Context, err error) error {
	switch {
	case p.ahead.unfit:
		return errUnderLock
	case !p.kept:
		return err
	}
	if l := <-p.ahead.word; l != nil {
		l.lead(ctx, p)
	}
	return p.ahead.err
}
