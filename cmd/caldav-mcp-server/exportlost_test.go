package main

import (
	"database/sql"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

// TestExportGoesOnBehindALostText: an event whose text the database has lost is named, all others are written, and the
// command fails.
func TestExportGoesOnBehindALostText(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		env, dir := on(database), t.TempDir()
		call(t, env, "correct horse\n", "create-user", "ann", "--password-stdin")
		for _, uid := range []string{"a", "lost", "z"} {
			file := filepath.Join(dir, uid+".ics")
			if err := os.WriteFile(file, []byte(event(uid, "Dinner of "+uid)), 0o600); err != nil {
				t.Fatal(err)
			}
			call(t, env, "", "import", "--user", "ann", "--calendar", "Personal", file)
		}
		driver, at := "pgx", database
		if path, is := strings.CutPrefix(database, "sqlite:"); is {
			driver, at = "sqlite", path
		}
		db, err := sql.Open(driver, at)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), `UPDATE objects SET data = $1 WHERE uid = 'lost'`, []byte{}); err !=
			nil {
			t.Fatal(err)
		}
		for _, flags := range [][]string{{"--objects"}, {}} {
			out := filepath.Join(t.TempDir(), "out")
			cmd := exec.CommandContext(t.Context(), console.Program,
				append([]string{"export", "--user", "ann", "--out", out}, flags...)...)
			cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
			said, err := cmd.CombinedOutput()
			if err == nil || strings.Count(string(said), "has no text") != 1 ||
				!strings.Contains(string(said), "personal/lost.ics: ") ||
				!strings.Contains(string(said), "1 objects are in no file, because the database has lost their text") {
				t.Errorf("%v: %v, and it says:\n%s", flags, err, said)
			}
			if text := textBelow(t, out); !strings.Contains(text, "Dinner of a") ||
				!strings.Contains(text, "Dinner of z") {
				t.Errorf("%v: what is written:\n%s", flags, text)
			}
		}
	})
}

// textBelow is all that is in the files of a directory.
func textBelow(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
