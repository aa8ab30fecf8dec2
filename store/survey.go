package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/store/db"
)

const (
	// surveyMost is the most objects that a survey looks at in all calendars together, surveyLeast the fewest
	// per calendar and size class.
	surveyMost, surveyLeast = 400, 15
	// surveyWords is the most words that a survey can distinguish.
	surveyWords = 32
	// commonShare: a word is common if more than one in so many objects has it.
	commonShare = 16
)

// A survey reads the nearest objects one by one. It finds a word of half of all events at once, while the index
// must collect all occurrences to find the nearest. If the survey is not enough, it still identifies the words
// that are too common to look up.
type survey struct {
	// matches are the matching objects that it read. They are complete before the horizon.
	matches []sighting
	horizon int64
	// seen is how many objects it read, with how many of them have each word.
	seen int
	with []int
}

// sighting is an object that a survey read.
type sighting struct {
	calendar calendar.CalendarID
	name     calendar.ObjectName
	// place is its position in the order of a search: its start, or now if it has started.
	place int64
	// words is a bit set of the words that it has; negative for an object of another kind and for a tombstone.
	words int64
}

// surveyed selects, of each calendar in $2 and each size class, the first $6 objects that end at $3 or later.
// $5 has for each class the earliest start of such objects, $1 the words, $4 the kind.
const (
	surveyed = `SELECT o.calendar_id, o.name, o.reach, o.span_start, CASE WHEN o.deleted OR o.kind <> $4 THEN -1 ELSE `

	sqliteSurvey = surveyed + `(SELECT COALESCE(sum(1 << w.key), 0) FROM json_each($1) w
		WHERE instr(' ' || o.search, ' ' || w.value) > 0) END
		FROM json_each($2) c CROSS JOIN json_each($5) k CROSS JOIN objects o
		WHERE o.rowid IN (SELECT i.rowid FROM objects i
			WHERE i.calendar_id = c.value AND i.reach = k.key AND i.span_start >= k.value AND i.span_end >= $3
			ORDER BY i.span_start LIMIT $6 + 0)`

	postgresSurvey = surveyed + `(SELECT COALESCE(sum(1::bigint << (w.n::int - 1)), 0)::bigint
			FROM jsonb_array_elements_text($1::jsonb) WITH ORDINALITY w (value, n)
			WHERE strpos(' ' || o.search, ' ' || w.value) > 0) END
		FROM jsonb_array_elements_text($2::jsonb) c (value)
		CROSS JOIN jsonb_array_elements_text($5::jsonb) WITH ORDINALITY k (value, n)
		CROSS JOIN LATERAL (SELECT * FROM objects i
			WHERE i.calendar_id = c.value AND i.reach = k.n - 1 AND i.span_start >= k.value::bigint AND i.span_end >= $3
			ORDER BY i.span_start LIMIT $6 + 0) o`
)

// survey reads the nearest objects.
func (e *searching) survey(
	ctx context.Context, at db.Querier, q calendar.SearchQuery, calendars string,
) (survey, error) {
	if len(q.Words) > surveyWords {
		return survey{horizon: beginning}, nil
	}
	now, most := q.Now.Unix(), max(surveyLeast, surveyMost/len(q.Calendars))
	words, err := json.Marshal(q.Words)
	if err != nil {
		return survey{}, err
	}
	since := make([]int64, 0, len(reaches)+1)
	for _, reach := range reaches {
		since = append(since, before(now, reach))
	}
	since = append(since, beginning)
	since = append(since, since[1:]...) // the same for series with a recurrence index
	from, err := json.Marshal(since)
	if err != nil {
		return survey{}, err
	}
	v := survey{horizon: endless, with: make([]int, len(q.Words))}
	type class struct {
		calendar calendar.CalendarID
		reach    int64
	}
	looked := make(map[class]int)
	err = db.Each(ctx, at, func(row db.Scanner) (bool, error) {
		var at sighting
		of := class{}
		if err := row.Scan(&at.calendar, &at.name, &of.reach, &at.place, &at.words); err != nil {
			return false, err
		}
		of.calendar, at.place = at.calendar, max(at.place, now)
		if looked[of]++; looked[of] == most {
			v.horizon = min(v.horizon, at.place)
		}
		v.note(at)
		return true, nil
	}, e.near, string(words), calendars, now, q.Kind, string(from), most)
	return v, err
}

// note counts the words of an object.
func (v *survey) note(at sighting) {
	if at.words < 0 {
		return
	}
	v.seen++
	all := true
	for i := range v.with {
		if at.words&(1<<i) != 0 {
			v.with[i]++
		} else {
			all = false
		}
	}
	if all {
		v.matches = append(v.matches, at)
	}
}

// nearest returns the first matches, if the survey has enough.
func (v survey) nearest(q calendar.SearchQuery) ([]sighting, bool) {
	whole := v.horizon == math.MaxInt64
	first := slices.DeleteFunc(slices.Clone(v.matches), func(at sighting) bool {
		return !whole && at.place >= v.horizon
	})
	slices.SortFunc(first, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.calendar, b.calendar), cmp.Compare(a.name, b.name))
	})
	if len(first) >= q.Limit {
		return first[:q.Limit], true
	}
	return first, whole && !q.Past
}

// rare splits the words into rare ones, to look up in the index, and common ones, to check in the objects
// found. At least one is rare.
func (v survey) rare(words []string) (rare, common []string) {
	for i, word := range words {
		if v.with != nil && v.with[i]*commonShare > v.seen {
			common = append(common, word)
		} else {
			rare = append(rare, word)
		}
	}
	if rare == nil {
		return common, nil
	}
	return rare, common
}

// pick reads the sighted objects, in their order.
func (e *searching) pick(ctx context.Context, at db.Querier, list []sighting) ([]calendar.Object, error) {
	if len(list) == 0 {
		return nil, nil
	}
	places := make(map[[2]string]int, len(list))
	keys := make([][2]string, len(list))
	for i, at := range list {
		keys[i] = [2]string{string(at.calendar), string(at.name)}
		places[keys[i]] = i
	}
	wanted, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	found, err := db.RowsOf(ctx, at, sparingly(), e.some, string(wanted))
	place := func(o calendar.Object) int { return places[[2]string{string(o.Calendar), string(o.Name)}] }
	slices.SortFunc(found, func(a, b calendar.Object) int { return cmp.Compare(place(a), place(b)) })
	return found, err
}

// sparingly scans objects. It omits their data after a page's worth of bytes, and always omits the data of
// large objects.
func sparingly() func(db.Scanner) (calendar.Object, error) {
	room := pageBytes
	return func(row db.Scanner) (calendar.Object, error) {
		o, err := scanRead(row)
		if errors.Is(err, calendar.ErrNoText) {
			o.Data, err = nil, nil // its reader gets the error
		}
		if room -= len(o.Data) + len(o.Search); room < 0 {
			o.Data, o.Search = nil, ""
		}
		return o, err
	}
}
