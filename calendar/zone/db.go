package zone

import (
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a container has no zones of its own

	"caldav-mcp-server/ical"
)

// DB finds zones by name and caches them: all IANA names that were asked for, and a bounded number of VTIMEZONEs.
// Create one at startup. It is safe for concurrent use.
type DB struct {
	names func() *names
	zones sync.Map // IANA name → *Zone
	made  made
}

// NewDB returns a DB with an empty cache.
func NewDB() *DB {
	return &DB{names: sync.OnceValue(readNames)}
}

// Lookup is [DB.Lookup] without a cache.
func Lookup(name string) (*Zone, error) { return NewDB().Lookup(name) }

// UnknownError is the error for a name that is no time zone.
type UnknownError struct {
	Name       string
	Suggestion string // the name that was probably meant, or ""
	// Meanings lists the zones that an ambiguous abbreviation, such as CST, can stand for.
	Meanings []string
}

// Error describes the problem and its remedy in one sentence.
func (e *UnknownError) Error() string {
	if len(e.Meanings) > 0 {
		return fmt.Sprintf("%.100q is an abbreviation, which does not say what clocks show in summer and in winter; "+
			"give the zone's name: %s",
			e.Name, strings.Join(e.Meanings, " or "))
	}
	if e.Suggestion != "" {
		return fmt.Sprintf("%.100q is no time zone that we know; did you mean %s?", e.Name, e.Suggestion)
	}
	return fmt.Sprintf("%.100q is no time zone that we know; use an IANA name such as Europe/Berlin", e.Name)
}

// Lookup finds a zone by any of the names listed in docs/decisions/0011-zones.md. Its error is an [UnknownError].
func (db *DB) Lookup(name string) (*Zone, error) {
	if z := db.known(name); z != nil {
		return z, nil
	}
	if z := db.guessed(name); z != nil {
		return z, nil
	}
	return nil, &UnknownError{Name: name, Suggestion: db.Suggest(name), Meanings: meanings(name)}
}

// Ask is Lookup for a name that a user has just typed, so that the user can still choose. IANA defines EST as a zone
// without summer time; a user in New York means another zone.
func (db *DB) Ask(name string) (*Zone, error) {
	if m := meanings(name); len(m) > 1 {
		return nil, &UnknownError{Name: name, Meanings: m}
	}
	return db.Lookup(name)
}

// known finds a zone by an unambiguous name.
func (db *DB) known(name string) *Zone {
	if z, ok := db.zones.Load(name); ok {
		return z.(*Zone)
	}
	name = clean(name)
	for _, read := range []func(string) string{
		db.names().iana, db.names().windows, db.names().suffix, db.names().display,
	} {
		if found := read(name); found != "" {
			if z := db.load(found); z != nil {
				return z
			}
		}
	}
	return nil
}

// guessed finds a zone by an ambiguous name. A VTIMEZONE is better than this guess.
func (db *DB) guessed(name string) *Zone {
	name = clean(name)
	if z := fixed(name); z != nil {
		return z
	}
	if z := db.abbreviated(name); z != nil {
		return z
	}
	city, offset, ok := db.names().city(name)
	if !ok {
		return nil
	}
	z := db.load(city)
	if z == nil || !z.keeps(offset) {
		return nil
	}
	return z
}

// keeps reports whether the zone has this offset in winter or in summer. The year hardly matters; every tzdata covers
// this one.
func (z *Zone) keeps(offset int64) bool {
	return z.Segment(winter).Offset == offset || z.Segment(summer).Offset == offset
}

// One instant in each half of the year, in seconds since 1970.
var (
	winter = ical.CivilDate(2024, time.January, 1).Seconds()
	summer = ical.CivilDate(2024, time.July, 1).Seconds()
)

// load returns the zone with an IANA name, or nil.
func (db *DB) load(name string) *Zone {
	if z, ok := db.zones.Load(name); ok {
		return z.(*Zone)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	z, _ := db.zones.LoadOrStore(name, &Zone{name: name, loc: loc})
	return z.(*Zone)
}

// clean strips the spaces and quotes that some clients put around a name.
func clean(name string) string {
	return strings.Trim(name, " \t\"'")
}
