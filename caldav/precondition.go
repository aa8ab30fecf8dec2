package caldav

import (
	"net/http"
	"strings"

	"caldav-mcp-server/calendar"
)

// precondition reads If-Match and If-None-Match (RFC 9110 §13.1). It also pins the conditions that were already found
// to be true, so that they still hold at the write.
func (x *exchange) precondition() (calendar.Precondition, error) {
	var p calendar.Precondition
	var err error
	if p.Match, p.MatchAny, err = entityTags(x.r.Header.Values("If-Match")); err != nil {
		return p, err
	}
	p.NoneMatch, p.NoneMatchAny, err = entityTags(x.r.Header.Values("If-None-Match"))
	// §13.1.2: If-None-Match compares weakly, and all our tags are strong.
	for i, tag := range p.NoneMatch {
		p.NoneMatch[i] = calendar.ETag(strings.TrimPrefix(string(tag), "W/"))
	}
	if err == nil {
		err = x.unmodifiedSince()
	}
	// RFC 6638 §8.2: a single tag, in the form of Schedule-Tag.
	p.ScheduleMatch = calendar.ScheduleTag(strings.TrimSpace(x.r.Header.Get("If-Schedule-Tag-Match")))
	x.pin(x.at, &p)
	return p, err
}

// unmodifiedSince evaluates If-Unmodified-Since, which only counts without an If-Match (RFC 9110 §13.1.4). Dates have
// a resolution of a second, so the current tag must still match at the write.
func (x *exchange) unmodifiedSince() error {
	text := x.r.Header.Get("If-Unmodified-Since")
	if text == "" {
		return nil // parsing the empty string as a date would cost a microsecond
	}
	since, err := http.ParseTime(text)
	if err != nil || x.r.Header.Get("If-Match") != "" || x.at.kind() != atObject {
		return nil //nolint:nilerr // an invalid date is ignored
	}
	r, err := x.find(x.at)
	if err != nil {
		// The method reports an object that is absent or hidden.
		return nil //nolint:nilerr // see above
	}
	if r.object.Modified.After(since) {
		return refuseWith(http.StatusPreconditionFailed, "the object has been modified since")
	}
	x.seen(x.at, r.object.ETag)
	return nil
}

// entityTags reads a list of entity tags. Text that is no tag is kept: nothing equals it, and an unreadable condition
// must fail instead of being ignored.
func entityTags(lines []string) (tags []calendar.ETag, wildcard bool, err error) {
	if len(lines) == 0 {
		return nil, false, nil
	}
	rest := strings.TrimSpace(strings.Join(lines, ","))
	if rest == "*" {
		return nil, true, nil
	}
	for rest = strings.TrimLeft(rest, ", \t"); rest != ""; rest = strings.TrimLeft(rest, ", \t") {
		end := tagEnd(rest)
		tags = append(tags, calendar.ETag(strings.TrimSpace(rest[:end])))
		rest = rest[end:]
	}
	if len(tags) == 0 {
		return nil, false, refuseWith(http.StatusBadRequest, "If-Match and If-None-Match take a list of entity tags, or *")
	}
	return tags, false, nil
}

// tagEnd returns the end of the first entity tag in a list. A quoted tag may contain commas.
func tagEnd(list string) int {
	opaque := strings.TrimPrefix(list, "W/")
	if strings.HasPrefix(opaque, `"`) {
		if i := strings.IndexByte(opaque[1:], '"'); i >= 0 {
			return len(list) - len(opaque) + i + 2
		}
	}
	if i := strings.IndexByte(list, ','); i >= 0 {
		return i
	}
	return len(list)
}
