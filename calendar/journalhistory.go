package calendar

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HistoryQuery asks for the changes that a caller may see, the latest first.
type HistoryQuery struct {
	// Calendar restricts it to one; empty means all that the caller may write to, and what they
	// own in the trash.
	Calendar CalendarID
	// Since restricts it to changes of that time and later, After to those after a sync token,
	// which is of one calendar.
	Since time.Time
	After SyncToken
	// UID restricts it to one object, Token and User to what they did; empty is any.
	UID   UID
	Token TokenID
	User  UserID
	// Limit is how many are given, Cursor where the last answer ended.
	Limit  int
	Cursor string
}

// History is a page of changes.
type History struct {
	Changes []Change
	// Cursor is where the next page begins; empty when this is the last.
	Cursor string
	// Closed are the calendars in sight whose changes the caller may not see.
	Closed []Calendar
}

// Change is a change with the calendar that it was made in.
type Change struct {
	Line
	In Calendar
	// InTrash tells that the calendar is deleted.
	InTrash bool
}

// Forgotten tells that the change cannot be taken back since the journal no longer has the bytes
// that were there before.
func (c Change) Forgotten() bool {
	return !c.Kept && c.Line.Change != Created && !c.Line.Change.answers()
}

// History returns what was changed, by whom. Only who may write to a calendar sees its changes:
// they show what was deleted, and what others use.
func (s *Service) History(ctx context.Context, c Caller, q HistoryQuery) (History, error) {
	var h History
	from, err := parseCursor(q.Cursor)
	if err != nil {
		return h, err
	}
	places, err := s.journals(ctx, c, &q, &h)
	if err != nil {
		return h, err
	}
	merged := merge{since: q.Since}
	defer merged.stop()
	for _, p := range places {
		if err := merged.add(p, c.visible(p.Calendar, s.store.Lines(ctx, p.ID, q.entries(from))), from); err != nil {
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
	return h, s.hideUnits(ctx, c, h.Changes)
}

// hideUnits leaves out that changes were made together with one in a calendar that does not exist
// for the caller: who moves something between a shared calendar and one of their own changes both.
func (s *Service) hideUnits(ctx context.Context, c Caller, changes []Change) error {
	elsewhere := func(change Change) bool { return change.Unit.Calendar != change.Calendar }
	if !slices.ContainsFunc(changes, elsewhere) {
		return nil
	}
	all, err := s.allJournals(ctx, c)
	for i, change := range changes {
		if elsewhere(change) && !slices.ContainsFunc(all, func(j journalOf) bool { return j.ID == change.Unit.Calendar }) {
			changes[i].Unit = change.ID()
		}
	}
	return err
}

// entries is the query for one calendar.
func (q HistoryQuery) entries(from cursor) EntryQuery {
	e := EntryQuery{NotAfter: from.at, Token: q.Token, User: q.User}
	if q.After != (SyncToken{}) {
		e.From = q.After.Version + 1
	}
	if q.UID != "" {
		e.Of = &q.UID
	}
	return e
}

// journals are the calendars whose changes the query is about.
func (s *Service) journals(ctx context.Context, c Caller, q *HistoryQuery, h *History) ([]journalOf, error) {
	if q.After != (SyncToken{}) {
		if q.Calendar != "" && q.Calendar != q.After.Calendar {
			return nil, errSyncToken("it belongs to another calendar")
		}
		q.Calendar = q.After.Calendar
	}
	if q.Calendar != "" {
		one, err := s.journalOf(ctx, c, q.Calendar)
		if err == nil && q.After != (SyncToken{}) {
			err = s.checkEpoch(ctx, q.After)
		}
		return []journalOf{one}, err
	}
	if err := c.hasScope(ReadJournal); err != nil {
		return nil, err
	}
	all, err := s.allJournals(ctx, c)
	open := all[:0]
	for _, j := range all {
		if c.May(ReadJournal, j.Calendar) == nil {
			open = append(open, j)
		} else {
			h.Closed = append(h.Closed, j.Calendar)
		}
	}
	return open, err
}

func (s *Service) checkEpoch(ctx context.Context, t SyncToken) error {
	epoch, err := s.store.Epoch(ctx)
	if err == nil && t.Epoch != epoch {
		err = errSyncToken("the store was restored since")
	}
	return err
}

// journalOf is a calendar as the journal has it: it may be in the trash.
type journalOf struct {
	Calendar
	inTrash bool
}

// allJournals are the calendars that the caller sees, and their own ones in the trash.
func (s *Service) allJournals(ctx context.Context, c Caller) ([]journalOf, error) {
	live, err := s.store.Calendars(ctx, c.User.ID)
	if err != nil {
		return nil, err
	}
	trashed, err := s.store.TrashedCalendars(ctx, c.User.ID)
	var all []journalOf
	for _, cal := range live {
		all = append(all, journalOf{cal, false})
	}
	for _, t := range trashed {
		all = append(all, journalOf{t.Calendar, true})
	}
	return slices.DeleteFunc(all, func(j journalOf) bool { return !c.Sees(j.Calendar) }), err
}

// journalOf finds a calendar whose changes the caller may see.
func (s *Service) journalOf(ctx context.Context, c Caller, id CalendarID) (journalOf, error) {
	all, err := s.allJournals(ctx, c)
	if err != nil {
		return journalOf{}, err
	}
	for _, j := range all {
		if j.ID == id {
			return j, c.May(ReadJournal, j.Calendar)
		}
	}
	return journalOf{}, errNoCalendar(string(id))
}

// cursor is a place in the merged list: by time, the calendars in the order of their ids. The
// zero cursor is before all.
type cursor struct {
	at time.Time
	ChangeID
}

func cursorOf(c Change) cursor { return cursor{c.At, c.ID()} }

func (c cursor) String() string { return number(Version(c.at.Unix())) + "." + c.ChangeID.String() }

func parseCursor(text string) (cursor, error) {
	if text == "" {
		return cursor{}, nil
	}
	seconds, id, _ := strings.Cut(text, ".")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return cursor{}, errCursor(text)
	}
	change, err := ParseChangeID(id)
	if err != nil {
		return cursor{}, errCursor(text)
	}
	return cursor{time.Unix(at, 0).UTC(), change}, nil
}

func errCursor(text string) error {
	e := Errorf(Invalid, "", "%q is no cursor of such a list", text)
	e.Hint = "begin without one"
	return e
}

// before tells whether c comes before other in the list.
func (c cursor) before(other cursor) bool {
	if !c.at.Equal(other.at) {
		return c.at.After(other.at)
	}
	if c.Calendar != other.Calendar {
		return c.Calendar < other.Calendar
	}
	return c.Version > other.Version
}

// merge makes one list of several calendars' changes.
type merge struct {
	since   time.Time
	streams []*stream
}

// stream is one calendar's list, with its first change that is not taken yet.
type stream struct {
	journalOf
	first Line
	pull  func() (Line, error, bool)
	stop  func()
}

func (m *merge) add(j journalOf, lines iter.Seq2[Line, error], from cursor) error {
	pull, stop := iter.Pull2(lines)
	s := &stream{journalOf: j, pull: pull, stop: stop}
	m.streams = append(m.streams, s)
	for {
		more, err := m.advance(s)
		if err != nil || !more || from.at.IsZero() || from.before(cursor{s.first.At, s.first.ID()}) {
			return err
		}
	}
}

// advance reads the stream's next change; at its end it drops the stream.
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

// next takes the latest change of all. There must be one.
func (m *merge) next() (Change, error) {
	latest := m.streams[0]
	for _, s := range m.streams[1:] {
		if (cursor{s.first.At, s.first.ID()}).before(cursor{latest.first.At, latest.first.ID()}) {
			latest = s
		}
	}
	change := Change{latest.first, latest.Calendar, latest.inTrash}
	_, err := m.advance(latest)
	return change, err
}

func (m *merge) stop() {
	for _, s := range m.streams {
		s.stop()
	}
}

// Change returns one change, and in what it differs from what was there before: nothing for
// what was created or deleted, and nil when the journal has forgotten it.
func (s *Service) Change(ctx context.Context, c Caller, id ChangeID) (Change, []Difference, error) {
	j, err := s.journalOf(ctx, c, id.Calendar)
	if err != nil {
		if ReasonOf(err) == NotFound {
			err = errNoChange(id.String())
		}
		return Change{}, nil, err
	}
	line, err := s.line(ctx, id)
	if err == nil && !c.seesEntry(j.Calendar, line.Entry) {
		err = errNoChange(id.String())
	}
	if err != nil {
		return Change{}, nil, err
	}
	changes := []Change{{line, j.Calendar, j.inTrash}}
	if err := s.hideUnits(ctx, c, changes); err != nil {
		return Change{}, nil, err
	}
	differences, err := s.differences(ctx, j, line.Entry)
	return changes[0], differences, err
}
