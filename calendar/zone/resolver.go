package zone

import (
	"fmt"
	"strings"
	"sync"

	"caldav-mcp-server/calendar/recur/rule"
	"caldav-mcp-server/ical"
)

// Resolver finds the zones that one calendar object names. It is for one
// goroutine.
type Resolver struct {
	db      *DB
	defined map[string]*ical.Component // the VTIMEZONEs by their TZID
	found   map[string]*Zone
	// steps is what all VTIMEZONEs of the object may cost together, made how many were looked at.
	steps *rule.Meter
	made  int
}

// FromDocument is [DB.FromDocument] without a memory.
func FromDocument(calendar *ical.Component) *Resolver { return NewDB().FromDocument(calendar) }

// FromDocument makes the resolver for a VCALENDAR; nil is one without
// VTIMEZONEs.
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

// Zone finds what a TZID names. A name that IANA or Windows has means that zone
// even when there is a VTIMEZONE: those that clients write are often too short
// or wrong. Otherwise the VTIMEZONE is what it says; without one, the error is
// an [UnknownError].
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
		// A VTIMEZONE without rules, which some clients write, tells less than
		// the name.
		if guessed := r.db.guessed(tzid); guessed != nil {
			return guessed, nil
		}
	}
	return z, err
}

// zonesMost bounds the VTIMEZONEs of one object that have to be understood. People are in few places at once.
const zonesMost = 64

// sharedSteps is what they all may cost: a usual one takes some two thousand.
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

// made remembers the zones that were made of VTIMEZONEs.
type made struct {
	mutex sync.Mutex
	zones map[string]*Zone
}

const (
	madeMost  = 256
	madeBytes = 8192
)

// zone interprets a VTIMEZONE, unless one with the same lines was there before.
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

// lines is the content of a component without the bytes that mean nothing.
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
