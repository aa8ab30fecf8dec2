package caldav

import (
	"net/http"
	"strings"

	"caldav-mcp-server/caldav/dav"
	"caldav-mcp-server/calendar"
)

// states looks up the resources of an If header, each of them once.
type states struct {
	*request
	known map[place]dav.State
}

// require evaluates the If header. Conditions on objects must still hold when the objects are written; see pin.
func (x *request) require() error { return x.Require(states{x, map[place]dav.State{}}) }

// place returns the place that the header names. An invalid address is the zero place.
func (s states) place(resource string) place {
	if resource == "" {
		return s.at
	}
	at, err := s.parseHref(resource)
	if err != nil {
		return place{}
	}
	return at
}

// Held implements [dav.States].
func (s states) Held(resource, tag string) { s.seen(s.place(resource), calendar.ETag(tag)) }

// Of implements [dav.States]. A resource that the caller cannot see has the zero state.
func (s states) Of(resource string) (dav.State, error) {
	at := s.place(resource)
	now, known := s.known[at]
	if known {
		return now, nil
	}
	r, err := s.find(at)
	switch {
	case missing(err), calendar.ReasonOf(err) == calendar.Forbidden:
	case err != nil:
		return now, err
	case at.kind()&(atObject|atItem) != 0:
		now.Tag = string(r.object.ETag)
	case at.kind() == atNotice:
		now.Tag = string(r.notification.ETag)
	case at.kind()&(atHome|atCalendar|atBox|atInbox) != 0:
		if now.Token, err = r.token(); closed(err) {
			now.Token = ""
		} else if err != nil {
			return now, err
		}
	}
	s.known[at] = now
	return now, nil
}

// seen records the tag that an object had when a condition was true; "" if the object did not exist.
func (x *request) seen(at place, tag calendar.ETag) {
	if at.kind() != atObject {
		return
	}
	if x.tags == nil {
		x.tags = map[place]calendar.ETag{}
	}
	x.tags[at] = tag
}

// pin makes the write fail if the object has changed since a condition on it was true: another writer may have been
// faster.
func (x *request) pin(at place, p *calendar.Precondition) {
	tag, is := x.tags[at]
	switch {
	case !is:
	case tag == "":
		p.NoneMatchAny = true
	case len(p.Match) == 0:
		p.Match, p.MatchAny = []calendar.ETag{tag}, false
	}
}

// precondition reads If-Match and If-None-Match (RFC 9110 §13.1). It also pins the conditions that were already found
// to be true, so that they still hold at the write.
func (x *request) precondition() (calendar.Precondition, error) {
	var p calendar.Precondition
	var err error
	if p.Match, p.MatchAny, err = dav.EntityTags[calendar.ETag](x.R.Header.Values("If-Match")); err != nil {
		return p, err
	}
	p.NoneMatch, p.NoneMatchAny, err = dav.EntityTags[calendar.ETag](x.R.Header.Values("If-None-Match"))
	// §13.1.2: If-None-Match compares weakly, and all our tags are strong.
	for i, tag := range p.NoneMatch {
		p.NoneMatch[i] = calendar.ETag(strings.TrimPrefix(string(tag), "W/"))
	}
	if err == nil {
		err = x.unmodifiedSince()
	}
	// RFC 6638 §8.2: a single tag, in the form of Schedule-Tag.
	p.ScheduleMatch = calendar.ScheduleTag(strings.TrimSpace(x.R.Header.Get("If-Schedule-Tag-Match")))
	x.pin(x.at, &p)
	return p, err
}

// unmodifiedSince evaluates If-Unmodified-Since, which only counts without an If-Match (RFC 9110 §13.1.4). Dates have
// a resolution of a second, so the current tag must still match at the write.
func (x *request) unmodifiedSince() error {
	text := x.R.Header.Get("If-Unmodified-Since")
	if text == "" {
		return nil // parsing the empty string as a date would cost a microsecond
	}
	since, err := http.ParseTime(text)
	if err != nil || x.R.Header.Get("If-Match") != "" || x.at.kind() != atObject {
		return nil // an invalid date is ignored
	}
	r, err := x.find(x.at)
	if err != nil {
		// The method reports an object that is absent or hidden.
		return nil
	}
	if r.object.Modified.After(since) {
		return dav.Refuse(http.StatusPreconditionFailed, "the object has been modified since")
	}
	x.seen(x.at, r.object.ETag)
	return nil
}
