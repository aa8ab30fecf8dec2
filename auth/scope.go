package auth

import (
	"strings"

	"caldav-mcp-server/calendar"
)

// scopes gives the name of each scope, in the order used in lists.
var scopes = [...]struct {
	name  string
	scope calendar.Scope
}{
	{"read", calendar.ScopeRead},
	{"write", calendar.ScopeWrite},
	{"delete", calendar.ScopeDelete},
	{"share", calendar.ScopeShare},
	{"invite", calendar.ScopeInvite},
	{"mail", calendar.ScopeMail},
	{"propose", calendar.ScopePropose},
}

// ParseScopes parses a comma-separated list of scopes, such as "read,write".
func ParseScopes(list string) (calendar.Scope, error) {
	var set calendar.Scope
	for word := range strings.SplitSeq(list, ",") {
		one := scopeOf(strings.TrimSpace(word))
		if one == 0 {
			return 0,
				invalid("%q is no scope; the scopes are %s", shortened(word, maxTitle), ScopeList(calendar.ScopeEvery))
		}
		set |= one
	}
	return set, nil
}

func scopeOf(name string) calendar.Scope {
	for _, s := range scopes {
		if s.name == name {
			return s.scope
		}
	}
	return 0
}

// ScopeList formats a set of scopes for ParseScopes.
func ScopeList(set calendar.Scope) string { return strings.Join(ScopeNames(set), ",") }

// ScopeNames returns the names of a set of scopes, never nil.
func ScopeNames(set calendar.Scope) []string {
	names := []string{}
	for _, s := range scopes {
		if set&s.scope != 0 {
			names = append(names, s.name)
		}
	}
	return names
}
