package dav

import (
	"net/http"
	"strings"
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
	tag   string
}

// stateListsMax limits the lists of a header: each may name another resource, which must be looked up.
const stateListsMax = 64

var errIfHeader = Refuse(http.StatusBadRequest, "the If header cannot be read: see RFC 4918 §10.4.2")

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
func cutTag(s string) (tag, rest string, ok bool) {
	end := strings.IndexByte(s, ']')
	if strings.HasPrefix(strings.TrimPrefix(s, "W/"), `"`) {
		end = tagEnd(s)
	}
	if end < 0 {
		return "", "", false
	}
	rest, ok = strings.CutPrefix(strings.TrimSpace(s[end:]), "]")
	return strings.TrimSpace(s[:end]), rest, ok
}

// State is the value that a condition is compared with. A resource that does not exist has the zero State.
type State struct {
	// Tag is the entity tag, Token the sync token.
	Tag, Token string
}

// States has the states of resources. A resource is named as in an If header, "" for the resource of the request.
type States interface {
	Of(resource string) (State, error)
	// Held is told each condition on an entity tag that was true.
	Held(resource, tag string)
}

// Require evaluates the If header (§10.4.3): one of its lists must hold.
func (x *Exchange) Require(now States) error {
	header := strings.Join(x.R.Header.Values("If"), " ")
	if header == "" {
		return nil
	}
	lists, err := parseIf(header)
	if err != nil {
		return err
	}
	for _, list := range lists {
		holds, err := list.holds(now)
		if err != nil {
			return err
		}
		if holds {
			return nil
		}
	}
	return Refuse(http.StatusPreconditionFailed, "none of the lists in the If header is true")
}

func (l stateList) holds(all States) (bool, error) {
	now, err := all.Of(l.on)
	if err != nil {
		return false, err
	}
	for _, c := range l.conditions {
		is := c.tag != "" && c.tag == now.Tag || c.token != "" && c.token == now.Token
		if is == c.not {
			return false, nil
		}
		if c.tag != "" {
			all.Held(l.on, now.Tag)
		}
	}
	return true, nil
}
