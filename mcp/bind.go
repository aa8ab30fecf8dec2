package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/edit"
	"caldav-mcp-server/mcp/wire"
)

// field is a parameter of a tool. It yields both the schema for the model and the validation of arguments.
type field struct {
	name string
	kind wire.Kind
	// doc describes the parameter, if its name and words are not enough.
	doc      string
	optional bool
	// first is set if clients of the first version must give it, as their contract says.
	first bool
	// longest limits a string, in characters. least and most limit a number; most also limits the items of a list. The
	// schema leaves them out: not every host reads them, and they cost tokens. If users may want more, doc states the
	// limit.
	longest, least, most int
	// words are the only allowed values of a string, if set.
	words []string
	// item is the type of a list's items: text or number.
	item wire.Kind
	// fill parses an argument into the parameter's target, or returns a complaint.
	fill func(f field, raw json.RawMessage) (complaint string)
	// writes is set if the tool changes data. names is set if the string is only used to find an object.
	writes, names bool
}

// inputSchema returns the schema of a tool's arguments.
func inputSchema(fields []field, v wire.Version) json.RawMessage {
	var properties wire.Members
	var required []string
	for _, f := range fields {
		properties = properties.With(f.name, f.schema())
		if !f.optional || f.first && v.Plain() {
			required = append(required, f.name)
		}
	}
	// Unknown arguments are refused (see unknown). This lets hosts check a call beforehand.
	return wire.EncodeSchema(wire.ObjectSchema(properties, required).With("additionalProperties", false))
}

func (f field) schema() wire.Members {
	withWords := func(m wire.Members) wire.Members {
		if len(f.words) == 0 {
			return m
		}
		return m.With("enum", f.words)
	}
	s := wire.Typed(f.kind)
	if f.kind == wire.List {
		s = s.With("items", withWords(wire.Typed(f.item)))
	} else {
		s = withWords(s)
	}
	if f.doc != "" {
		s = s.With("description", f.doc)
	}
	return s
}

// Parameters are bound to their targets as in package flag: name, type, words, limits and target are declared in one
// place, and no code looks up an argument by name. A parameter is optional unless marked needed. If it is omitted, its
// target keeps its value.

// bind returns the field of a parameter of type V.
func bind[V any](
	f field, want string, read func(json.RawMessage) (V, bool), check func(field, V) string, set func(V),
) field {
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

// restoredValue removes our defusing gaps from a string or a list of strings. Other values stay as they are.
func restoredValue[V any](value V) V {
	switch v := any(&value).(type) {
	case *string:
		*v = restored(*v)
	case *[]string:
		*v = each(*v, restored)
	}
	return value
}

// bindText binds a string.
func bindText(name, doc string, set func(string)) field {
	return bind(field{name: name, kind: wire.Text, doc: doc}, "a string", readText, field.checkText, set)
}

// textTo binds a string, unchanged.
func textTo[T ~string](into *T, name, doc string) field {
	return bindText(name, doc, func(value string) { *into = T(value) })
}

// wordTo binds a string without surrounding blanks: an id, a time, a word.
func wordTo[T ~string](into *T, name, doc string) field {
	return bindText(name, doc, func(value string) { *into = T(strings.TrimSpace(value)) })
}

// uidTo binds the uid of an existing object, in full or in the shortened form that results show.
func uidTo(into *calendar.UID, name string) field {
	f := textTo(into, name, "")
	f.names = true
	return f
}

// fieldTo binds a string that changes a field; the empty string clears the field.
func fieldTo[T ~string](into *edit.Field[T], name, doc string) field {
	return bindText(name, doc, func(value string) {
		if *into = edit.To(T(value)); value == "" {
			*into = edit.Clear[T]()
		}
	})
}

// yesTo binds a boolean.
func yesTo(into *bool, name, doc string) field {
	return bindYes(name, doc, func(value bool) { *into = value })
}

// yesFieldTo binds a boolean that may also be omitted.
func yesFieldTo(into *edit.Field[bool], name, doc string) field {
	return bindYes(name, doc, func(value bool) { *into = edit.To(value) })
}

func bindYes(name, doc string, set func(bool)) field {
	return bind(field{name: name, kind: wire.YesNo, doc: doc}, "true or false", readYes,
		func(field, bool) string { return "" }, set)
}

// numberTo binds an integer.
func numberTo(into *int, name, doc string) field {
	return bindNumber(name, doc, func(value int) { *into = value })
}

// numberFieldTo binds an integer that changes a field.
func numberFieldTo(into *edit.Field[int], name, doc string) field {
	return bindNumber(name, doc, func(value int) { *into = edit.To(value) })
}

func bindNumber(name, doc string, set func(int)) field {
	return bind(field{name: name, kind: wire.Number, doc: doc}, "a whole number", readNumber, field.checkNumber, set)
}

// listTo binds a list of strings.
func listTo[T ~string](into *[]T, name, doc string) field {
	return bindList(wire.Text, name, doc, "a list of strings", readText, field.checkText,
		func(list []string) { *into = each(list, func(s string) T { return T(s) }) })
}

// listFieldTo binds a list of strings that changes a field; an empty list clears the field.
func listFieldTo[T any](into *edit.Field[[]T], name, doc string, as func(string) T) field {
	return bindList(wire.Text, name, doc, "a list of strings", readText, field.checkText,
		func(list []string) { *into = edit.To(each(list, as)) })
}

func bindList[V any](
	item wire.Kind, name, doc, want string, read func(json.RawMessage) (V, bool), check func(field, V) string,
	set func([]V),
) field {
	return bind(field{name: name, kind: wire.List, item: item, doc: doc}, want, readList(read), checkItems(check), set)
}

// each maps a list.
func each[T, U any](list []T, as func(T) U) []U {
	values := make([]U, len(list))
	for i, value := range list {
		values[i] = as(value)
	}
	return values
}

// needed makes a parameter mandatory; it must not be blank.
func (f field) needed() field {
	f.optional = false
	return f
}

// neededFirst makes a parameter mandatory in the first version of a tool only.
func (f field) neededFirst() field {
	f.optional, f.first = true, true
	return f
}

// allNeeded makes several parameters mandatory.
func allNeeded(rows []field) []field { return each(rows, field.needed) }

// upTo limits the length of a string, or of each string in a list, in characters.
func (f field) upTo(characters int) field {
	f.longest = characters
	return f
}

// between limits a number.
func (f field) between(least, most int) field {
	f.least, f.most = least, most
	return f
}

// items limits the length of a list.
func (f field) items(most int) field {
	f.most = most
	return f
}

// oneOf restricts a string to a few words.
func (f field) oneOf(words ...string) field {
	f.words = words
	return f
}
