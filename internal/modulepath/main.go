// Command modulepath writes another module path into the source: go.mod, imports and the linter's rules. A repository
// that others install with `go install` needs its own path there.
package main

import (
	"bytes"
	"errors"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("modulepath: ")
	if len(os.Args) != 2 || !strings.Contains(os.Args[1], "/") {
		log.Fatal("it needs a path, such as github.com/someone/caldav-mcp-server")
	}
	if err := rename(".", os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

var moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)

// linterRules has import paths as words of their own.
const linterRules = ".golangci.yml"

// rename changes the module in a directory. Other modules below it stay, since nothing imports them.
func rename(dir, to string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return err
	}
	found := moduleLine.FindSubmatch(mod)
	if found == nil {
		return errors.New("go.mod has no module path")
	}
	from := string(found[1])
	if err := replace(filepath.Join(dir, "go.mod"), func(text []byte) ([]byte, error) {
		return moduleLine.ReplaceAll(text, []byte("module "+to)), nil
	}); err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, linterRules), func(text []byte) ([]byte, error) {
		text = bytes.ReplaceAll(text, []byte("module-path: "+from+"\n"), []byte("module-path: "+to+"\n"))
		return regexp.MustCompile(`(\s)`+regexp.QuoteMeta(from)+`/`).ReplaceAll(text, []byte("${1}"+to+"/")), nil
	}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != dir && (err == nil || strings.HasPrefix(entry.Name(), ".")) {
				return filepath.SkipDir
			}
			return nil
		case filepath.Ext(path) != ".go":
			return nil
		}
		return replace(path, func(text []byte) ([]byte, error) { return reimport(path, text, from, to) })
	})
}

// replace rewrites a file if its text changes.
func replace(path string, change func([]byte) ([]byte, error)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed, err := change(text)
	if err != nil || bytes.Equal(changed, text) {
		return err
	}
	return os.WriteFile(path, changed, info.Mode().Perm())
}

// reimport changes the imports of a file. Other texts with the path stay.
func reimport(path string, text []byte, from, to string) ([]byte, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	for _, spec := range slices.Backward(parsed.Imports) {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		inside, ours := strings.CutPrefix(imported, from+"/")
		if !ours {
			continue
		}
		// Positions count from 1. From the last import on, earlier positions stay right.
		at := int(spec.Path.Pos()) - 1
		text = slices.Concat(text[:at], []byte(strconv.Quote(to+"/"+inside)), text[at+len(spec.Path.Value):])
	}
	return text, nil
}
