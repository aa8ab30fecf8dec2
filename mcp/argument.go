package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"caldav-mcp-server/calendar"
)

// arguments are those of a call, checked against the tool's parameters: by the parameter's
// kind a string, a bool, an int, or a list of strings or ints. What was left out is missing.
type arguments map[string]any

// has tells whether the call gives a parameter.
func (a arguments) has(name string) bool {
	_, given := a[name]
	return given
}

// text returns a text; "" when it was left out.
func (a arguments) text(name string) string { return valueOf[string](a, name) }

// yes tells whether a parameter is true.
func (a arguments) yes(name string) bool { return valueOf[bool](a, name) }

// number returns a number; 0 when it was left out.
func (a arguments) number(name string) int { return valueOf[int](a, name) }

// texts returns a list of texts; nil when it was left out.
func (a arguments) texts(name string) []string { return valueOf[[]string](a, name) }

// numbers returns a list of numbers; nil when it was left out.
func (a arguments) numbers(name string) []int { return valueOf[[]int](a, name) }

func valueOf[T any](a arguments, name string) T {
	value, _ := a[name].(T)
	return value
}

// errArgument is the refusal of a call whose arguments can't be used.
func errArgument(format string, args ...any) *calendar.Error {
	return calendar.Errorf(calendar.Invalid, "", format, args...)
}

// readArguments checks what a call sends. It collects everything that is wrong, so that one
// more try is enough.
func readArguments(t tool, sent map[string]json.RawMessage) (arguments, error) {
	args := make(arguments)
	var wrong []string
	for _, f := range t.takes {
		raw := sent[f.name]
		// Models write null for what they mean to leave out.
		if raw == nil || string(raw) == "null" {
			if !f.optional {
				wrong = append(wrong, fmt.Sprintf("%q is missing (%s)", f.name, f.brief()))
			}
			continue
		}
		value, complaint := f.read(raw)
		if complaint == "" && !t.hints.readOnly {
			complaint = f.checkMarks(value)
		}
		if complaint != "" {
			wrong = append(wrong, complaint)
		}
		args[f.name] = value
	}
	wrong = append(wrong, unknown(t, sent)...)
	if len(wrong) > 0 {
		return nil, errArgument("%s", strings.Join(wrong, "; "))
	}
	return args, nil
}

// brief is the first sentence of what is said of the field.
func (f field) brief() string {
	first, _, _ := strings.Cut(f.doc, ". ")
	return strings.TrimSuffix(first, ".")
}

// read takes one argument, or says what is wrong with it.
func (f field) read(raw json.RawMessage) (value any, complaint string) {
	switch f.kind {
	case yesNo:
		return readAs[bool](f, raw, "true or false", nil)
	case number:
		return readAs(f, raw, "a whole number", f.checkNumber)
	case listOf:
		return f.readList(raw)
	case text, group: // no parameter is a group
	}
	return readAs(f, raw, "a string", f.checkText)
}

func (f field) readList(raw json.RawMessage) (value any, complaint string) {
	if f.item == number {
		return readAs(f, raw, "a list of whole numbers", func(list []int) string { return checkList(f, list, f.checkNumber) })
	}
	return readAs(f, raw, "a list of strings", func(list []string) string { return checkList(f, list, f.checkText) })
}

// readAs reads an argument of one type, and checks it unless check is nil.
func readAs[T any](f field, raw json.RawMessage, want string, check func(T) string) (value any, complaint string) {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Sprintf("%q must be %s, not %s", f.name, want, kindOf(raw))
	}
	if check != nil {
		complaint = check(v)
	}
	return v, complaint
}

func (f field) checkText(value string) string {
	if !f.optional && strings.TrimSpace(value) == "" {
		return fmt.Sprintf("%q must not be empty", f.name)
	}
	// RFC 5545 §3.1: such characters have no place in a calendar; XML can't carry them at all.
	if i := strings.IndexFunc(value, isControl); i >= 0 {
		return fmt.Sprintf("%q has the control character %U in it", f.name, value[i])
	}
	if n := utf8.RuneCountInString(value); f.longest > 0 && n > f.longest {
		return fmt.Sprintf("%q has %d characters; it may have %d", f.name, n, f.longest)
	}
	if len(f.words) > 0 && !slices.Contains(f.words, value) {
		return fmt.Sprintf("%q must be one of %s, not %s", f.name, strings.Join(f.words, ", "), quote(value))
	}
	return ""
}

func (f field) checkNumber(value int) string {
	if f.most > 0 && f.kind == number && (value < f.least || value > f.most) {
		return fmt.Sprintf("%q must be from %d to %d, not %d", f.name, f.least, f.most, value)
	}
	return ""
}

func checkList[T any](f field, list []T, check func(T) string) string {
	if f.most > 0 && len(list) > f.most {
		return fmt.Sprintf("%q has %d items; it may have %d", f.name, len(list), f.most)
	}
	for _, item := range list {
		if complaint := check(item); complaint != "" {
			return complaint
		}
	}
	return ""
}

// unknown says which of what was sent means nothing to the tool. To drop it in silence would
// let a model believe that it had an effect.
func unknown(t tool, sent map[string]json.RawMessage) []string {
	var names []string
	for name := range sent {
		if !slices.ContainsFunc(t.takes, func(f field) bool { return f.name == name }) {
			names = append(names, quote(name))
		}
	}
	if names == nil {
		return nil
	}
	slices.Sort(names)
	return []string{fmt.Sprintf("there is no parameter %s: %s takes %s", strings.Join(names, ", "), t.name, t.parameters())}
}

func (t tool) parameters() string {
	if len(t.takes) == 0 {
		return "none"
	}
	names := make([]string, len(t.takes))
	for i, f := range t.takes {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }

// kindOf names the type of a JSON value by its first character.
func kindOf(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	default:
		return "a number"
	}
}
