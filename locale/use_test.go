package locale_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// use is the texts that the program uses.
type use struct {
	// calls are the ids in calls of Text, t and th, with a place each. literals are all strings in programs and
	// templates.
	calls    map[string]string
	literals map[string]bool
}

// readUse reads the packages that use texts, and their templates.
func readUse(t *testing.T) use {
	t.Helper()
	u := use{calls: map[string]string{}, literals: map[string]bool{}}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if name := entry.Name(); name != ".." && strings.HasPrefix(name, ".") || name == "testdata" {
			return fs.SkipDir
		}
		return u.readFolder(path)
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const ourImport = `"caldav-mcp-server/locale"`

// readFolder reads a package and its templates if one of its files imports the catalogs.
func (u use) readFolder(folder string) error {
	names, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		return err
	}
	programs := map[string]string{}
	uses := filepath.Base(folder) == "locale"
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		programs[name] = string(content)
		uses = uses || strings.Contains(programs[name], ourImport)
	}
	if !uses {
		return nil
	}
	for name, content := range programs {
		if err := u.readProgram(name, content); err != nil {
			return err
		}
	}
	return u.readTemplates(folder + "/templates")
}

func (u use) readProgram(name, content string) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, content, 0)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if text, ok := literal(n); ok {
			u.literals[text] = true
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		method, ok := call.Fun.(*ast.SelectorExpr)
		if text, constant := literal(call.Args[0]); ok && constant && method.Sel.Name == "Text" {
			u.calls[text] = name
		}
		return true
	})
	return nil
}

func literal(n ast.Node) (string, bool) {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

var (
	templateCall = regexp.MustCompile(`(?:\{\{-?\s*|[(\s])th?\s+"([^"]+)"`)
	quoted       = regexp.MustCompile(`"([a-z0-9.-]+)"`)
)

func (u use) readTemplates(folder string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && entry.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range templateCall.FindAllStringSubmatch(string(content), -1) {
			u.calls[m[1]] = path
		}
		for _, m := range quoted.FindAllStringSubmatch(string(content), -1) {
			u.literals[m[1]] = true
		}
		return nil
	})
}

// uses reports whether a text is used: by its id, or by a prefix that ends with a period and the rest of the id, as in
// Text("notice." + "saved").
func (u use) uses(id string) bool {
	if u.literals[id] {
		return true
	}
	for i, r := range id {
		if r == '.' && u.literals[id[:i+1]] && u.literals[id[i+1:]] {
			return true
		}
	}
	return false
}

// TestTextsAreUsed: the texts that programs and templates name exist, and there are no others.
func TestTextsAreUsed(t *testing.T) {
	t.Parallel()
	english, u := readCatalogs(t)["en"], readUse(t)
	for id, place := range u.calls {
		// A prefix is completed at run time.
		if english[id] == nil && !strings.HasSuffix(id, ".") {
			t.Errorf("%s: there is no text %q", place, id)
		}
	}
	for id := range english {
		if !u.uses(id) {
			t.Errorf("the text %q is not used", id)
		}
	}
	if len(u.calls) < 10 {
		t.Errorf("only %d calls were found", len(u.calls))
	}
}
