package archive

import "bytes"

// Calendars divides a file with several named calendars into one file for each name, in order of appearance. A
// VCALENDAR without a name belongs to the previous one. A file with at most one name stays whole. The parts report
// their lines in the whole file.
func (f *File) Calendars() []*File {
	blocks := f.blocks()
	var all []*File
	byName := map[string]*File{}
	named := 0
	for _, b := range blocks {
		name := ReadHeader(f.text[b.from:b.until]).Name
		to := byName[name]
		if name == "" && len(all) > 0 {
			to = all[len(all)-1]
		}
		if to == nil {
			to = &File{mends: f.mends, faults: f.faults, lastCounts: f.lastCounts}
			all, byName[name] = append(all, to), to
			if name != "" {
				named++
			}
		}
		to.text = append(to.text, f.text[b.from:b.until]...)
		for line := b.line; line < b.line+b.lines; line++ {
			to.lines = append(to.lines, f.source(line))
		}
	}
	if named < 2 {
		return []*File{f}
	}
	all[0].wide = f.wide
	return all
}

// block is a VCALENDAR in the text of a file, with the lines after it.
type block struct{ from, until, line, lines int }

// blocks returns the VCALENDARs of the file. Text before the first one belongs to it.
func (f *File) blocks() []block {
	all := []block{{line: 1}}
	begin, line, began := []byte("BEGIN:VCALENDAR"), 1, false
	at := 0
	for row := range bytes.Lines(f.text) {
		last := &all[len(all)-1]
		if len(row) < len(begin)+3 && bytes.EqualFold(bytes.TrimRight(row, " \t\r\n"), begin) {
			if began {
				all = append(all, block{from: at, line: line})
				last = &all[len(all)-1]
			}
			began = true
		}
		at += len(row)
		line++
		last.until = at
		last.lines++
	}
	return all
}
