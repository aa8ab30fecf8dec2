package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
)

// Parameters are bound to what they fill, as package flag does it: name, type, words, limits and target
// stand in one place, and nothing asks for an argument by its name. A parameter is optional unless it is
// needed, and leaves its target as it is when it was left out.

// bind makes the row of a parameter of one type.
func bind[V any](f field, want string, read func(json.RawMessage) (V, bool), check func(field, V) string, set func(V)) field {
	f.optional = true
	f.fill = func(f field, raw json.RawMessage) string {
		value, ok := read(raw)
		if !ok {
			return fmt.Sprintf("%q must be %s, not %s", f.name, want, excerpt(raw))
		}
		if f.writes && !f.names {
			value = restoredValue(value)
		}
		if complaint := check(f, value); complaint != "" {
			return complaint
		}
		set(value)
		return ""
	}
	return f
}

// restoredValue is a text, or a list of texts, without our gaps; anything else is as it was.
func restoredValue[V any](value V) V {
	switch v := any(&value).(type) {
	case *string:
		*v = restored(*v)
	case *[]string:
		*v = each(*v, restored)
	}
	return value
}

// bindText is of a text.
func bindText(name, doc string, set func(string)) field {
	return bind(field{name: name, kind: text, doc: doc}, "a string", readText, field.checkText, set)
}

// textTo is a text as it is.
func textTo[T ~string](into *T, name, doc string) field {
	return bindText(name, doc, func(value string) { *into = T(value) })
}

// wordTo is a text that blanks around it mean nothing to: an id, a time, a word.
func wordTo[T ~string](into *T, name, doc string) field {
	return bindText(name, doc, func(value string) { *into = T(strings.TrimSpace(value)) })
}

// uidTo is the uid of what is there, whole or as a text has shown it.
func uidTo(into *calendar.UID, name string) field {
	f := textTo(into, name, "")
	f.names = true
	return f
}

// fieldTo is a text that changes a field: given empty, it clears it.
func fieldTo[T ~string](into *edit.Field[T], name, doc string) field {
	return bindText(name, doc, func(value string) {
		if *into = edit.To(T(value)); value == "" {
			*into = edit.Clear[T]()
		}
	})
}

// yesTo is true or false.
func yesTo(into *bool, name, doc string) field {
	return bindYes(name, doc, func(value bool) { *into = value })
}

// yesFieldTo is true or false, where that it was left out is something else.
func yesFieldTo(into *edit.Field[bool], name, doc string) field {
	return bindYes(name, doc, func(value bool) { *into = edit.To(value) })
}

func bindYes(name, doc string, set func(bool)) field {
	return bind(field{name: name, kind: yesNo, doc: doc}, "true or false", readYes, func(field, bool) string { return "" }, set)
}

// numberTo is a whole number.
func numberTo(into *int, name, doc string) field {
	return bindNumber(name, doc, func(value int) { *into = value })
}

// numberFieldTo is a whole number that changes a field.
func numberFieldTo(into *edit.Field[int], name, doc string) field {
	return bindNumber(name, doc, func(value int) { *into = edit.To(value) })
}

func bindNumber(name, doc string, set func(int)) field {
	return bind(field{name: name, kind: number, doc: doc}, "a whole number", readNumber, field.checkNumber, set)
}

// listTo is a list of texts.
func listTo[T ~string](into *[]T, name, doc string) field {
	return bindList(text, name, doc, "a list of strings", readText, field.checkText, func(list []string) { *into = each(list, func(s string) T { return T(s) }) })
}

// listFieldTo is a list of texts that changes a field: given empty, it clears it.
func listFieldTo[T any](into *edit.Field[[]T], name, doc string, as func(string) T) field {
	return bindList(text, name, doc, "a list of strings", readText, field.checkText, func(list []string) { *into = edit.To(each(list, as)) })
}

func bindList[V any](item kind, name, doc, want string, read func(json.RawMessage) (V, bool), check func(field, V) string, set func([]V)) field {
	return bind(field{name: name, kind: listOf, item: item, doc: doc}, want, readList(read), checkItems(check), set)
}

// each is a list with every item in another form.
func each[T, U any](list []T, as func(T) U) []U {
	values := make([]U, len(list))
	for i, value := range list {
		values[i] = as(value)
	}
	return values
}

// needed is for a parameter that must be given, and not blank.
func (f field) needed() field {
	f.optional = false
	return f
}

// neededFirst is for one that the first version needs, and later ones do not.
func (f field) neededFirst() field {
	f.optional, f.first = true, true
	return f
}

// allNeeded is for several.
func allNeeded(rows []field) []field { return each(rows, field.needed) }

// upTo bounds a text, or each of a list, in characters.
func (f field) upTo(characters int) field {
	f.longest = characters
	return f
}

// between bounds a number.
func (f field) between(least, most int) field {
	f.least, f.most = least, most
	return f
}

// items bounds a list.
func (f field) items(most int) field {
	f.most = most
	return f
}

// oneOf is for a text that is one of a few words.
func (f field) oneOf(words ...string) field {
	f.words = words
	return f
}
