package zone

import (
	"fmt"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // a container has no zones of its own

	"caldav-mcp-server/ical"
)

// DB finds zones by name and remembers those that it found: the names of IANA,
// of which there are few, and a bounded number of VTIMEZONEs. Make one when the
// program starts; several goroutines may use it.
type DB struct {
	names func() *names
	zones sync.Map // IANA name → *Zone
	made  made
}

// NewDB makes an empty memory.
func NewDB() *DB {
	return &DB{names: sync.OnceValue(readNames)}
}

// Lookup is [DB.Lookup] without a memory.
func Lookup(name string) (*Zone, error) { return NewDB().Lookup(name) }

// UnknownError tells that a name is none of a zone.
type UnknownError struct {
	Name       string
	Suggestion string // the name that was perhaps meant, or ""
	// Meanings are what people mean by it where it is an abbreviation, such as CST.
	Meanings []string
}

// Error says it in one sentence.
func (e *UnknownError) Error() string {
	if len(e.Meanings) > 0 {
		return fmt.Sprintf("%.100q is an abbreviation, which does not say what clocks show in summer and in winter; give the zone's name: %s",
			e.Name, strings.Join(e.Meanings, " or "))
	}
	if e.Suggestion != "" {
		return fmt.Sprintf("%.100q is no time zone that we know; did you mean %s?", e.Name, e.Suggestion)
	}
	return fmt.Sprintf("%.100q is no time zone that we know; use an IANA name such as Europe/Berlin", e.Name)
}

// Lookup finds a zone by any of the names that are listed in
// docs/decisions/0011-zones.md. An error is an [UnknownError].
func (db *DB) Lookup(name string) (*Zone, error) {
	if z := db.known(name); z != nil {
		return z, nil
	}
	if z := db.guessed(name); z != nil {
		return z, nil
	}
	return nil, &UnknownError{Name: name, Suggestion: db.Suggest(name), Meanings: meanings(name)}
}

// Ask is Lookup of a name that somebody gives just now, and can still be asked about. IANA knows EST as a
// zone without summer; a person who says it in New York means another.
func (db *DB) Ask(name string) (*Zone, error) {
	if m := meanings(name); len(m) > 1 {
		return nil, &UnknownError{Name: name, Meanings: m}
	}
	return db.Lookup(name)
}

// known finds a zone by a name that leaves no doubt.
func (db *DB) known(name string) *Zone {
	if z, ok := db.zones.Load(name); ok {
		return z.(*Zone)
	}
	name = clean(name)
	for _, read := range []func(string) string{db.names().iana, db.names().windows, db.names().suffix, db.names().display} {
		if found := read(name); found != "" {
			if z := db.load(found); z != nil {
				return z
			}
		}
	}
	return nil
}

// guessed finds a zone by a name that leaves some, which a VTIMEZONE is better
// than.
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

// keeps tells whether the clocks of the zone keep an offset in winter or in
// summer. The year hardly matters; it is one that every tzdata knows.
func (z *Zone) keeps(offset int64) bool {
	return z.Segment(winter).Offset == offset || z.Segment(summer).Offset == offset
}

// A moment of either half of the year, in seconds since 1970.
var (
	winter = ical.CivilDate(2024, time.January, 1).Seconds()
	summer = ical.CivilDate(2024, time.July, 1).Seconds()
)

// load makes a zone of an IANA name.
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

// clean takes off what clients leave around a name.
func clean(name string) string {
	return strings.Trim(name, " \t\"'")
}
