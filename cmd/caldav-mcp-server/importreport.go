package main

import (
	"fmt"
	"io"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
)

// importReport tells how an import went.
type importReport struct {
	Created   int `json:"created"`
	Unchanged int `json:"unchanged"`
	// Kept were here in another version, which stays.
	Kept     int       `json:"kept"`
	Replaced int       `json:"replaced"`
	Refused  []refusal `json:"refused"`
	// Mended are the lines that were read otherwise than they are written, whatever became of their objects.
	Mended    []mended           `json:"mended,omitempty"`
	Calendars []importedCalendar `json:"calendars,omitempty"`
	// Change is one of the changes that were made, with which all of them are taken back.
	Change string `json:"change,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// refusal is something that could not be imported.
type refusal struct {
	// Source is a file or a URL; Line is where in the file, 0 when that cannot be told.
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"`
	UID    string `json:"uid,omitempty"`
	Reason string `json:"reason"`
}

// mended is a line of a file that was read otherwise than it is written.
type mended struct {
	Source string `json:"source"`
	Line   int    `json:"line"`
	UID    string `json:"uid,omitempty"`
	How    string `json:"how"`
}

// importedCalendar is a calendar of another server or of a file, and where it went.
type importedCalendar struct {
	From    string           `json:"from"`
	Name    string           `json:"name"`
	Address calendar.Segment `json:"address"`
	Created bool             `json:"created"`
	Objects int              `json:"objects"`
}

// source is where an object comes from.
type source struct {
	name string
	// part is the object in its file; nil for one that has none.
	part *archive.Part
}

func (s source) String() string {
	if s.part == nil {
		return s.name
	}
	return fmt.Sprintf("%s:%d", s.name, s.part.Line)
}

func (r *importReport) count(done calendar.Imported) {
	*map[calendar.Imported]*int{
		calendar.ImportedNew: &r.Created, calendar.ImportedSame: &r.Unchanged,
		calendar.ImportedKept: &r.Kept, calendar.ImportedReplaced: &r.Replaced,
	}[done]++
}

func (r *importReport) refuse(from source, why error) {
	entry := refusal{Source: from.name, Reason: why.Error()}
	if from.part != nil {
		entry.Line, entry.UID = from.part.Line, from.part.UID
		if from.part.Err == nil {
			entry.Reason = from.part.InFile(entry.Reason)
		}
		entry.Reason = strings.TrimPrefix(entry.Reason, fmt.Sprintf("line %d: ", entry.Line)) // which stands before it
	}
	r.Refused = append(r.Refused, entry)
}

// mend reports a correction to an object, or to a file as a whole.
func (r *importReport) mend(from source, all []archive.Mend) {
	uid := ""
	if from.part != nil {
		uid = from.part.UID
	}
	for _, m := range all {
		r.Mended = append(r.Mended, mended{Source: from.name, Line: m.Line, UID: uid, How: m.How})
	}
}

// holds counts an object of one of the calendars that were imported.
func (r *importReport) holds(cal calendar.Calendar) {
	for i := range r.Calendars {
		if r.Calendars[i].Address == cal.Segment {
			r.Calendars[i].Objects++
			return
		}
	}
}

func (r *importReport) total() int {
	return r.Created + r.Unchanged + r.Kept + r.Replaced + len(r.Refused)
}

// write tells people.
func (r *importReport) write(to io.Writer, user string) error {
	var b strings.Builder
	if r.DryRun {
		b.WriteString("dry run: nothing was changed, and this is what would be:\n")
	}
	for _, c := range r.Calendars {
		verb := "into the calendar"
		if c.Created {
			verb = "into the new calendar"
		}
		fmt.Fprintf(&b, "%q: %d objects %s at %s\n", shown(c.Name), c.Objects, verb, c.Address)
	}
	for _, m := range r.Mended {
		fmt.Fprintf(&b, "mended %s: %s\n", shown(fmt.Sprintf("%s:%d", m.Source, m.Line)), shown(m.How))
	}
	for _, f := range r.Refused {
		at := f.Source
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.Source, f.Line)
		}
		fmt.Fprintf(&b, "refused %s: %s\n", shown(at), shown(f.Reason))
	}
	fmt.Fprintf(&b, "%d created", r.Created)
	for _, more := range [...]struct {
		n    int
		what string
	}{
		{r.Replaced, "replaced"},
		{r.Unchanged, "were here already"},
		{r.Kept, "are here in another version, which was kept (--replace overwrites it)"},
		{len(r.Refused), "refused"},
	} {
		if more.n > 0 {
			fmt.Fprintf(&b, ", %d %s", more.n, more.what)
		}
	}
	b.WriteString("\n")
	if r.Change != "" {
		fmt.Fprintf(&b, "%s journal undo --user %s %s takes all of it back\n", name, user, briefChange(r.Change))
	}
	_, err := io.WriteString(to, b.String())
	return err
}
