package locale_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	action    = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	attribute = regexp.MustCompile(`\b(?:placeholder|title|aria-label|alt)="([^"]*)"`)
	markup    = regexp.MustCompile(`(?s)<!--.*?-->|<[^>]*>|&[#\w]+;`)
	words     = regexp.MustCompile(`\p{L}{2,}`)
	// example are names and values that are the same in every language.
	example = regexp.MustCompile(`Europe/Berlin|teal|aria-\w+="\w+"|Thunderbird|Android|` +
		`iPhone, iPad, Mac|Claude Code|` +
		`claude\.ai|Claude Desktop|ChatGPT|VS Code|claude mcp add --transport http calendar|\{"mcpServers.*`)
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
		if found := outside(string(content)); len(found) > 0 {
			t.Errorf("%s has texts outside the catalogs: %q", name, found)
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

// translated are the packages whose programs have no texts for people.
var translated = []string{"../web", "../web/planner", "../mail/letter", "../digest", "../calendar/describe"}

// silent are functions whose texts people do not read on pages or in mails: errors of programs, logs, headers.
var silent = map[string]bool{
	"fmt.Errorf": true, "errors.New": true, "http.Error": true, "panic": true, "InfoContext": true, "WarnContext": true,
	"ErrorContext": true, "Set": true, "MustCompile": true,
}

// machine are files whose texts are for programs only, or name the errors that have translations.
var machine = strings.Fields(`web/applogin.go web/oauth.go web/oauthtoken.go calendar/describe/fault.go`)

// names are texts of several words that are no sentences.
var names = strings.Split("mon tue wed thu fri|Apple Calendar|sign in|Mac OS X|block t%d h%d c%dof%d %s|"+
	"off t%d h%d", "|")

// sentence is a text of several words.
var sentence = regexp.MustCompile(`^[“(]?\p{L}+[’,]?\p{L}* [\p{L}%“{(]`)

// TestNoTextInPrograms finds texts for people in programs that make pages and mails.
func TestNoTextInPrograms(t *testing.T) {
	for _, folder := range translated {
		programs, err := filepath.Glob(folder + "/*.go")
		if err != nil || len(programs) == 0 {
			t.Fatal("no programs:", err)
		}
		for _, name := range programs {
			if strings.HasSuffix(name, "_test.go") || slices.Contains(machine, strings.TrimPrefix(name, "../")) {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if found := textsIn(file); len(found) > 0 {
				t.Errorf("%s has texts outside the catalogs: %q", name, found)
			}
		}
	}
}

func textsIn(file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && silent[called(call)] {
			return false
		}
		if text, ok := literal(n); ok && sentence.MatchString(text) && !slices.Contains(names, text) {
			found = append(found, text)
		}
		return true
	})
	return found
}

// called returns the name of a called function, with its package if that decides.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok && silent[x.Name+"."+f.Sel.Name] {
			return x.Name + "." + f.Sel.Name
		}
		return f.Sel.Name
	}
	return ""
}
