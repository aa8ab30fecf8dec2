package locale_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readCatalogs returns the forms of every text in each language.
func readCatalogs(t *testing.T) map[string]map[string]map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]map[string]string{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]any
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		forms := map[string]map[string]string{}
		for id, text := range texts {
			forms[id] = formsOf(t, name, id, text)
		}
		all[strings.TrimSuffix(name, ".json")] = forms
	}
	return all
}

func formsOf(t *testing.T, name, id string, text any) map[string]string {
	t.Helper()
	if one, ok := text.(string); ok {
		return map[string]string{"other": one}
	}
	forms := map[string]string{}
	several, _ := text.(map[string]any)
	for form, text := range several {
		one, ok := text.(string)
		if !ok || !slices.Contains([]string{"one", "few", "many", "other"}, form) {
			t.Errorf("%s: %s has an unknown form %q", name, id, form)
		}
		forms[form] = one
	}
	return forms
}

var placeholder = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

func placeholders(forms map[string]string) []string {
	found := map[string]bool{}
	for _, text := range forms {
		for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
			found[m[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// TestCatalogsAgree: every language has the texts of English, with the same placeholders.
func TestCatalogsAgree(t *testing.T) {
	t.Parallel()
	all := readCatalogs(t)
	for tag, texts := range all {
		ids, want := slices.Sorted(maps.Keys(texts)), slices.Sorted(maps.Keys(all["en"]))
		if diff := cmp.Diff(want, ids); diff != "" {
			t.Errorf("%s has other texts than English (-English +%s):\n%s", tag, tag, diff)
		}
		for id, forms := range texts {
			if diff := cmp.Diff(placeholders(all["en"][id]), placeholders(forms)); diff != "" {
				t.Errorf("%s: %s has other placeholders than English (-English +%s):\n%s", tag, id, tag, diff)
			}
			if (len(all["en"][id]) > 1) != (len(forms) > 1) {
				t.Errorf("%s: %s has plural forms in one language only", tag, id)
			}
		}
	}
}

// TestTextsAreComplete: no text is empty, contains markup or a placeholder of another form, or lacks a plural form.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	for tag, texts := range readCatalogs(t) {
		l := in(t, tag)
		for id, forms := range texts {
			for form, text := range forms {
				rest := placeholder.ReplaceAllString(text, "")
				if strings.TrimSpace(text) != text || text == "" || strings.ContainsAny(rest, "<>&{}") {
					t.Errorf("%s: %s (%s) is %q", tag, id, form, text)
				}
			}
			pairs := []any{"count", 0}
			for _, name := range placeholders(forms) {
				pairs = append(pairs, name, 0)
			}
			if len(forms) < 2 {
				l.Text(id, pairs[2:]...)
				continue
			}
			for _, n := range []int{0, 1, 2, 3, 4, 5, 11, 12, 21, 22, 25, 100, 101, 112, 1000, 1000000, 2000000} {
				for i := 1; i < len(pairs); i += 2 {
					pairs[i] = n
				}
				l.Text(id, pairs...) // panics if the form is missing
			}
		}
		for id, n := range map[string]int{
			"date.months": 12, "date.months-of-day": 12, "date.months-short": 12,
			"date.weekdays": 7, "date.weekdays-gender": 7, "date.weekdays-short": 7,
		} {
			if words := strings.Fields(l.Text(id)); len(words) != n {
				t.Errorf("%s: %s has %d words, want %d", tag, id, len(words), n)
			}
		}
	}
}

// TestSorted: the texts are in the order of their ids, so that changes rarely touch the same line.
func TestSorted(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`(?m)^  "([^"]+)": `)
	for tag, texts := range readCatalogs(t) {
		content, err := os.ReadFile(tag + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, m := range line.FindAllStringSubmatch(string(content), -1) {
			ids = append(ids, m[1])
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(texts)), ids); diff != "" {
			t.Errorf("%s.json must have each id once, in order, one per line (-want +got):\n%s", tag, diff)
		}
	}
}
