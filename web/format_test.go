package web

import (
	"html/template"
	"strings"
	"testing"

	"caldav-mcp-server/locale"
)

// th escapes values, and leaves the elements that templates make.
func TestTextWithMarkup(t *testing.T) {
	t.Parallel()
	all, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := template.New("").Funcs(functions(all.English())).Parse(
		`{{th "date.month-year" "month" (link "/a?b=1&c=\"" (strong .)) "year" .}}`)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := parsed.Execute(&b, "<i>"); err != nil {
		t.Fatal(err)
	}
	want := `<a href="/a?b=1&amp;c=&#34;"><strong>&lt;i&gt;</strong></a> &lt;i&gt;`
	if b.String() != want {
		t.Errorf("got %s, want %s", &b, want)
	}
}

// TestEveryLanguageParses: the templates of all languages are complete.
func TestEveryLanguageParses(t *testing.T) {
	t.Parallel()
	all, err := locale.Load()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := newTemplates(all)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all.Languages() {
		if len(pages[l]) < 40 {
			t.Errorf("%s: %d pages", l.Tag(), len(pages[l]))
		}
		for name, parse := range pages[l] {
			if _, err := parse(); err != nil {
				t.Errorf("%s in %s: %v", name, l.Tag(), err)
			}
		}
	}
}
