package console

import (
	"fmt"
	"strings"
)

const (
	// BriefLength is the number of letters of an id in tables; commands accept such a prefix.
	BriefLength = 8
	// briefestLength is the length of the shortest prefix that commands accept.
	briefestLength = 4
)

// BriefID is an id in a table.
func BriefID[ID ~string](id ID) string {
	if len(id) < 2*BriefLength {
		return string(id)
	}
	return string(id[:BriefLength])
}

// ByID finds an item by its id or by a unique prefix of it.
func ByID[T any](all []T, id func(T) string, what, word string) (T, error) {
	var found []T
	word = strings.TrimSuffix(word, "…")
	for _, one := range all {
		if id(one) == word {
			return one, nil
		}
		if len(word) >= briefestLength && strings.HasPrefix(id(one), word) {
			found = append(found, one)
		}
	}
	var none T
	switch len(found) {
	case 0:
		return none, fmt.Errorf("there is no %s %q", what, word)
	case 1:
		return found[0], nil
	}
	return none,
		fmt.Errorf("several ids begin with %q (%s): type more letters", word, strings.Join(Each(found, id), ", "))
}
