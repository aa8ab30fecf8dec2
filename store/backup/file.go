package backup

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// File is an open backup.
type File struct {
	Manifest
	zip *zip.Reader
	// whole is set once Check has succeeded.
	whole bool
}

// ErrDamaged means that a backup has changed since it was written.
var ErrDamaged = errors.New("the backup is damaged or was cut short")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

const (
	// maxManifest limits the bytes read from a file that is not yet known to be a backup.
	maxManifest = 16 << 20
	// lineRoom is the buffer size for reading lines.
	lineRoom = 64 << 10
)

// Open reads the manifest of a backup. It does not read the tables; see Check.
func Open(r io.ReaderAt, size int64) (*File, error) {
	f := new(File)
	var err error
	if f.zip, err = zip.NewReader(r, size); err != nil {
		return nil, damaged("%w", err)
	}
	entry, err := f.zip.Open(manifestName)
	if err != nil {
		return nil, fmt.Errorf("it is no backup of this program: it has no %s", manifestName)
	}
	defer func() { _ = entry.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(entry, maxManifest))
	if err == nil {
		err = json.Unmarshal(text, &f.Manifest)
	}
	if err != nil {
		return nil, damaged("its manifest cannot be read: %w", err)
	}
	return f, f.check()
}

// Check reads the whole backup, unless it did so before: every row must parse and every checksum must match.
func (f *File) Check(tell Progress) error {
	if f.whole {
		return nil
	}
	done, total := int64(0), f.Manifest.Rows()
	for _, t := range f.Tables {
		err := f.Rows(t, func([]any) error {
			done++
			tell(t.Name, done, total)
			return nil
		})
		if err != nil {
			return err
		}
	}
	f.whole = true
	return nil
}

// Rows calls take for each row of a table, with a value for each column. At the end it compares the number of rows
// and the checksum. take may keep the values.
func (f *File) Rows(t Table, take func([]any) error) error {
	entry, err := f.zip.Open(t.entry())
	if err != nil {
		return damaged("the table %s is not in it", t.Name)
	}
	defer func() { _ = entry.Close() }() // it was only read
	sum, rows := sha256.New(), int64(0)
	lines := bufio.NewReaderSize(io.TeeReader(entry, sum), lineRoom)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil {
			return damaged("the table %s cannot be read: %w", t.Name, err)
		}
		rows++
		values, err := t.row(line)
		if err != nil {
			return damaged("row %d of the table %s: %w", rows, t.Name, err)
		}
		if err := take(values); err != nil {
			return err
		}
	}
	if rows != t.Rows || hex.EncodeToString(sum.Sum(nil)) != t.SHA256 {
		return damaged("the table %s is not as it was written", t.Name)
	}
	return nil
}

func (t Table) row(line []byte) ([]any, error) {
	var cells []json.RawMessage
	if err := json.Unmarshal(line, &cells); err != nil {
		return nil, err
	}
	if len(cells) != len(t.Columns) {
		return nil, fmt.Errorf("it has %d values, and there are %d columns", len(cells), len(t.Columns))
	}
	values := make([]any, len(cells))
	for i, cell := range cells {
		var err error
		if values[i], err = t.Columns[i].Kind.unpack(bytes.TrimSpace(cell)); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Columns[i].Name, err)
		}
	}
	return values, nil
}
