package calendar_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestNounsDoNothing: this room has nouns, their rules and what it needs of a store. Anyone who is given a context or a
// part of the store does something, and belongs to one of the rooms around it.
func TestNounsDoNothing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	contracts := map[string]bool{"Context": true}
	var functions []*ast.FuncDecl
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				functions = append(functions, n)
			case *ast.TypeSpec:
				if contract, ok := n.Type.(*ast.InterfaceType); ok && asksAStore(contract) {
					contracts[n.Name.Name] = true
				}
			}
			return true
		})
	}
	if !contracts["Store"] || !contracts["Tx"] || len(functions) < 100 {
		t.Fatalf("of this room were found %d functions and the contracts %v", len(functions), contracts)
	}
	for _, f := range functions {
		ast.Inspect(f.Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && contracts[id.Name] {
				t.Errorf("%s is given a %s", f.Name.Name, id.Name)
			}
			return true
		})
	}
}

// asksAStore tells whether an interface is a part of the store's contract: its methods take a context, or it is made of
// such interfaces.
func asksAStore(contract *ast.InterfaceType) bool {
	found := false
	ast.Inspect(contract, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Context" {
			found = true
		}
		return !found
	})
	return found
}
