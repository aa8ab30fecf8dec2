package dav

import (
	"slices"
	"strings"
)

// Preference is a supported preference of RFC 7240 or RFC 8144, as Preference-Applied writes it.
type Preference string

// The preferences.
const (
	Minimal        Preference = "return=minimal"
	Representation Preference = "return=representation"
	NoRoot         Preference = "depth-noroot"
)

// formerly maps the preferences of RFC 7240's drafts, which some clients still send.
var formerly = map[string]Preference{
	"return-minimal": Minimal, "return-representation": Representation,
}

// Prefers reports whether the client has this preference, and if so sets Preference-Applied. Of conflicting
// preferences the first one counts (RFC 7240 §2).
func (x *Exchange) Prefers(p Preference) bool {
	// Microsoft's clients sent this before the standard existed.
	if p == Minimal && strings.EqualFold(strings.TrimSpace(x.R.Header.Get("Brief")), "t") {
		return true
	}
	name, _, _ := strings.Cut(string(p), "=")
	for _, line := range x.R.Header.Values("Prefer") {
		for word := range strings.SplitSeq(line, ",") {
			asked := readPreference(word)
			if head, _, _ := strings.Cut(string(asked), "="); head != name {
				continue
			}
			if asked == p {
				x.grant(p)
			}
			return asked == p
		}
	}
	return false
}

// readPreference normalizes a preference for comparison. It drops the parameters after a semicolon: none is known.
func readPreference(word string) Preference {
	word, _, _ = strings.Cut(word, ";")
	name, value, valued := strings.Cut(word, "=")
	p := strings.ToLower(strings.TrimSpace(name))
	if valued {
		p += "=" + strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
	}
	if now, ok := formerly[p]; ok {
		return now
	}
	return Preference(p)
}

// grant adds a preference to Preference-Applied, once.
func (x *Exchange) grant(p Preference) {
	h := x.W.Header()
	if slices.Contains(h.Values("Preference-Applied"), string(p)) {
		return
	}
	h.Add("Preference-Applied", string(p))
	if !slices.Contains(h.Values("Vary"), "Prefer") {
		h.Add("Vary", "Prefer")
	}
}
