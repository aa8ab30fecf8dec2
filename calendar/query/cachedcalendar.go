package query

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
)

// cachedCalendar is a snapshot of a calendar's objects at one version, in memory. Its slices never change; its entries
// cache data that was read later.
type cachedCalendar struct {
	epoch   calendar.Epoch
	edition calendar.Edition
	// version is the calendar's version, born the version of the first cached calendar in this chain. Earlier deletions
	// are unknown.
	version, born calendar.Version
	// byName and byVersion hold the same entries, including tombstones.
	byName, byVersion []*entry
	// admits selects the objects of cached days. A piece has only the live objects of some days, and nothing in
	// byVersion. It is nil if the cached calendar covers the whole calendar.
	admits func(*calendar.Object) bool
}

// entry is an object in a cached calendar.
type entry struct {
	// head is the object without data. Its strings share no memory with database rows.
	head calendar.Object
	// whole is the object with its data, read the parsed data; nil until a query needs them.
	whole atomic.Pointer[calendar.Object]
	read  atomic.Pointer[content.Object]
	// bytes is the approximate memory of the entry.
	bytes atomic.Int64
}

const (
	// entryBytes is the memory of an entry without its texts.
	entryBytes = 400
	// readFactor is the memory of a parsed object divided by the size of its text.
	readFactor = lookup.ReadFactor
)

// ReadBytes estimates the memory to parse an object's text of this size.
func ReadBytes(text int64) int64 { return readFactor * text }

func newEntry(head calendar.Object) *entry {
	e := &entry{head: head}
	e.bytes.Store(entryBytes + int64(len(head.Name)+len(head.ETag)+len(head.UID)))
	return e
}

func compareName(e *entry, name calendar.ObjectName) int {
	return strings.Compare(string(e.head.Name), string(name))
}

func compareVersion(e *entry, v calendar.Version) int { return cmp.Compare(e.head.Version, v) }

// newImage builds a cached calendar from a calendar's changes, in the order of their versions. An object that changed
// during the read appears twice; the later entry wins.
func newImage(cal calendar.Calendar, read []*entry, version calendar.Version) *cachedCalendar {
	latest := make(map[calendar.ObjectName]*entry, len(read))
	for _, e := range read {
		latest[e.head.Name] = e
	}
	live := slices.DeleteFunc(read, func(e *entry) bool { return e.head.Deleted || latest[e.head.Name] != e })
	m := imageAt(cal, version)
	m.byVersion, m.byName = live, slices.Clone(live)
	slices.SortFunc(m.byName, func(a, b *entry) int { return compareName(a, b.head.Name) })
	return m
}

// imageAt returns an empty cached calendar of a calendar at a version.
func imageAt(cal calendar.Calendar, version calendar.Version) *cachedCalendar {
	// A substring would keep the calendar's whole row in memory.
	return &cachedCalendar{
		epoch: calendar.Epoch(strings.Clone(string(cal.Epoch))), edition: cal.Edition, version: version, born: version,
	}
}

// isOf reports whether the cached calendar belongs to this calendar, shows whether it is also at least as new.
func (m *cachedCalendar) isOf(cal calendar.Calendar) bool {
	return m != nil && m.epoch == cal.Epoch && m.edition == cal.Edition
}

func (m *cachedCalendar) shows(cal calendar.Calendar) bool {
	return m.isOf(cal) && m.version >= cal.Version
}

// after returns the cached calendar with later changes applied up to a version, and the number of bytes that it takes
// more.
func (m *cachedCalendar) after(changes []*entry, version calendar.Version) (next *cachedCalendar, more int64) {
	next = &cachedCalendar{epoch: m.epoch, edition: m.edition, version: version, born: m.born, admits: m.admits}
	next.byName, next.byVersion = slices.Clone(m.byName), slices.Clone(m.byVersion)
	for _, e := range changes {
		more += next.change(e)
	}
	return next, more
}

// change replaces or removes the entry with the same name. It returns the difference in bytes.
func (m *cachedCalendar) change(e *entry) (more int64) {
	at, known := slices.BinarySearchFunc(m.byName, e.head.Name, compareName)
	if known {
		old := m.byName[at]
		more -= old.bytes.Load()
		if i, found := slices.BinarySearchFunc(m.byVersion, old.head.Version, compareVersion); found {
			m.byVersion = slices.Delete(m.byVersion, i, i+1)
		}
		m.byName = slices.Delete(m.byName, at, at+1)
	}
	if m.admits != nil && !m.admits(&e.head) {
		return more
	}
	m.byName = slices.Insert(m.byName, at, e)
	if m.admits == nil {
		m.byVersion = append(m.byVersion, e)
	}
	return more + e.bytes.Load()
}

// at returns the live object with a name, or nil.
func (m *cachedCalendar) at(name calendar.ObjectName) *entry {
	i, found := slices.BinarySearchFunc(m.byName, name, compareName)
	if !found || m.byName[i].head.Deleted {
		return nil
	}
	return m.byName[i]
}

// changes yields the heads of the changes in a version range, by version, as Store.Changes does.
func (m *cachedCalendar) changes(in calendar.VersionRange) iter.Seq2[calendar.Object, error] {
	first, _ := slices.BinarySearchFunc(m.byVersion, in.After+1, compareVersion)
	return func(yield func(calendar.Object, error) bool) {
		for _, e := range m.byVersion[first:] {
			if e.head.Version > in.Until || !yield(e.head, nil) {
				return
			}
		}
	}
}

// tells reports whether the cached calendar knows all deletions in a range. A client that starts from nothing needs
// none.
func (m *cachedCalendar) tells(in calendar.VersionRange) bool {
	return in.After == 0 || in.After >= m.born
}

// matching yields the entries that match a query, by name.
func (m *cachedCalendar) matching(q calendar.ObjectQuery) iter.Seq[*entry] {
	if q.Names != nil {
		return m.named(q)
	}
	admits := admission(q)
	return func(yield func(*entry) bool) {
		for _, e := range m.byName {
			if admits(&e.head) && !yield(e) {
				return
			}
		}
	}
}

func (m *cachedCalendar) named(q calendar.ObjectQuery) iter.Seq[*entry] {
	admits := admission(q)
	return func(yield func(*entry) bool) {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(q.Names))) {
			if e := m.at(name); e != nil && admits(&e.head) && !yield(e) {
				return
			}
		}
	}
}

// admission returns a filter for all conditions of a query except names.
func admission(q calendar.ObjectQuery) func(*calendar.Object) bool {
	window, bounded := q.Window()
	return func(o *calendar.Object) bool {
		if o.Deleted || q.Kinds != nil && !q.Kinds.Has(o.Kind) {
			return false
		}
		return (q.Until == nil || o.Span.Start == nil || *o.Span.Start < *q.Until) &&
			(q.From == nil || o.Span.End == nil || *o.Span.End >= *q.From) &&
			(!bounded || o.Recurrence.Meets(window))
	}
}
