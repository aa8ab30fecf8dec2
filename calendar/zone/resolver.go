package zone

import (
	"fmt"
	"strings"
	"sync"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Resolver finds the zones that one calendar object names. It is not safe for concurrent use.
type Resolver struct {
	db      *DB
	defined map[string]*ical.Component // the VTIMEZONEs by their TZID
	found   map[string]*Zone
	// steps bounds the cost of all VTIMEZONEs of the object together; made counts those interpreted so far.
	steps *rule.Meter
	made  int
}

// FromDocument is [DB.FromDocument] without a cache.
func FromDocument(calendar *ical.Component) *Resolver { return NewDB().FromDocument(calendar) }

// FromDocument returns the resolver for a VCALENDAR. A nil calendar has no VTIMEZONEs.
func (db *DB) FromDocument(calendar *ical.Component) *Resolver {
	r := &Resolver{db: db}
	if calendar == nil {
		return r
	}
	for component := range calendar.Components() {
		tzid := component.Property("TZID")
		if component.Name() != "VTIMEZONE" || tzid == nil {
			continue
		}
		if r.defined == nil {
			r.defined = make(map[string]*ical.Component)
		}
		r.defined[clean(tzid.Value())] = component
	}
	return r
}

// Zone returns the zone of a TZID. A name from IANA or Windows wins over a VTIMEZONE, because many clients write
// VTIMEZONEs that are too short or wrong. Any other name is defined by its VTIMEZONE; without one, the error is an
// [UnknownError].
func (r *Resolver) Zone(tzid string) (*Zone, error) {
	if z, ok := r.found[tzid]; ok {
		return z, nil
	}
	z, err := r.find(tzid)
	if err != nil {
		return nil, err
	}
	if r.found == nil {
		r.found = make(map[string]*Zone)
	}
	r.found[tzid] = z
	return z, nil
}

func (r *Resolver) find(tzid string) (*Zone, error) {
	if z := r.db.known(tzid); z != nil {
		return z, nil
	}
	definition := r.defined[clean(tzid)]
	if definition == nil {
		return r.db.Lookup(tzid)
	}
	if location := definition.Property("X-LIC-LOCATION"); location != nil {
		if z := r.db.known(location.Value()); z != nil {
			return z, nil
		}
	}
	z, err := r.understand(definition)
	if err != nil {
		// Some clients write a VTIMEZONE without rules. Its name says more.
		if guessed := r.db.guessed(tzid); guessed != nil {
			return guessed, nil
		}
	}
	return z, err
}

// zonesMost bounds the VTIMEZONEs of one object that must be interpreted. Real objects name few zones.
const zonesMost = 64

// sharedSteps bounds their total cost. A typical VTIMEZONE takes about two thousand steps.
const sharedSteps = 2 * stepsMost

// understand interprets a VTIMEZONE.
func (r *Resolver) understand(definition *ical.Component) (*Zone, error) {
	if r.made++; r.made > zonesMost {
		return nil, errZones
	}
	if r.steps == nil {
		r.steps = rule.Steps(sharedSteps)
	}
	return r.db.made.zone(definition, r.steps)
}

var errZones = fmt.Errorf("the object has more than %d time zones of its own making", zonesMost)

// made caches the zones that were made from VTIMEZONEs.
type made struct {
	mutex sync.Mutex
	zones map[string]*Zone
}

const (
	madeMost  = 256
	madeBytes = 8192
)

// zone interprets a VTIMEZONE, unless the cache has one with the same lines.
func (m *made) zone(definition *ical.Component, steps *rule.Meter) (*Zone, error) {
	key := lines(definition)
	m.mutex.Lock()
	z := m.zones[key]
	m.mutex.Unlock()
	if z != nil {
		return z, nil
	}
	z, err := fromComponent(definition, steps)
	if err != nil || len(key) > madeBytes {
		return z, err
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.zones == nil || len(m.zones) >= madeMost {
		m.zones = make(map[string]*Zone)
	}
	m.zones[key] = z
	return z, nil
}

// lines returns the content of a component in a canonical form, as the cache key.
func lines(c *ical.Component) string {
	var b strings.Builder
	for p := range c.Properties() {
		b.WriteString(p.String() + "\n")
	}
	for sub := range c.Components() {
		b.WriteString(sub.Name() + "\n")
		for p := range sub.Properties() {
			b.WriteString(p.String() + "\n")
		}
	}
	return b.String()
}
