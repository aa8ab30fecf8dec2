package backup

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Writer writes a backup.
type Writer struct {
	zip    *zip.Writer
	tables []Table
	entry  io.Writer
	sum    hash.Hash
	line   bytes.Buffer
	encode *json.Encoder
	cells  []any
}

// NewWriter begins a backup. It never seeks, so w may be a pipe.
func NewWriter(w io.Writer) *Writer {
	b := &Writer{zip: zip.NewWriter(w)}
	b.encode = json.NewEncoder(&b.line)
	b.encode.SetEscapeHTML(false)
	return b
}

// Table begins the next table.
func (w *Writer) Table(name string, columns []Column) error {
	w.finish()
	t := Table{Name: name, Columns: columns}
	entry, err := w.zip.Create(t.entry())
	if err != nil {
		return err
	}
	w.sum = sha256.New()
	w.entry, w.tables, w.cells = io.MultiWriter(entry, w.sum), append(w.tables, t), make([]any, len(columns))
	return nil
}

// finish records the checksum of the last table.
func (w *Writer) finish() {
	if len(w.tables) > 0 {
		w.tables[len(w.tables)-1].SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	}
}

// Row writes a row of the current table, with a value for each column.
func (w *Writer) Row(values []any) error {
	t := &w.tables[len(w.tables)-1]
	if len(values) != len(t.Columns) {
		return fmt.Errorf("a row of %s has %d values, and there are %d columns", t.Name, len(values), len(t.Columns))
	}
	for i, v := range values {
		var err error
		if w.cells[i], err = t.Columns[i].Kind.pack(v); err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name, t.Columns[i].Name, err)
		}
	}
	w.line.Reset()
	if err := w.encode.Encode(w.cells); err != nil {
		return err
	}
	if w.line.Len() > maxLine {
		return fmt.Errorf("a row of %s has %d bytes: a backup cannot hold it", t.Name, w.line.Len())
	}
	t.Rows++
	_, err := w.entry.Write(w.line.Bytes())
	return err
}

// Close completes the manifest, writes it and returns it.
func (w *Writer) Close(m Manifest) (Manifest, error) {
	w.finish()
	m.Format, m.Version, m.Tables = format, version, w.tables
	entry, err := w.zip.Create(manifestName)
	if err != nil {
		return m, err
	}
	encoder := json.NewEncoder(entry)
	encoder.SetIndent("", "\t")
	return m, errors.Join(encoder.Encode(m), w.zip.Close())
}
