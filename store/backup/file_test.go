package backup

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
)

func unwatched(string, int64, int64) {}

// written returns a small backup, encrypted if there are recipients.
func written(t *testing.T, to ...age.Recipient) []byte {
	t.Helper()
	var file bytes.Buffer
	var out io.Writer = &file
	var sealer *Sealer
	if len(to) > 0 {
		var err error
		if sealer, err = NewSealer(&file, to...); err != nil {
			t.Fatal(err)
		}
		out = sealer
	}
	w := NewWriter(out)
	err := w.Table("users", []Column{{"name", Text}, {"age", Integer}, {"key", Bytes}, {"on", Boolean}})
	for _, row := range [][]any{{"ann", int64(40), []byte{0xff, 0}, true}, {nil, nil, []byte{}, nil}} {
		err = errors.Join(err, w.Row(row))
	}
	_, of := w.Close(Manifest{})
	if err = errors.Join(err, of); err == nil && sealer != nil {
		err = sealer.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(file []byte, keys ...age.Identity) (rows []string, err error) {
	f, err := Open(bytes.NewReader(file), int64(len(file)), keys...)
	if err != nil {
		return nil, err
	}
	if err := f.Check(unwatched); err != nil || f.Locked() {
		return nil, err
	}
	err = f.Rows(f.Tables[0], func(values []any) error {
		rows = append(rows, fmt.Sprintf("%#v", values))
		return nil
	})
	return rows, err
}

const wantRows = `[]interface {}{"ann", 40, []uint8{0xff, 0x0}, true} []interface {}{interface {}(nil), ` +
	`interface {}(nil), []uint8{}, interface {}(nil)}`

func TestRowsComeBack(t *testing.T) {
	t.Parallel()
	rows, err := read(written(t))
	if got := strings.Join(rows, " "); err != nil || got != wantRows {
		t.Errorf("got %s, %v, want %s", got, err, wantRows)
	}
}

// TestEncrypted: the key opens it, another one does not, and damage shows without any.
func TestEncrypted(t *testing.T) {
	t.Parallel()
	right, err := age.GenerateX25519Identity()
	other, of := age.GenerateX25519Identity()
	if err := errors.Join(err, of); err != nil {
		t.Fatal(err)
	}
	file := written(t, right.Recipient())
	if bytes.Contains(file, []byte("users")) {
		t.Error("the names of tables are readable")
	}
	rows, err := read(file, right)
	if got := strings.Join(rows, " "); err != nil || got != wantRows {
		t.Errorf("got %s, %v, want %s", got, err, wantRows)
	}
	_, err = read(file, other)
	if err == nil || !strings.Contains(err.Error(), "this key or passphrase does not open") {
		t.Errorf("another key: %v", err)
	}
	if _, err := read(file); err != nil {
		t.Errorf("without a key: %v", err)
	}
	at := bytes.Index(file, []byte("\n--- ")) + 100 // in the encrypted content
	flipped := bytes.Clone(file)
	flipped[at] ^= 1
	if _, err := read(flipped); !errors.Is(err, ErrDamaged) {
		t.Errorf("a flipped bit, without a key: %v", err)
	}
	if _, err := read(flipped, right); !errors.Is(err, ErrDamaged) {
		t.Errorf("a flipped bit, with the key: %v", err)
	}
	for _, length := range []int{0, 10, len(file) / 2, len(file) - 1} {
		if _, err := read(file[:length]); err == nil {
			t.Errorf("%d of %d bytes are accepted", length, len(file))
		}
	}
}

func TestPassphrase(t *testing.T) {
	t.Parallel()
	lock, err := age.NewScryptRecipient("correct horse battery")
	if err != nil {
		t.Fatal(err)
	}
	lock.SetWorkFactor(10)
	file := written(t, lock)
	for phrase, want := range map[string]bool{"correct horse battery": true, "wrong": false} {
		key, err := age.NewScryptIdentity(phrase)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(file, key); (err == nil) != want {
			t.Errorf("%q: %v", phrase, err)
		}
	}
}

// zipped returns a ZIP of entries that compress well.
func zipped(t *testing.T, entries map[string]io.Reader) []byte {
	t.Helper()
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for name, text := range entries {
		entry, err := w.Create(name)
		if err == nil {
			_, err = io.Copy(entry, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// endless is a text of one character.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestHostile: files that are small on disk and large in memory are refused for their size (operation F8).
func TestHostile(t *testing.T) {
	t.Parallel()
	manifest := func(columns int) io.Reader {
		m := Manifest{Format: format, Version: 1, Tables: []Table{{Name: "users", Rows: 1}}}
		for range columns {
			m.Tables[0].Columns = append(m.Tables[0].Columns, Column{"c", Text})
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.NewReader(text)
	}
	many := map[string]io.Reader{}
	for i := range 20_000 {
		many[fmt.Sprintf("tables/a-name-that-takes-room-%d.jsonl", i)] = strings.NewReader("")
	}
	for name, test := range map[string]struct {
		entries map[string]io.Reader
		want    string
	}{
		"a long line": {map[string]io.Reader{
			manifestName: manifest(1), "tables/users.jsonl": io.LimitReader(endless('a'), 100<<20),
		}, "row 1 of the table users is longer than 10 MB"},
		"many values": {map[string]io.Reader{
			manifestName:         manifest(1),
			"tables/users.jsonl": strings.NewReader("[" + strings.Repeat("1,", 1<<20) + "1]\n"),
		}, "it does not have 1 values"},
		"too few values": {map[string]io.Reader{
			manifestName: manifest(2), "tables/users.jsonl": strings.NewReader("[\"a\"]\n"),
		}, "it does not have 2 values"},
		"no row": {map[string]io.Reader{
			manifestName: manifest(1), "tables/users.jsonl": strings.NewReader("null\n"),
		}, "it does not have 1 values"},
		"many columns": {map[string]io.Reader{
			manifestName: manifest(maxColumns + 1), "tables/users.jsonl": strings.NewReader("[]\n"),
		}, "it does not have 65 values"},
		"a large manifest": {map[string]io.Reader{
			manifestName: io.LimitReader(endless(' '), 100<<20),
		}, "its manifest cannot be read"},
		"a long directory": {many, "its directory is too long"},
	} {
		_, err := read(zipped(t, test.entries))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
