package console

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestColumns(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30) + "end"
	got := Columns([][]string{{"a", "日本", "x"}, {"longer", "b", long}, {"", "e\u0301", ""}})
	want := "a       日本  x\n" +
		"longer  b     " + strings.Repeat("word ", 16) + "word\n" +
		strings.Repeat(" ", 14) + strings.Repeat("word ", 13) + "end\n" +
		"        e\u0301\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPrintTableShortens(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := &Console{Stdout: &out}
	id := "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0"
	rows := [][]string{{id, strings.Repeat("日", 60), strings.Repeat("n", 70)}, {id, "short", "\x1b[2J"}}
	if err := p.PrintTable([]string{"ID", "TITLE", "NAME"}, rows); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(out.String(), "\n"), "\n") {
		if DisplayWidth(line) > LineWidth || strings.ContainsRune(line, '\x1b') {
			t.Errorf("%d columns: %q", DisplayWidth(line), line)
		}
	}
	if n := strings.Count(out.String(), id); n != 2 {
		t.Errorf("the ids are %d times in\n%s", n, out.String())
	}
	if n := strings.Count(out.String(), "…"); n != 2 {
		t.Errorf("%d cells are shortened in\n%s", n, out.String())
	}
}

func TestByID(t *testing.T) {
	t.Parallel()
	all := []string{"abcd1234", "abcd5678", "ffff"}
	self := func(s string) string { return s }
	for word, want := range map[string]string{
		"abcd1234": "abcd1234", "abcd5": "abcd5678", "abcd5…": "abcd5678", "ffff": "ffff", "abcd": "", "abc": "",
		"ff": "", "": "", "zzzz": "",
	} {
		got, err := ByID(all, self, "thing", word)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", word, got, err, want)
		}
	}
}
