package calendar_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nouns are the files that say what there is: of a calendar, of who may do what, and of what the
// middle wants of a store. They know nothing of the rest, which does something with it.
var nouns = []string{
	"access.go", "attempt.go", "calendar.go", "directory.go", "doc.go", "error.go", "hint.go", "home.go", "ids.go", "journal.go",
	"kept.go", "notification.go", "object.go", "share.go", "sharearrange.go", "store.go", "subscription.go", "sync.go",
	"trash.go", "user.go",
}

// sources parses the files of this package.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestNounsKnowNothingOfTheRest: no file of nouns uses what another file declares or has a method
// of what acts, so that a reader finds out what there is without reading what is done with it.
func TestNounsKnowNothingOfTheRest(t *testing.T) {
	t.Parallel()
	files := sources(t)
	declared := map[string]string{}
	for name, file := range files {
		for of := range file.Scope.Objects {
			declared[of] = name
		}
	}
	for _, name := range nouns {
		file := files[name]
		if file == nil {
			t.Errorf("%s is not there", name)
			continue
		}
		for _, used := range file.Unresolved {
			if from := declared[used.Name]; from != "" && !slices.Contains(nouns, from) {
				t.Errorf("%s uses %s of %s", name, used.Name, from)
			}
		}
		for of := range methods(file) {
			if !slices.Contains(nouns, declared[of]) {
				t.Errorf("%s has a method of %s", name, of)
			}
		}
	}
}

// methods are the types to which a file gives methods.
func methods(file *ast.File) map[string]bool {
	of := map[string]bool{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv == nil {
			continue
		}
		receiver := f.Recv.List[0].Type
		if pointer, ok := receiver.(*ast.StarExpr); ok {
			receiver = pointer.X
		}
		if name, ok := receiver.(*ast.Ident); ok {
			of[name.Name] = true
		}
	}
	return of
}

// TestChangesAreMadeInOnePlace: whatever writes to a calendar is a work. What numbers, logs or
// stores by itself would be a second way, which forgets something of it.
func TestChangesAreMadeInOnePlace(t *testing.T) {
	t.Parallel()
	const place = "work.go"
	callers := map[string]map[string]bool{
		"Update": {}, "Advance": {}, "Log": {}, "PutObject": {}, "BuryObject": {}, "PutNotice": {}, "DropNotice": {},
	}
	for name, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && callers[f.Sel.Name] != nil {
					callers[f.Sel.Name][name] = true
				}
			}
			return true
		})
	}
	for method, in := range callers {
		if got := slices.Collect(maps.Keys(in)); !slices.Equal(got, []string{place}) {
			t.Errorf("%s is called in %s, want %s only", method, got, place)
		}
	}
}
