package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRename: imports of the module change, other texts and other modules do not.
func TestRename(t *testing.T) {
	t.Parallel()
	const source = "package a\n\nimport (\n\t\"fmt\"\n\n\tother \"old/b\"\n\t\"old/c/d\"\n\t\"older/e\"\n)\n\n" +
		"var _ = \"old/b\" // of old/b\n"
	files := map[string][2]string{
		"go.mod": {"module old\n\ngo 1.26\n", "module example.org/new\n\ngo 1.26\n"},
		"a/a.go": {source, "package a\n\nimport (\n\t\"fmt\"\n\n\tother \"example.org/new/b\"\n" +
			"\t\"example.org/new/c/d\"\n\t\"older/e\"\n)\n\nvar _ = \"old/b\" // of old/b\n"},
		".golangci.yml": {
			"  - old/b\n  - {pkg: old/c}\n  - older/b\n",
			"  - example.org/new/b\n  - {pkg: example.org/new/c}\n  - older/b\n",
		},
		"tools/x/go.mod": {"module old/tools/x\n", "module old/tools/x\n"},
		"tools/x/x.go":   {source, source},
	}
	dir := t.TempDir()
	for path, texts := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(texts[0]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := rename(dir, "example.org/new"); err != nil {
		t.Fatal(err)
	}
	for path, texts := range files {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil || string(got) != texts[1] {
			t.Errorf("%s: %v\n%s\nwant\n%s", path, err, got, texts[1])
		}
	}
}
