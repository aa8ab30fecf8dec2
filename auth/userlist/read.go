// Package userlist reads lists of users, as CSV or JSON lines, and creates or changes the users in them.
package userlist

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
)

// Line is a line in a list of users. Fields that it lacks stay unchanged.
type Line struct {
	Number int
	Name   string
	Edit   auth.UserEdit
	// Groups are the groups that the user joins. The user stays in all others.
	Groups []string
	// Wrong is the error in the line.
	Wrong error
}

// userFields are the fields of a line. In JSON they have the same names as in the output of list-users.
var userFields = map[string]func(w *Line, text string) error{
	"name": func(w *Line, text string) (err error) {
		w.Name, err = auth.CanonicalName(text)
		return err
	},
	"display_name": userText(func(e *auth.UserEdit) **string { return &e.DisplayName }),
	"email":        userText(func(e *auth.UserEdit) **string { return &e.Email }),
	"timezone":     userText(func(e *auth.UserEdit) **string { return &e.Timezone }),
	"language":     userText(func(e *auth.UserEdit) **string { return &e.Language }),
	"groups": func(w *Line, text string) error {
		for name := range strings.SplitSeq(text, ";") {
			if name = strings.TrimSpace(name); name != "" {
				w.Groups = append(w.Groups, strings.ToLower(name))
			}
		}
		return nil
	},
	"admin":           userSwitch(func(e *auth.UserEdit) **bool { return &e.Admin }),
	"disabled":        userSwitch(func(e *auth.UserEdit) **bool { return &e.Disabled }),
	"quota_calendars": userQuota(func(e *auth.UserEdit) **int64 { return &e.QuotaCalendars }),
	"quota_objects":   userQuota(func(e *auth.UserEdit) **int64 { return &e.QuotaObjects }),
	"quota_bytes":     userQuota(func(e *auth.UserEdit) **int64 { return &e.QuotaBytes }),
}

func userText(field func(*auth.UserEdit) **string) func(*Line, string) error {
	return func(w *Line, text string) error {
		*field(&w.Edit) = &text
		return nil
	}
}

func userSwitch(field func(*auth.UserEdit) **bool) func(*Line, string) error {
	return func(w *Line, text string) error {
		if text != "true" && text != "false" {
			return errors.New("is not true or false")
		}
		*field(&w.Edit) = new(text == "true")
		return nil
	}
}

func userQuota(field func(*auth.UserEdit) **int64) func(*Line, string) error {
	return func(w *Line, text string) error {
		n, err := calendar.ParseBound(text)
		*field(&w.Edit) = &n
		return err
	}
}

// set parses one field. An empty one is ignored, like an empty cell in a table.
func (w *Line) set(field, text string) error {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	if err := userFields[field](w, text); err != nil {
		if calendar.ReasonOf(err) == calendar.Invalid {
			return err
		}
		return fmt.Errorf("%s: %q %w", field, text, err)
	}
	return nil
}

// refused is an error in the list.
func refused(format string, args ...any) error {
	return calendar.Errorf(calendar.Invalid, "", format, args...)
}

// known refuses an unknown field.
func known(field string) error {
	switch {
	case userFields[field] != nil:
		return nil
	case strings.Contains(field, "password"):
		return fmt.Errorf("the field %q is not allowed: users choose their own passwords, with the links that are "+
			"printed", field)
	}
	return refused("there is no field %q; the fields are %s", field,
		strings.Join(slices.Sorted(maps.Keys(userFields)), ", "))
}

// mostListed limits a list of users, in bytes.
const mostListed = 64 << 20

// Read parses a list: JSON lines if it starts with a brace, otherwise CSV with a header line.
func Read(r io.Reader) ([]Line, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostListed+1))
	if err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	if len(data) > mostListed {
		return nil, refused("the list has more than %s: split it", calendar.SizeText(mostListed))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if !utf8.Valid(data) {
		return nil, refused("the list is not UTF-8: save it as such")
	}
	read := readUserTable
	if first := bytes.TrimLeft(data, " \t\r\n"); len(first) > 0 && first[0] == '{' {
		read = readUserLines
	}
	all, err := read(data)
	if err == nil && len(all) == 0 {
		err = refused("the list contains no users")
	}
	if err == nil {
		checkNames(all)
	}
	return all, err
}

// checkNames refuses a line without a name, and a second line with the same name.
func checkNames(all []Line) {
	first := map[string]int{}
	for i := range all {
		w := &all[i]
		switch before := first[w.Name]; {
		case w.Wrong != nil:
		case w.Name == "":
			w.Wrong = refused("it has no name")
		case before != 0:
			w.Wrong = refused("line %d is about %s, too", before, w.Name)
		default:
			first[w.Name] = w.Number
			w.Wrong = w.Edit.Validate()
		}
	}
}

func readUserTable(data []byte) ([]Line, error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	if head, _, _ := bytes.Cut(data, []byte("\n")); bytes.Count(head, []byte(";")) > bytes.Count(head, []byte(",")) {
		r.Comma = ';' // spreadsheets write it where the comma is the decimal separator
	}
	heads, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("the list has no header line, such as name,email: %w", err)
	}
	for i, head := range heads {
		heads[i] = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(head)), " ", "_")
		if err := known(heads[i]); err != nil {
			return nil, err
		}
	}
	var all []Line
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the list cannot be read: %w", err)
		}
		w := Line{}
		w.Number, _ = r.FieldPos(0)
		if len(cells) > len(heads) {
			w.Wrong = refused("it has %d cells, but the header has %d", len(cells), len(heads))
		}
		for i, cell := range cells[:min(len(cells), len(heads))] {
			if err := w.set(heads[i], cell); err != nil && w.Wrong == nil {
				w.Wrong = err
			}
		}
		all = append(all, w)
	}
}

func readUserLines(data []byte) ([]Line, error) {
	var all []Line
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		w := Line{Number: n}
		w.Wrong = w.read(line)
		all = append(all, w)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the list cannot be read: %w", err)
	}
	return all, nil
}

// read parses a line of JSON.
func (w *Line) read(line []byte) error {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&fields); err != nil || d.More() {
		return errors.New("it is not a JSON object")
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if err := known(field); err != nil {
			return err
		}
		var text string
		switch value := fields[field].(type) {
		case nil:
		case string:
			text = value
		case bool, json.Number:
			text = fmt.Sprint(value)
		default:
			return fmt.Errorf("%s is neither a text, a number nor true or false", field)
		}
		if err := w.set(field, text); err != nil {
			return err
		}
	}
	return nil
}
