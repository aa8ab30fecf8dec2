package caldav

import (
	"net/http"
	"strings"

	"caldav-mcp-server/calendar"
)

// The If header of RFC 4918 §10.4. Without locks, the only states that it can name are entity tags and sync tokens
// (RFC 6578 §5).

// stateList is one list of the header: conditions that must all hold for a resource.
type stateList struct {
	// on is the resource's tag; "" means the request's resource.
	on         string
	conditions []stateCondition
}

// stateCondition is one condition: an entity tag, or a state token.
type stateCondition struct {
	not   bool
	token string
	tag   calendar.ETag
}

// stateListsMax limits the lists of a header: each may name another resource, which must be looked up.
const stateListsMax = 64

var errIfHeader = refuseWith(http.StatusBadRequest, "the If header cannot be read: see RFC 4918 §10.4.2")

// parseIf parses the header.
func parseIf(header string) ([]stateList, error) {
	var lists []stateList
	on := ""
	for rest := strings.TrimSpace(header); rest != ""; rest = strings.TrimSpace(rest) {
		var inside string
		var ok bool
		switch rest[0] {
		case '<':
			if on, rest, ok = strings.Cut(rest[1:], ">"); !ok || on == "" {
				return nil, errIfHeader
			}
			continue
		case '(':
			if inside, rest, ok = cutList(rest[1:]); !ok {
				return nil, errIfHeader
			}
		default:
			return nil, errIfHeader
		}
		conditions, err := parseConditions(inside)
		if err != nil {
			return nil, err
		}
		lists = append(lists, stateList{on, conditions})
	}
	if len(lists) == 0 || len(lists) > stateListsMax {
		return nil, errIfHeader
	}
	return lists, nil
}

// cutList finds the end of a list. Tags and tokens may contain parentheses.
func cutList(s string) (inside, rest string, ok bool) {
	closing := byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case closing != 0:
			if c == closing {
				closing = 0
			}
		case c == '<':
			closing = '>'
		case c == '"':
			closing = '"'
		case c == ')':
			return s[:i], s[i+1:], true
		}
	}
	return "", "", false
}

func parseConditions(s string) ([]stateCondition, error) {
	var all []stateCondition
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		var c stateCondition
		if len(s) > 3 && strings.EqualFold(s[:3], "not") {
			c.not, s = true, strings.TrimSpace(s[3:])
		}
		ok := false
		switch {
		case strings.HasPrefix(s, "<"):
			c.token, s, ok = strings.Cut(s[1:], ">")
		case strings.HasPrefix(s, "["):
			c.tag, s, ok = cutTag(strings.TrimSpace(s[1:]))
		}
		if !ok || c.token == "" && c.tag == "" {
			return nil, errIfHeader
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errIfHeader
	}
	return all, nil
}

// cutTag reads an entity tag and the bracket that closes it.
func cutTag(s string) (tag calendar.ETag, rest string, ok bool) {
	end := strings.IndexByte(s, ']')
	if strings.HasPrefix(strings.TrimPrefix(s, "W/"), `"`) {
		end = tagEnd(s)
	}
	if end < 0 {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(s[end:]), "]")
	return calendar.ETag(strings.TrimSpace(s[:end])), rest, ok
}

// states looks up the resources of an If header, each of them once.
type states struct {
	x     *exchange
	known map[place]state
}

// state is the value that a condition is compared with. A resource that does not exist has the zero state.
type state struct {
	tag   calendar.ETag
	token string
}

// require evaluates the If header (§10.4.3): one of its lists must hold. Conditions on objects must still hold when
// the objects are written; see pin.
func (x *exchange) require() error {
	header := strings.Join(x.r.Header.Values("If"), " ")
	if header == "" {
		return nil
	}
	lists, err := parseIf(header)
	if err != nil {
		return err
	}
	s := states{x, map[place]state{}}
	for _, list := range lists {
		holds, err := s.hold(list)
		if err != nil {
			return err
		}
		if holds {
			return nil
		}
	}
	return refuseWith(http.StatusPreconditionFailed, "none of the lists in the If header is true")
}

func (s states) hold(list stateList) (bool, error) {
	at := s.x.at
	if list.on != "" {
		var err error
		if at, err = s.x.parseHref(list.on); err != nil {
			at = place{}
		}
	}
	now, err := s.of(at)
	if err != nil {
		return false, err
	}
	for _, c := range list.conditions {
		is := c.tag != "" && c.tag == now.tag || c.token != "" && c.token == now.token
		if is == c.not {
			return false, nil
		}
		if c.tag != "" {
			s.x.seen(at, now.tag)
		}
	}
	return true, nil
}

// of looks up a state. A resource that the caller cannot see has none.
func (s states) of(at place) (state, error) {
	now, known := s.known[at]
	if known {
		return now, nil
	}
	r, err := s.x.find(at)
	switch {
	case missing(err), calendar.ReasonOf(err) == calendar.Forbidden:
	case err != nil:
		return now, err
	case at.kind()&(atObject|atItem) != 0:
		now.tag = r.object.ETag
	case at.kind() == atNotice:
		now.tag = r.notification.ETag
	case at.kind()&(atHome|atCalendar|atBox|atInbox) != 0:
		if now.token, err = r.token(); closed(err) {
			now.token = ""
		} else if err != nil {
			return now, err
		}
	}
	s.known[at] = now
	return now, nil
}

// seen records the tag that an object had when a condition was true; "" if the object did not exist.
func (x *exchange) seen(at place, tag calendar.ETag) {
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
func (x *exchange) pin(at place, p *calendar.Precondition) {
	tag, is := x.tags[at]
	switch {
	case !is:
	case tag == "":
		p.NoneMatchAny = true
	case len(p.Match) == 0:
		p.Match, p.MatchAny = []calendar.ETag{tag}, false
	}
}
