package transfer

import (
	"fmt"
	"io"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/archive"
	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// importReport is the result of an import.
type importReport struct {
	Created   int `json:"created"`
	Unchanged int `json:"unchanged"`
	// Kept counts objects that exist here in another version and were not replaced.
	Kept     int       `json:"kept"`
	Replaced int       `json:"replaced"`
	Refused  []refusal `json:"refused"`
	// Mended lists the lines that were corrected while parsing, even if their object was refused.
	Mended    []mended           `json:"mended,omitempty"`
	Calendars []importedCalendar `json:"calendars,omitempty"`
	// Change is one of the resulting changes; undoing it undoes all of them.
	Change string `json:"change,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// refusal is an object or file that was not imported.
type refusal struct {
	// Source is a file or a URL. Line is the line in the file, or 0 if unknown.
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"`
	UID    string `json:"uid,omitempty"`
	Reason string `json:"reason"`
}

// mended is a line of a file that was corrected while parsing.
type mended struct {
	Source string `json:"source"`
	Line   int    `json:"line"`
	UID    string `json:"uid,omitempty"`
	How    string `json:"how"`
}

// importedCalendar is a calendar from a server or a file, and its target.
type importedCalendar struct {
	From    string           `json:"from"`
	Name    string           `json:"name"`
	Address calendar.Segment `json:"address"`
	Created bool             `json:"created"`
	Objects int              `json:"objects"`
}

// source is the origin of an object.
type source struct {
	name string
	// part is the object in its file, or nil if it comes from no file.
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
		entry.UID = from.part.UID
		entry.Line, entry.Reason = from.part.Refusal(why)
	}
	r.Refused = append(r.Refused, entry)
}

// mend reports corrections to an object or to a whole file.
func (r *importReport) mend(from source, all []archive.Mend) {
	uid := ""
	if from.part != nil {
		uid = from.part.UID
	}
	for _, m := range all {
		r.Mended = append(r.Mended, mended{Source: from.name, Line: m.Line, UID: uid, How: m.How})
	}
}

// holds counts an object of an imported calendar.
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

// write writes the report as text.
func (r *importReport) write(to io.Writer, user string) error {
	var b strings.Builder
	if r.DryRun {
		b.WriteString("dry run: nothing was changed. This would be the result:\n")
	}
	for _, c := range r.Calendars {
		verb := "into the calendar"
		if c.Created {
			verb = "into the new calendar"
		}
		fmt.Fprintf(&b, "%q: %d objects %s at %s\n", console.Shown(c.Name), c.Objects, verb, c.Address)
	}
	for _, m := range r.Mended {
		fmt.Fprintf(&b, "mended %s: %s\n", console.Shown(fmt.Sprintf("%s:%d", m.Source, m.Line)), console.Shown(m.How))
	}
	for _, f := range r.Refused {
		at := f.Source
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.Source, f.Line)
		}
		fmt.Fprintf(&b, "refused %s: %s\n", console.Shown(at), console.Shown(f.Reason))
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
		fmt.Fprintf(&b, "to undo all of it: %s journal undo --user %s %s\n", console.Program, user,
			briefChange(r.Change))
	}
	_, err := io.WriteString(to, b.String())
	return err
}
