package intake

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
)

// listMost limits each list of a report; the rest is counted.
const listMost = 50

// Report is the result of a check or an import so far. It is stored after each transaction, together with the position
// in the file.
type Report struct {
	Calendars []*Found `json:"calendars,omitempty"`
	Refused   List     `json:"refused"`
	// Mended are the lines that were corrected while parsing.
	Mended List `json:"mended"`
	// LeftOut are the files of an archive that are no calendars.
	LeftOut List `json:"left_out"`
	// Done and Total count objects. Total is known after the check.
	Done  int `json:"done"`
	Total int `json:"total"`
	// File and Part are the position: the files that are done, and the objects of the next one that are done.
	File int `json:"file"`
	Part int `json:"part"`
	// Change identifies the import for an undo; "" if nothing was changed.
	Change string `json:"change,omitempty"`
	// Starts counts how often a process began or continued the step.
	Starts int `json:"starts"`
	// Problem is the reason why the step ended early, for the user.
	Problem string `json:"problem,omitempty"`
}

// Found is a calendar of the file, and the target of its objects.
type Found struct {
	// Key identifies it in the file.
	Key  string              `json:"key"`
	Name string              `json:"name"`
	ID   calendar.CalendarID `json:"id"`
	// Address is its address here. New is set if the import creates it.
	Address calendar.Segment `json:"address"`
	New     bool             `json:"new,omitempty"`
	// Kinds counts its objects by kind, Did by outcome; Refused counts the refused ones.
	Kinds   map[string]int `json:"kinds,omitempty"`
	Did     map[string]int `json:"did,omitempty"`
	Refused int            `json:"refused,omitempty"`
}

// List is a list of lines with a limit.
type List struct {
	Lines []Line `json:"lines,omitempty"`
	// More counts the lines that are not listed.
	More int `json:"more,omitempty"`
}

// Line is a note about a file or a line of it.
type Line struct {
	// File is the name of a file in an archive; "" for the uploaded file. Line is 0 for a whole file.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"`
}

// String returns the place and the text.
func (l Line) String() string {
	var parts []string
	if l.File != "" {
		parts = append(parts, l.File)
	}
	if l.Line > 0 {
		parts = append(parts, fmt.Sprintf("line %d", l.Line))
	}
	place := strings.Join(parts, ", ")
	if place == "" || l.Text == "" {
		return place + l.Text
	}
	return place + ": " + l.Text
}

func (l *List) add(one Line) {
	if len(l.Lines) == listMost {
		l.More++
		return
	}
	one.File, one.Text = shortened(one.File), shortened(one.Text)
	l.Lines = append(l.Lines, one)
}

// textMost limits a line of a report, in bytes: a file can have long names and values.
const textMost = 500

func shortened(text string) string {
	if len(text) <= textMost {
		return text
	}
	return strings.ToValidUTF8(text[:textMost], "") + "…"
}

// ReadReport returns the report of an upload.
func ReadReport(u calendar.Upload) (Report, error) {
	var r Report
	err := json.Unmarshal([]byte(u.Report), &r)
	return r, err
}

func (r *Report) text() string {
	text, err := json.Marshal(r)
	if err != nil {
		return "{}" // it has only texts and numbers
	}
	return string(text)
}

// find returns the calendar of the file with a key, or nil.
func (r *Report) find(key string) *Found {
	if n := slices.IndexFunc(r.Calendars, func(f *Found) bool { return f.Key == key }); n >= 0 {
		return r.Calendars[n]
	}
	return nil
}

// refuse records why an object was not imported.
func (r *Report) refuse(file string, part archive.Part, err error) {
	line, text := part.Refusal(err)
	r.Refused.add(Line{file, line, text})
}

func (r *Report) mend(file string, all []archive.Mend) {
	for _, m := range all {
		r.Mended.add(Line{file, m.Line, m.How})
	}
}

// Counted returns the sum of the calendars' objects by outcome.
func (r Report) Counted() map[string]int {
	sum := map[string]int{}
	for _, f := range r.Calendars {
		for did, n := range f.Did {
			sum[did] += n
		}
	}
	return sum
}

// Imported counts the objects that an import created or replaced.
func (r Report) Imported() int {
	sum := r.Counted()
	return sum[string(calendar.ImportedNew)] + sum[string(calendar.ImportedReplaced)]
}

// count adds an object of a kind.
func (f *Found) count(kind string) {
	if f.Kinds == nil {
		f.Kinds = map[string]int{}
	}
	f.Kinds[kind]++
}

func (f *Found) note(did calendar.Imported) {
	if f.Did == nil {
		f.Did = map[string]int{}
	}
	f.Did[string(did)]++
}

// Sorted returns the kinds of a calendar in a stable order.
func (f *Found) Sorted() []string { return slices.Sorted(maps.Keys(f.Kinds)) }
