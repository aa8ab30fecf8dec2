package db

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// sharedFile is the name of the file in its directory.
const sharedFile = "a.db"

// TestMain runs a statement on a file of the current directory, if it is started as another process by [runApart].
func TestMain(m *testing.M) {
	if os.Getenv("OTHER_PROCESS") != "" {
		d, err := Open(context.Background(), "sqlite:"+sharedFile, Options{}, nil, Hooks{})
		if err == nil {
			err = d.Transact(context.Background(), func(t *Tx) error {
				return t.Run(context.Background(), os.Getenv("STATEMENT"))
			})
		}
		if err != nil {
			panic(err)
		}
		if err := d.Close(); err != nil {
			panic(err)
		}
		return
	}
	m.Run()
}

// runApart runs a statement in another process.
func runApart(t *testing.T, directory, statement string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "OTHER_PROCESS=1", "STATEMENT="+statement)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestKept: an answer is repeated until somebody commits: this process, another connection of it, or another process.
func TestKept(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	path := "sqlite:" + filepath.Join(directory, sharedFile)
	d, other := openFile(t, path), openFile(t, path)
	run := func(d *DB, statement string) {
		t.Helper()
		err := d.Transact(t.Context(), func(x *Tx) error { return x.Run(t.Context(), statement) })
		if err != nil {
			t.Fatal(err)
		}
	}
	run(d, `CREATE TABLE numbers (n BIGINT)`)
	run(d, `INSERT INTO numbers VALUES (0)`)
	var kept Kept[string, int64]
	asked := 0
	read := func() int64 {
		t.Helper()
		n, err := kept.Of(d, "n", func() (int64, error) {
			asked++
			return RowOf(t.Context(), d.Reads, ScanNumber, `SELECT n FROM numbers`)
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	changes := []func(){
		func() { run(d, `UPDATE numbers SET n = n + 1`) },
		func() { run(other, `UPDATE numbers SET n = n + 1`) },
		func() { runApart(t, directory, `UPDATE numbers SET n = n + 1`) },
		func() { // moves the commits of the log into the file, and writes the log from its start again
			if err := d.Maintain(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
				t.Fatal(err)
			}
			run(other, `UPDATE numbers SET n = n + 1`)
		},
	}
	want := int64(0)
	for round := range 3 {
		for i, change := range changes {
			change()
			want++
			before := asked
			for range 3 {
				if got := read(); got != want {
					t.Errorf("round %d, change %d: got %d, want %d", round, i, got, want)
				}
			}
			if n := asked - before; n != 1 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
				t.Errorf("round %d, change %d: %d queries for 3 reads, want 1", round, i, n)
			}
		}
	}
}

// TestKeptWhileCommitted: a commit between the state and the query's answer is no part of the kept answer's state.
func TestKeptWhileCommitted(t *testing.T) {
	t.Parallel()
	path := "sqlite:" + filepath.Join(t.TempDir(), sharedFile)
	d := openFile(t, path)
	write := func(statement string) {
		t.Helper()
		err := d.Transact(t.Context(), func(x *Tx) error { return x.Run(t.Context(), statement) })
		if err != nil {
			t.Fatal(err)
		}
	}
	write(`CREATE TABLE numbers (n BIGINT)`)
	write(`INSERT INTO numbers VALUES (0)`)
	ask := func() (int64, error) { return RowOf(t.Context(), d.Reads, ScanNumber, `SELECT n FROM numbers`) }
	var kept Kept[string, int64]
	if _, err := kept.Of(d, "n", func() (int64, error) {
		n, err := ask()
		write(`UPDATE numbers SET n = 1`)
		return n, err
	}); err != nil {
		t.Fatal(err)
	}
	if n, err := kept.Of(d, "n", ask); n != 1 || err != nil {
		t.Errorf("got %d, %v: the answer of before the commit is given after it", n, err)
	}
}

// TestStateOf: a header that is being written, or is not there yet, is no state.
func TestStateOf(t *testing.T) {
	t.Parallel()
	var header fileState
	for i := range header {
		header[i] = byte(i)
	}
	header[initialized] = 1
	index := append(header[:], header[:]...)
	if got, known := stateOf(index); !known || got != header {
		t.Errorf("got %v, %v", got, known)
	}
	for i := range index {
		index[i]++
		if _, known := stateOf(index); known {
			t.Errorf("byte %d differs, and the state is known", i)
		}
		index[i]--
	}
	if _, known := stateOf(make([]byte, 96)); known {
		t.Error("the state of an empty index is known")
	}
}

func openFile(t *testing.T, path string) *DB {
	t.Helper()
	d, err := Open(t.Context(), path, Options{}, nil, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}
