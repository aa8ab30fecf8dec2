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

// arguments are those of a call, checked against the tool's parameters.
type arguments map[string]string

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
func (f field) read(raw json.RawMessage) (value, complaint string) {
	if err := json.Unmarshal(raw, &value); err != nil {
		return "", fmt.Sprintf("%q must be a string, not %s", f.name, kindOf(raw))
	}
	if !f.optional && strings.TrimSpace(value) == "" {
		return "", fmt.Sprintf("%q must not be empty", f.name)
	}
	// RFC 5545 §3.1: such characters have no place in a calendar; XML can't carry them at all.
	if i := strings.IndexFunc(value, isControl); i >= 0 {
		return "", fmt.Sprintf("%q has the control character %U in it", f.name, value[i])
	}
	if n := utf8.RuneCountInString(value); f.longest > 0 && n > f.longest {
		return "", fmt.Sprintf("%q has %d characters; it may have %d", f.name, n, f.longest)
	}
	return value, ""
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
	default:
		return "a number"
	}
}
