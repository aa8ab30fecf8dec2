package locale_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// untranslated are the templates that still have texts of their own, in English. Remove a template from the list when
// its texts are in the catalogs; never add one.
var untranslated = strings.Fields(`
allow.html answer.html app.html applogin.html apps.html away.html calendar.html calendars.html
change.html codes.html connect.html delegates.html delete.html deletecalendar.html device.html
event.html forgotten.html home.html import.html journal.html
linkedcalendars.html linking.html made.html narrow.html nomail.html offer.html parts.html
passkey.html recovery.html security.html settings.html signin.html
trash.html undone.html upload.html webhook.html webhooknew.html webhooks.html welcome.html
`)

var (
	action    = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	attribute = regexp.MustCompile(`\b(?:placeholder|title|aria-label|alt)="([^"]*)"`)
	markup    = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>|&[#\w]+;`)
	words     = regexp.MustCompile(`\p{L}{2,}`)
	// example is a value that is the same in every language.
	example = regexp.MustCompile(`Europe/Berlin`)
)

// TestNoTextOutsideTheCatalogs finds texts and attributes of templates that no catalog has.
func TestNoTextOutsideTheCatalogs(t *testing.T) {
	names, err := filepath.Glob("../web/templates/*.html")
	if err != nil || len(names) == 0 {
		t.Fatal("no templates:", err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found := outside(string(content))
		listed := slices.Contains(untranslated, filepath.Base(name))
		switch {
		case !listed && len(found) > 0:
			t.Errorf("%s has texts outside the catalogs: %q", name, found)
		case listed && len(found) == 0:
			t.Errorf("%s is translated: remove it from the list untranslated", name)
		}
	}
}

// outside returns the texts of a template that do not come from an action.
func outside(template string) (found []string) {
	template = action.ReplaceAllString(template, "")
	var texts []string
	for _, a := range attribute.FindAllStringSubmatch(template, -1) {
		texts = append(texts, a[1])
	}
	texts = append(texts, strings.Split(markup.ReplaceAllString(template, "\n"), "\n")...)
	for _, text := range texts {
		if words.MatchString(example.ReplaceAllString(text, "")) {
			found = append(found, strings.TrimSpace(text))
		}
	}
	return found
}

func TestOutside(t *testing.T) {
	for template, want := range map[string][]string{
		`<p>{{t "a.b"}}</p>`:                           nil,
		`<p>Hello</p>`:                                 {"Hello"},
		`<input placeholder="Name" value="x">`:         {"Name"},
		`<a title="{{t "a.b"}}">&larr;</a> · 1`:        nil,
		`{{/* a comment */}}<!-- another --><b>Go</b>`: {"Go"},
	} {
		if got := outside(template); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", template, got, want)
		}
	}
}
