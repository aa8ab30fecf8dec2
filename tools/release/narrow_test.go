package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestFitsThirtyTwoBits: no constant of the program is too large for an int of armv7. Compiling it for armv7 finds this,
// too, but takes minutes.
func TestFitsThirtyTwoBits(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles,Module", "./cmd/caldav-mcp-server")
	list.Dir, list.Env = filepath.Join("..", ".."), append(os.Environ(), "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	type goPackage struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	exports := map[string]string{}
	var checked []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main || p.ImportPath == "math" { // math.MaxInt differs
			checked = append(checked, p)
		}
	}
	files := token.NewFileSet()
	compiled := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	narrow := map[string]*types.Package{}
	config := types.Config{
		Sizes: types.SizesFor("gc", "arm"),
		Error: func(err error) { t.Error(err) },
		Importer: importFunc(func(path string) (*types.Package, error) {
			if p := narrow[path]; p != nil {
				return p, nil
			}
			return compiled.Import(path)
		}),
	}
	for _, p := range checked {
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		narrow[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed, nil) // Error has reported all
	}
	if len(narrow) < 50 {
		t.Errorf("only %d packages are checked", len(narrow))
	}
}

type importFunc func(string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }
