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
	"caldav-mcp-server/mcp/wire"
)

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
const mostNumber = 1 << 40

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
