package ledger_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestChangesAreMadeInOnePlace: whatever writes to a calendar is a change.Tx. What numbers, logs or stores by
// itself would be a second way, which forgets something of it.
func TestChangesAreMadeInOnePlace(t *testing.T) {
	t.Parallel()
	const place = "../change/tx.go"
	callers := map[string]map[string]bool{
		"Update": {}, "Advance": {}, "Log": {}, "PutObject": {}, "BuryObject": {}, "PutNotice": {}, "DropNotice": {},
	}
	for _, name := range sources(t, "..") {
		calls(t, name, callers)
	}
	for method, in := range callers {
		if got := slices.Collect(maps.Keys(in)); !slices.Equal(got, []string{place}) {
			t.Errorf("%s is called in %s, want %s only", method, got, place)
		}
	}
}

// TestOnlyTheStoreKnowsTransactions: the doors and the program change nothing past the ledger.
func TestOnlyTheStoreKnowsTransactions(t *testing.T) {
	t.Parallel()
	var in []string
	for _, name := range sources(t, "../..") {
		if text, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		} else if strings.Contains(string(text), "calendar.Tx") && !strings.HasPrefix(name, "../../store/") &&
			!strings.HasPrefix(name, "../../internal/") {
			in = append(in, name)
		}
	}
	if !slices.Equal(in, []string{"../../calendar/change/tx.go"}) {
		t.Errorf("transactions are known in %v", in)
	}
}

// sources are the files below a directory of which the program is made.
func sources(t *testing.T, below string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(below, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("no files below %s: %v", below, err)
	}
	return names
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
