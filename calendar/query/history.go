package query

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/lookup"
)

// HistoryPage is a page of changes.
type HistoryPage struct {
	Changes []calendar.Change
	// Cursor is the position of the next page; empty on the last page.
	Cursor string
	// Closed lists the visible calendars whose history the caller may not see.
	Closed []calendar.Calendar
}

// journalReader answers reads of the journal.
type journalReader struct {
	lookup *lookup.Reader
	store  calendar.Reader
}

// History returns changes with their authors. Only users with write access to a calendar see its history, because it
// shows deleted content and the clients that others use.
func (r *journalReader) History(ctx context.Context, c calendar.Caller, q calendar.HistoryQuery) (HistoryPage, error) {
	var h HistoryPage
	from, err := parseCursor(q.Cursor)
	if err != nil {
		return h, err
	}
	places, err := r.journals(ctx, c, &q, &h)
	if err != nil {
		return h, err
	}
	merged := merge{since: q.Since}
	defer merged.stop()
	for _, p := range places {
		if err := merged.add(p, c.Visible(p.Calendar, r.store.Journal(ctx, p.ID, entriesOf(q, from))), from); err !=
			nil {
			return h, err
		}
	}
	for len(merged.streams) > 0 {
		next, err := merged.next()
		if err != nil {
			return h, err
		}
		if len(h.Changes) == q.Limit {
			h.Cursor = cursorOf(h.Changes[q.Limit-1]).String()
			break
		}
		h.Changes = append(h.Changes, next)
	}
	if q.Described {
		if err := r.describe(ctx, h.Changes); err != nil {
			return h, err
		}
	}
	if err := r.checkGone(ctx, q.After); err != nil {
		return HistoryPage{}, err
	}
	return h, r.hideUnits(ctx, c, h.Changes)
}

// checkGone refuses a token if journal entries since it were purged. Call it after reading, because they can be purged
// meanwhile.
func (r *journalReader) checkGone(ctx context.Context, t calendar.SyncToken) error {
	if t == (calendar.SyncToken{}) {
		return nil
	}
	gone, err := r.store.LinesGone(ctx, t.Calendar)
	if err != nil {
		return err
	}
	return gone.Check(t)
}

// hideUnits removes the link to a related change in a calendar that the caller cannot see. A user who moves an event
// between a shared calendar and a private one changes both.
func (r *journalReader) hideUnits(ctx context.Context, c calendar.Caller, changes []calendar.Change) error {
	elsewhere := func(change calendar.Change) bool { return change.Unit.Calendar != change.Calendar }
	if !slices.ContainsFunc(changes, elsewhere) {
		return nil
	}
	all, err := r.lookup.Journals(ctx, c)
	for i, change := range changes {
		if elsewhere(change) &&
			!slices.ContainsFunc(all, func(j lookup.Journal) bool { return j.ID == change.Unit.Calendar }) {
			changes[i].Unit = change.ID()
		}
	}
	return err
}

// entriesOf returns the query for one calendar.
func entriesOf(q calendar.HistoryQuery, from cursor) calendar.JournalQuery {
	e := calendar.JournalQuery{NotAfter: from.at, Token: q.Token, User: q.User, Assistant: q.Assistant}
	if q.After != (calendar.SyncToken{}) {
		e.From = q.After.Version + 1
	}
	if q.UID != "" {
		e.Of = &q.UID
	}
	return e
}

// journals returns the calendars that the query covers.
func (r *journalReader) journals(
	ctx context.Context, c calendar.Caller, q *calendar.HistoryQuery, h *HistoryPage,
) ([]lookup.Journal, error) {
	if q.After != (calendar.SyncToken{}) {
		if q.Calendar != "" && q.Calendar != q.After.Calendar {
			return nil, calendar.ErrSyncToken("it belongs to another calendar")
		}
		q.Calendar = q.After.Calendar
	}
	if q.Calendar != "" {
		one, err := r.lookup.JournalOf(ctx, c, q.Calendar)
		if err == nil && q.After != (calendar.SyncToken{}) {
			err = r.checkEpoch(ctx, q.After)
		}
		return []lookup.Journal{one}, err
	}
	if err := c.HasScope(calendar.ReadJournal); err != nil {
		return nil, err
	}
	all, err := r.lookup.Journals(ctx, c)
	open := all[:0]
	for _, j := range all {
		if c.May(calendar.ReadJournal, j.Calendar) == nil {
			open = append(open, j)
		} else {
			h.Closed = append(h.Closed, j.Calendar)
		}
	}
	return open, err
}

func (r *journalReader) checkEpoch(ctx context.Context, t calendar.SyncToken) error {
	epoch, err := r.store.Epoch(ctx)
	if err == nil && t.Epoch != epoch {
		err = calendar.ErrSyncToken("the store was restored since")
	}
	return err
}

// cursor is a position in the merged list, which is sorted by time and then by calendar id. The zero cursor is before
// everything.
type cursor struct {
	at time.Time
	calendar.ChangeID
}

func cursorOf(c calendar.Change) cursor { return cursor{c.At, c.ID()} }

func (c cursor) String() string {
	return calendar.Version(c.at.Unix()).String() + "." + c.ChangeID.String()
}

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	seconds, id, _ := strings.Cut(text, ".")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return cursor{}, errCursor(text)
	}
	change, err := calendar.ParseChangeID(id)
	if err != nil {
		return cursor{}, errCursor(text)
	}
	return cursor{time.Unix(at, 0).UTC(), change}, nil
}

func errCursor(text string) error {
	return calendar.Errorf(calendar.Invalid, "", "%q is not a cursor of this list", text).
		Advising("start without a cursor")
}

// before reports whether c precedes other in the list.
func (c cursor) before(other cursor) bool {
	if !c.at.Equal(other.at) {
		return c.at.After(other.at)
	}
	if c.Calendar != other.Calendar {
		return c.Calendar < other.Calendar
	}
	return c.Version > other.Version
}

// merge merges the changes of several calendars.
type merge struct {
	since   time.Time
	streams []*stream
}

// stream is one calendar's list with its next change.
type stream struct {
	lookup.Journal
	first calendar.Change
	pull  func() (calendar.Change, error, bool)
	stop  func()
}

func (m *merge) add(j lookup.Journal, lines iter.Seq2[calendar.Change, error], from cursor) error {
	pull, stop := iter.Pull2(lines)
	s := &stream{Journal: j, pull: pull, stop: stop}
	m.streams = append(m.streams, s)
	for {
		more, err := m.advance(s)
		if err != nil || !more || from.at.IsZero() || from.before(cursor{s.first.At, s.first.ID()}) {
			return err
		}
	}
}

// advance reads the stream's next change. At the end it drops the stream.
func (m *merge) advance(s *stream) (bool, error) {
	line, err, ok := s.pull()
	if err != nil {
		return false, err
	}
	if ok && !line.At.Before(m.since) {
		s.first = line
		return true, nil
	}
	s.stop()
	m.streams = slices.DeleteFunc(m.streams, func(other *stream) bool { return other == s })
	return false, nil
}

// next takes the latest change of all streams. There must be one.
func (m *merge) next() (calendar.Change, error) {
	latest := m.streams[0]
	for _, s := range m.streams[1:] {
		if (cursor{s.first.At, s.first.ID()}).before(cursor{latest.first.At, latest.first.ID()}) {
			latest = s
		}
	}
	change := latest.first
	change.In, change.InTrash = latest.Calendar, latest.InTrash
	_, err := m.advance(latest)
	return change, err
}

func (m *merge) stop() {
	for _, s := range m.streams {
		s.stop()
	}
}

// shownText bounds the bytes before and after a single change.
const shownText = 4 << 20

// Change returns one change, with the bytes before and after it.
func (r *journalReader) Change(ctx context.Context, c calendar.Caller, id calendar.ChangeID) (calendar.Change, error) {
	line, err := r.visible(ctx, c, id)
	if err != nil {
		return calendar.Change{}, err
	}
	one := []calendar.Change{line}
	if err = r.hideUnits(ctx, c, one); err == nil {
		err = r.addTexts(ctx, id.Calendar, []calendar.Version{id.Version}, shownText, one)
	}
	return one[0], err
}

// Together returns the number of changes that are undone with a change, itself included.
func (r *journalReader) Together(ctx context.Context, c calendar.Caller, id calendar.ChangeID) (int, error) {
	if _, err := r.visible(ctx, c, id); err != nil {
		return 0, err
	}
	unit, err := r.store.Unit(ctx, id)
	return len(unit), err
}

// visible returns a change that the caller may see, without the bytes.
func (r *journalReader) visible(ctx context.Context, c calendar.Caller, id calendar.ChangeID) (calendar.Change, error) {
	j, err := r.lookup.JournalOf(ctx, c, id.Calendar)
	if err != nil {
		if calendar.ReasonOf(err) == calendar.NotFound {
			err = calendar.ErrNoChange(id.String())
		}
		return calendar.Change{}, err
	}
	line, err := r.lookup.Line(ctx, id)
	if err == nil && !c.SeesChange(j.Calendar, line) {
		err = calendar.ErrNoChange(id.String())
	}
	line.In, line.InTrash = j.Calendar, j.InTrash
	return line, err
}

// Assistants returns the names of the assistants that created some objects through MCP, in calendars whose journal the
// caller may read.
func (r *journalReader) Assistants(
	ctx context.Context, c calendar.Caller, in []calendar.Calendar, objects []calendar.ObjectUID,
) (map[calendar.ObjectUID]string, error) {
	open := map[calendar.CalendarID]bool{}
	for _, cal := range in {
		open[cal.ID] = c.May(calendar.ReadJournal, cal) == nil
	}
	objects = slices.DeleteFunc(objects, func(o calendar.ObjectUID) bool { return !open[o.Calendar] })
	return r.store.Assistants(ctx, objects)
}
