package query

import (
	"context"
	"errors"
	"iter"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/content"
	"caldav-mcp-server/calendar/lookup"
	"caldav-mcp-server/calendar/meter"
	"caldav-mcp-server/ical"
)

// objectReader reads the objects of a calendar from the cache or the store, and adds a sharee's private data to them.
// It does not check access.
type objectReader struct {
	lookup *lookup.Reader
	store  calendar.Reader
	cache  *cache
}

// view is a cached calendar with its slot, so that reads can fill the cache.
type view struct {
	*cache
	slot  *slot
	image *cachedCalendar
}

// candidate is an object that may match, with its cache entry if it has one.
type candidate struct {
	calendar.Object
	view  *view
	entry *entry
	// weight is the memory that the meter counts for parsing it, drawn the memory for its large data.
	weight, drawn int64
}

// weigh makes the meter count the memory to parse the candidate, unless it is already parsed.
func (c *candidate) weigh(m *meter.Meter) error {
	if c.entry != nil && c.entry.read.Load() != nil {
		return nil
	}
	if err := m.Text(len(c.Data)); err != nil {
		return err
	}
	weight := readFactor * int64(len(c.Data))
	if err := m.Hold(weight); err != nil {
		return err
	}
	c.weight = weight
	return nil
}

// unload returns that memory to the meter.
func (c *candidate) unload(m *meter.Meter) { m.Free(c.weight) }

// objects yields the matching objects of a calendar, by name, from the cache where possible. Large data is read one
// object at a time, and the meter counts it while the caller processes the object.
func (r *objectReader) objects(
	ctx context.Context, m *meter.Meter, cal calendar.Calendar, q calendar.ObjectQuery,
) iter.Seq2[candidate, error] {
	q.Light = q.WithData
	all := r.listed(ctx, cal, q)
	if !q.WithData {
		return all
	}
	return func(yield func(candidate, error) bool) {
		for c, err := range all {
			if err == nil && c.Light() {
				if c, err = r.loaded(ctx, m, c); calendar.ReasonOf(err) == calendar.NotFound && err != nil {
					continue // it was deleted in the meantime
				}
				err = unlessLost(err)
			}
			more := yield(c, err) && err == nil
			m.Free(c.drawn)
			if !more {
				return
			}
		}
	}
}

// loaded returns a candidate with its large data.
func (r *objectReader) loaded(ctx context.Context, m *meter.Meter, c candidate) (candidate, error) {
	before := m.Held()
	o, err := r.lookup.Load(ctx, m, c.Object)
	if err != nil {
		m.Free(m.Held() - before)
		return c, err
	}
	if c.view != nil {
		c = c.view.learn(c.entry, o)
	}
	c.Object, c.drawn = o, o.Size
	m.Free(max(m.Held()-before-o.Size, 0)) // one copy stays
	return c, nil
}

// listed is objects, but large objects come without their data, unless it is cached.
func (r *objectReader) listed(
	ctx context.Context, cal calendar.Calendar, q calendar.ObjectQuery,
) iter.Seq2[candidate, error] {
	v := r.cache.covering(ctx, cal, q)
	return func(yield func(candidate, error) bool) {
		switch err := ctx.Err(); {
		case err != nil:
			yield(candidate{}, err)
		case v == nil:
			for o, err := range r.store.At(cal).Objects(ctx, cal.ID, q) {
				err = unlessLost(err)
				if !yield(candidate{Object: o}, err) || err != nil {
					return
				}
			}
		case q.WithData:
			v.wholes(ctx, r.store.At(cal), cal.ID, q, yield)
		default:
			for e := range v.image.matching(q) {
				if !yield(candidate{Object: e.head, view: v, entry: e}, nil) {
					return
				}
			}
		}
	}
}

// unlessLost drops the error that an object's text is lost. The object then counts as unreadable, so that a query over
// many objects still returns the others.
func unlessLost(err error) error {
	if errors.Is(err, calendar.ErrNoText) {
		return nil
	}
	return err
}

const (
	// fetchMost and fetchBytes bound one batch of objects that is read for a cached calendar.
	fetchMost  = 64
	fetchBytes = 1 << 20
	// walkLeast is the number of missing objects that makes a scan of the store faster than reads by name.
	walkLeast = 256
)

// wholes yields objects with their data. It reads missing data in batches and caches it.
func (v *view) wholes(
	ctx context.Context, from calendar.ObjectReader, id calendar.CalendarID, q calendar.ObjectQuery,
	yield func(candidate, error) bool,
) {
	missing, matching := 0, slices.Collect(v.image.matching(q))
	for _, e := range matching {
		if e.whole.Load() == nil {
			missing++
		}
	}
	if missing >= walkLeast {
		v.walk(ctx, from, id, q, yield)
		return
	}
	f := fetching{view: v, from: from, id: id, query: q}
	for _, e := range matching {
		if f.add(e) && !f.yield(ctx, yield) {
			return
		}
	}
	f.yield(ctx, yield)
}

// walk scans the store's objects and caches them as far as possible.
func (v *view) walk(
	ctx context.Context, from calendar.ObjectReader, id calendar.CalendarID, q calendar.ObjectQuery,
	yield func(candidate, error) bool,
) {
	for o, err := range from.Objects(ctx, id, q) {
		if err = unlessLost(err); err != nil {
			yield(candidate{}, err)
			return
		}
		if !yield(v.learn(v.image.at(o.Name), o), nil) {
			return
		}
	}
}

// learn makes a candidate from an object that was read from the store, and caches it. An object that is newer than the
// cached calendar is a valid result, but cannot be cached.
func (v *view) learn(e *entry, o calendar.Object) candidate {
	if e == nil || e.head.Version != o.Version || len(o.Data) == 0 && !o.Light() {
		return candidate{Object: o}
	}
	size := entryBytes + int64(len(o.Data)+len(o.Search)+len(o.Summary))
	if e.whole.Load() == nil && !o.Light() && v.room(v.slot, size) {
		e.bytes.Add(size)
		e.whole.Store(&o)
	}
	return candidate{Object: o, view: v, entry: e}
}

// fetching is a batch of entries in order, some without data.
type fetching struct {
	*view
	from    calendar.ObjectReader
	id      calendar.CalendarID
	query   calendar.ObjectQuery
	entries []*entry
	names   []calendar.ObjectName
	bytes   int64
}

// add adds an entry and reports whether the batch is full.
func (f *fetching) add(e *entry) bool {
	f.entries = append(f.entries, e)
	if e.whole.Load() == nil {
		f.names = append(f.names, e.head.Name)
		f.bytes += e.head.Size
	}
	return len(f.names) == fetchMost || f.bytes >= fetchBytes
}

// yield reads the missing data and yields the entries.
func (f *fetching) yield(ctx context.Context, yield func(candidate, error) bool) bool {
	fetched, err := f.fetch(ctx)
	if err != nil {
		yield(candidate{}, err)
		return false
	}
	for _, e := range f.entries {
		c := candidate{view: f.view, entry: e}
		if o, ok := fetched[e.head.Name]; ok {
			c = f.learn(e, o)
		} else if o := e.whole.Load(); o != nil {
			c.Object = *o
		} else {
			continue // it was deleted in the meantime
		}
		if !yield(c, nil) {
			return false
		}
	}
	f.entries, f.names, f.bytes = f.entries[:0], f.names[:0], 0
	return true
}

func (f *fetching) fetch(ctx context.Context) (map[calendar.ObjectName]calendar.Object, error) {
	if len(f.names) == 0 {
		return nil, nil
	}
	q, fetched := f.query, make(map[calendar.ObjectName]calendar.Object, len(f.names))
	q.Names = f.names
	for o, err := range f.from.Objects(ctx, f.id, q) {
		if err = unlessLost(err); err != nil {
			return nil, err
		}
		fetched[o.Name] = o
	}
	return fetched, nil
}

// readObject reads one object from the store.
func (r *objectReader) readObject(
	ctx context.Context, m *meter.Meter, id calendar.CalendarID, name calendar.ObjectName,
) (calendar.Object, error) {
	o, err := r.store.Object(ctx, id, name)
	if err != nil {
		return o, err
	}
	return r.lookup.Load(ctx, m, o)
}

// object returns one object of a calendar with its data.
func (r *objectReader) object(
	ctx context.Context, m *meter.Meter, cal calendar.Calendar, name calendar.ObjectName,
) (calendar.Object, error) {
	v := r.cache.of(ctx, cal, true)
	if v == nil {
		return r.readObject(ctx, m, cal.ID, name)
	}
	e := v.image.at(name)
	if e == nil {
		return calendar.Object{}, calendar.ErrNoObject(name)
	}
	if o := e.whole.Load(); o != nil {
		return *o, nil
	}
	o, err := r.readObject(ctx, m, cal.ID, name)
	if err == nil {
		v.learn(e, o)
	}
	return o, err
}

// changes yields the changes in a version range, by version.
func (r *objectReader) changes(
	ctx context.Context, cal calendar.Calendar, in calendar.VersionRange,
) iter.Seq2[calendar.Object, error] {
	if v := r.cache.of(ctx, cal, false); v != nil && v.image.tells(in) {
		return v.image.changes(in)
	}
	if in.After > 0 {
		// Few changes, often the caller's own latest write: not worth a question to the read replica.
		return r.store.Changes(ctx, cal.ID, in)
	}
	return r.store.At(cal).Changes(ctx, cal.ID, in)
}

// content returns the parsed text of the object, from the cache if possible. It is shared, so callers must not change
// it.
func (c *candidate) content() (*content.Object, error) {
	if c.entry != nil {
		if read := c.entry.read.Load(); read != nil {
			return read, nil
		}
	}
	read, err := content.Read(c.Data, ical.Limits{})
	if err != nil || c.entry == nil {
		return read, err
	}
	read.Share()
	if size := readFactor * int64(len(c.Data)); c.view.room(c.view.slot, size) {
		c.entry.bytes.Add(size)
		c.entry.read.Store(read)
	}
	return read, nil
}
