package main

import (
	"fmt"
	"strings"
)

const (
	// briefLength is the number of letters of an id in tables; commands accept such a prefix.
	briefLength = 8
	// briefestLength is the length of the shortest prefix that commands accept.
	briefestLength = 4
)

// briefID is an id in a table.
func briefID[ID ~string](id ID) string {
	if len(id) < 2*briefLength {
		return string(id)
	}
	return string(id[:briefLength])
}

// byID finds an item by its id or by a unique prefix of it.
func byID[T any](all []T, id func(T) string, what, word string) (T, error) {
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
	return none, fmt.Errorf("several ids begin with %q (%s): type more letters", word, strings.Join(each(found, id), ", "))
}
