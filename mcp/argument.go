package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	// item is the type of a list's items: text or number. An object has the schema group.
	item  wire.Kind
	group wire.Members
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
		item := withWords(wire.Typed(f.item))
		if f.group != nil {
			item = f.group
		}
		s = s.With("items", item)
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
	f := textTo(into, name, "As listed.")
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

// errArgument refuses a call because of its arguments.
func errArgument(format string, args ...any) *calendar.Error {
	return calendar.Errorf(calendar.Invalid, "", format, args...)
}

// readArguments fills the targets of the parameters from the arguments of a call. It collects all mistakes, so that one
// retry is enough.
func readArguments(name string, takes []field, sent map[string]json.RawMessage, plain bool) error {
	var wrong []string
	for _, f := range takes {
		raw := sent[f.name]
		// Models write null for an argument that they mean to omit.
		if raw == nil || string(raw) == "null" {
			if !f.optional || f.first && plain {
				wrong = append(wrong, fmt.Sprintf("%q is missing%s", f.name, f.brief()))
			}
			continue
		}
		if complaint := f.fill(f, raw); complaint != "" {
			wrong = append(wrong, complaint)
		}
	}
	wrong = append(wrong, unknown(name, takes, sent)...)
	if len(wrong) > 0 {
		return errArgument("%s", strings.Join(wrong, "; "))
	}
	return nil
}

// brief returns the first sentence of the field's description, in parentheses.
func (f field) brief() string {
	if f.doc == "" {
		return ""
	}
	first, _, _ := strings.Cut(f.doc, ". ")
	return " (" + strings.TrimSuffix(first, ".") + ")"
}

func (f field) checkText(value string) string {
	if !f.optional && strings.TrimSpace(value) == "" {
		return fmt.Sprintf("%q must not be empty", f.name)
	}
	// RFC 5545 §3.1: control characters are not allowed in a calendar. XML cannot carry them at all.
	if i := strings.IndexFunc(value, isControl); i >= 0 {
		return fmt.Sprintf("%q has the control character %U in it", f.name, value[i])
	}
	if n := utf8.RuneCountInString(value); f.longest > 0 && n > f.longest {
		return fmt.Sprintf("%q has %d characters; it may have %d", f.name, n, f.longest)
	}
	if len(f.words) > 0 && !slices.Contains(f.words, value) {
		return fmt.Sprintf("%q must be one of %s, not %s", f.name, strings.Join(f.words, ", "), wire.Quote(value))
	}
	return f.checkMarks(value)
}

func (f field) checkNumber(value int) string {
	if f.most > 0 && f.kind == wire.Number && (value < f.least || value > f.most) {
		return fmt.Sprintf("%q must be from %d to %d, not %d", f.name, f.least, f.most, value)
	}
	return ""
}

// checkItems checks a list and each of its items.
func checkItems[T any](check func(field, T) string) func(field, []T) string {
	return func(f field, list []T) string {
		if f.most > 0 && len(list) > f.most {
			return fmt.Sprintf("%q has %d items; it may have %d", f.name, len(list), f.most)
		}
		for _, item := range list {
			if complaint := check(f, item); complaint != "" {
				return complaint
			}
		}
		return ""
	}
}

// unknown complains about arguments that the tool has no parameter for. If we dropped them silently, a model would
// believe that they had an effect.
func unknown(tool string, takes []field, sent map[string]json.RawMessage) []string {
	var names []string
	for name := range sent {
		if !slices.ContainsFunc(takes, func(f field) bool { return f.name == name }) {
			names = append(names, wire.Quote(name))
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return []string{fmt.Sprintf("there is no parameter %s: %s takes %s", strings.Join(names, ", "), tool,
		parameters(takes))}
}

func parameters(takes []field) string {
	return cmp.Or(strings.Join(each(takes, func(f field) string { return f.name }), ", "), "none")
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// Many models write "5" for 5, "true" for true, 2026 for "2026", and a single item instead of a list. The meaning is
// clear, so the read functions accept these forms.

func readText(raw json.RawMessage) (string, bool) {
	var value string
	if kind := kindOf(raw); kind == "a number" || kind == "true or false" {
		return string(raw), true
	}
	return value, json.Unmarshal(raw, &value) == nil
}

func readYes(raw json.RawMessage) (bool, bool) {
	value, ok := readText(raw)
	value = strings.ToLower(strings.TrimSpace(value))
	return value == "true", ok && (value == "true" || value == "false")
}

// readNumber also takes 5.0, which JSON Schema counts as an integer.
func readNumber(raw json.RawMessage) (int, bool) {
	value, _ := readText(raw)
	f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return int(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= mostNumber
}

// mostNumber is larger than the limit of any parameter.
const mostNumber = 1 << 30

// readList takes a list, a string that contains a JSON list, or a single item.
func readList[V any](read func(json.RawMessage) (V, bool)) func(json.RawMessage) ([]V, bool) {
	return func(raw json.RawMessage) ([]V, bool) {
		var inside string
		if json.Unmarshal(raw, &inside) == nil && strings.HasPrefix(strings.TrimSpace(inside), "[") &&
			json.Valid([]byte(inside)) {
			raw = json.RawMessage(strings.TrimSpace(inside))
		}
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			items = []json.RawMessage{raw}
		}
		list := make([]V, len(items))
		for i, item := range items {
			value, ok := read(item)
			if !ok {
				return nil, false
			}
			list[i] = value
		}
		return list, true
	}
}

// excerpt quotes a rejected value, or names only its type if the value is long.
func excerpt(raw json.RawMessage) string {
	if utf8.RuneCount(raw) > wire.MaxQuoted {
		return kindOf(raw)
	}
	return wire.Visible(string(raw))
}

// kindOf names the type of a JSON value by its first character, or "nothing" if the argument was not sent.
func kindOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	case '"':
		return "a string"
	default:
		return "a number"
	}
}

// checkMarks refuses a value that contains one of our marks.
func (f field) checkMarks(value string) string {
	mark := marks.FindString(value)
	if !f.writes || f.names || mark == "" {
		return ""
	}
	return fmt.Sprintf("%q contains %s, the mark for omitted text in an earlier result, which would replace "+
		"that text: "+
		"give the full text (see ical_data of get_event), or omit %q if the tool keeps omitted values", f.name,
		wire.Quote(mark), f.name)
}
