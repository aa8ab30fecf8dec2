package ledger_test

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

// TestChangesAreMadeInOnePlace: whatever writes to a calendar is a work. What numbers, logs or stores by
// itself would be a second way, which forgets something of it.
func TestChangesAreMadeInOnePlace(t *testing.T) {
	t.Parallel()
	const place = "../ledger/work.go"
	callers := map[string]map[string]bool{
		"Update": {}, "Advance": {}, "Log": {}, "PutObject": {}, "BuryObject": {}, "PutNotice": {}, "DropNotice": {},
	}
	for _, room := range []string{"..", "../ledger", "../lookup", "../query", "../service", "../watch"} {
		files, err := filepath.Glob(room + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", room, err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				calls(t, name, callers)
			}
		}
	}
	for method, in := range callers {
		if got := slices.Collect(maps.Keys(in)); !slices.Equal(got, []string{place}) {
			t.Errorf("%s is called in %s, want %s only", method, got, place)
		}
	}
}

// calls notes which of the methods a file calls.
func calls(t *testing.T, name string, callers map[string]map[string]bool) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && callers[f.Sel.Name] != nil {
				callers[f.Sel.Name][filepath.ToSlash(name)] = true
			}
		}
		return true
	})
}
