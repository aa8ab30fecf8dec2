package console

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

const (
	// LineWidth is the longest line, in columns.
	LineWidth = 100
	// ColumnGap is the space between two cells.
	ColumnGap = 2
	// narrowest is the width below which a cell is not shortened.
	narrowest = 8
)

// wholeColumns are never shortened: a truncated time would be wrong, and users type ids again.
var wholeColumns = []string{
	"WHEN", "CREATED", "CHECKED", "EXPIRES", "LAST USED", "DELETED", "DID", "STATE", "CHANGE", "ID",
}

// PrintTable prints rows in columns with headings. If a line would be too long, the widest cells are shortened.
func (c *Console) PrintTable(heads []string, rows [][]string) error {
	table := [][]string{heads}
	for _, row := range rows {
		table = append(table, Each(row, Shown))
	}
	widths := columnWidths(table)
	for sum(widths)+ColumnGap*(len(widths)-1) > LineWidth {
		widest := -1
		for i, w := range widths {
			if w > narrowest && !slices.Contains(wholeColumns, heads[i]) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for _, row := range table {
		for i, cell := range row {
			row[i] = shortenedTo(cell, widths[i])
		}
	}
	_, err := io.WriteString(c.Stdout, Columns(table))
	return err
}

// Columns aligns rows in columns. A long last cell continues on further lines.
func Columns(rows [][]string) string {
	widths := columnWidths(rows)
	var text strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row[:len(row)-1] {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-DisplayWidth(cell)+ColumnGap))
		}
		hang := DisplayWidth(line.String())
		text.WriteString(Folded(line.String()+row[len(row)-1], hang))
	}
	return text.String()
}

// Folded breaks a long line between words, and indents the continuation.
func Folded(line string, hang int) string {
	var text strings.Builder
	begin := min(hang, len(line)) // an indent is no place to break
	for DisplayWidth(line) > LineWidth {
		at := lastBreak(line, begin)
		if at < 0 {
			break
		}
		text.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = strings.Repeat(" ", hang) + line[at+1:]
		begin = hang
	}
	return text.String() + strings.TrimRight(line, " ") + "\n"
}

// lastBreak finds the last blank where the line fits, else the first blank after that, or -1.
func lastBreak(line string, begin int) int {
	used, best := 0, -1
	for i, r := range line {
		if r == ' ' && i > begin {
			if used > LineWidth && best >= 0 {
				return best
			}
			best = i
			if used > LineWidth {
				return best
			}
		}
		used += runeWidth(r)
	}
	return best
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], DisplayWidth(cell))
		}
	}
	return widths
}

// shortenedTo truncates a cell to a width, with an ellipsis.
func shortenedTo(cell string, most int) string {
	if DisplayWidth(cell) <= most {
		return cell
	}
	used := 0
	for i, r := range cell {
		if used += runeWidth(r); used > most-1 {
			return cell[:i] + "…"
		}
	}
	return cell
}

// DisplayWidth is the width of a text on a terminal, in columns.
func DisplayWidth(text string) int {
	n := 0
	for _, r := range text {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
		return 0 // it combines with the previous letter
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

// Each maps a slice. The result is never nil, so that JSON has [] instead of null.
func Each[A, B any](all []A, turn func(A) B) []B {
	turned := make([]B, len(all))
	for i, a := range all {
		turned[i] = turn(a)
	}
	return turned
}
