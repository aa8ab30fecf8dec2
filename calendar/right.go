package calendar

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Right is a limit on the use of a calendar by a token. See docs/decisions/0128-rights-per-calendar.md.
type Right string

// The rights. RightWrite allows all that the token's scopes allow.
const (
	RightRead    Right = "read"
	RightPropose Right = "propose"
	RightWrite   Right = "write"
)

// rightsUpwards are all rights, the least first.
var rightsUpwards = [...]Right{RightRead, RightPropose, RightWrite}

// ParseRight returns the right for a word. A word that only a newer version knows means RightRead.
func ParseRight(word string) Right {
	return rightsUpwards[max(0, slices.Index(rightsUpwards[:], Right(word)))]
}

// Known reports whether the right is one of the three.
func (r Right) Known() bool { return slices.Contains(rightsUpwards[:], r) }

// Least returns the lower one of two rights.
func (r Right) Least(other Right) Right {
	return rightsUpwards[min(slices.Index(rightsUpwards[:], r), slices.Index(rightsUpwards[:], other))]
}

// Rights are a token's rights by calendar.
type Rights struct {
	// Others is the right in calendars that Of does not name, and outside of calendars; "" is RightWrite.
	Others Right
	Of     map[CalendarID]Right
}

// In returns the right in a calendar.
func (r Rights) In(id CalendarID) Right {
	if one, named := r.Of[id]; named {
		return one
	}
	return r.Elsewhere()
}

// Elsewhere returns the right in a calendar that is not named.
func (r Rights) Elsewhere() Right {
	if r.Others == "" {
		return RightWrite
	}
	return r.Others
}

// Has reports whether some calendar has the right.
func (r Rights) Has(one Right) bool {
	return r.Elsewhere() == one || slices.Contains(slices.Collect(maps.Values(r.Of)), one)
}

// Least returns the lower right in each calendar.
func (r Rights) Least(other Rights) Rights {
	least := Rights{Others: r.Elsewhere().Least(other.Elsewhere()), Of: make(map[CalendarID]Right)}
	for _, all := range [...]Rights{r, other} {
		for id := range all.Of {
			least.Of[id] = r.In(id).Least(other.In(id))
		}
	}
	return least
}

// Equal reports whether both allow the same in each calendar.
func (r Rights) Equal(other Rights) bool { return r.String() == other.String() }

// String returns the rights as stored: a word for the others, then "id=word" for each calendar that differs from it. It
// returns "" for RightWrite everywhere.
func (r Rights) String() string {
	words := []string{string(r.Elsewhere())}
	for _, id := range slices.Sorted(maps.Keys(r.Of)) {
		if one := r.Of[id]; one != r.Elsewhere() {
			words = append(words, string(id)+"="+string(one))
		}
	}
	if len(words) == 1 && r.Elsewhere() == RightWrite {
		return ""
	}
	return strings.Join(words, " ")
}

// ParseRights reads rights as stored; "" is RightWrite everywhere.
func ParseRights(text string) Rights {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Rights{}
	}
	var r Rights
	if r.Others = ParseRight(words[0]); r.Others == RightWrite {
		r.Others = "" // as in a new token
	}
	for _, word := range words[1:] {
		id, right, _ := strings.Cut(word, "=")
		if r.Of == nil {
			r.Of = make(map[CalendarID]Right)
		}
		r.Of[CalendarID(id)] = ParseRight(right)
	}
	return r
}

// ErrMayPropose is the cause of a refusal if the caller may propose the change instead.
var ErrMayPropose = errors.New("the caller may propose this change")

// scopesWith returns the caller's scopes under a right.
func (c Caller) scopesWith(r Right) Scope {
	switch {
	case r == RightWrite:
		return c.Scopes
	case r == RightPropose && c.Proposes:
		return c.Scopes & (ScopeRead | ScopePropose | scopesProposed)
	case r == RightPropose:
		return c.Scopes & (ScopeRead | ScopePropose)
	}
	return c.Scopes & ScopeRead
}

// RightIn returns the right of the caller's credential in a calendar, as far as its scopes allow.
func (c Caller) RightIn(cal Calendar) Right {
	switch r := c.Rights.In(cal.ID); {
	case r != RightRead && c.scopesWith(r)&ScopeWrite != 0 && !c.Proposes:
		return RightWrite
	case r != RightRead && c.Scopes&ScopePropose != 0 && !c.ActsFor():
		return RightPropose
	}
	return RightRead
}

// ProposesSomewhere reports whether the caller has calendars where it may only propose.
func (c Caller) ProposesSomewhere() bool {
	return c.Scopes&ScopePropose != 0 && c.Rights.Has(RightPropose) && !c.ActsFor()
}
