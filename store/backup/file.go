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
	"math"
	"slices"

	"filippo.io/age"
)

// File is an open backup.
type File struct {
	Manifest
	zip *zip.Reader
	// sealed is the encrypted content, or nil. Without a key for it, zip is nil.
	sealed *sealed
	// lines reads the tables; its buffer holds a line.
	lines *bufio.Reader
	// whole is set once Check has succeeded.
	whole bool
}

// ErrDamaged means that a backup has changed since it was written.
var ErrDamaged = errors.New("the backup is damaged or was cut short")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

// The limits of a file that may be hostile, so that checking it takes little memory.
const (
	// maxManifest limits the manifest, which is smaller than 100 KB.
	maxManifest = 512 << 10
	// maxDirectory limits the ZIP's directory, which has one entry for each table.
	maxDirectory = 1 << 20
	// maxColumns limits the columns of a table.
	maxColumns = 64
	// maxLine limits a row. An object has up to 4 MiB, and JSON escapes make that at most twice as long.
	maxLine = 10 << 20
)

// Open reads the manifest of a backup. It does not read the tables; see Check. Without a key for an encrypted backup,
// the manifest is empty.
func Open(r io.ReaderAt, size int64, keys ...age.Identity) (*File, error) {
	archive, err := openZip(r, size)
	if err != nil {
		return nil, err
	}
	s, err := openSealed(r, archive)
	switch {
	case err != nil:
		return nil, err
	case s != nil && len(keys) == 0:
		return &File{sealed: s}, nil
	case s != nil:
		if r, size, err = s.decrypt(keys); err != nil {
			return nil, err
		}
		if archive, err = openZip(r, size); err != nil {
			return nil, err
		}
	}
	f := &File{zip: archive, sealed: s}
	if err := readJSON(archive, manifestName, &f.Manifest); err != nil {
		return nil, err
	}
	return f, f.check()
}

// openZip opens a ZIP with a short directory.
func openZip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	limited := &limitedReaderAt{r, maxDirectory}
	archive, err := zip.NewReader(limited, size)
	if err != nil {
		return nil, damaged("%w", err)
	}
	limited.left = math.MaxInt64
	return archive, nil
}

// limitedReaderAt fails after a number of bytes.
type limitedReaderAt struct {
	io.ReaderAt
	left int64
}

func (l *limitedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if l.left -= int64(len(p)); l.left < 0 {
		return 0, errors.New("its directory is too long")
	}
	return l.ReaderAt.ReadAt(p, at)
}

// readJSON reads a short entry of a ZIP.
func readJSON(archive *zip.Reader, name string, into any) error {
	entry, err := archive.Open(name)
	if err != nil {
		return fmt.Errorf("it is no backup of this program: it has no %s", name)
	}
	defer func() { _ = entry.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(entry, maxManifest))
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return damaged("its manifest cannot be read: %w", err)
	}
	return nil
}

// Encrypted reports whether the backup is encrypted.
func (f *File) Encrypted() bool { return f.sealed != nil }

// Locked reports whether the backup is encrypted and was opened without a key. Only Check can read it.
func (f *File) Locked() bool { return f.sealed != nil && f.zip == nil }

// Check reads the whole backup, unless it did so before: every row must parse and every checksum must match.
func (f *File) Check(tell Progress) error {
	if f.whole {
		return nil
	}
	if f.Locked() {
		return f.sealed.check()
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
	if f.lines == nil {
		f.lines = bufio.NewReaderSize(nil, maxLine)
	}
	f.lines.Reset(io.TeeReader(entry, sum))
	for {
		line, err := f.lines.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return damaged("row %d of the table %s is longer than %d MB", rows+1, t.Name, maxLine>>20)
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

// part is a part of a line, without a copy: it is valid until the next line is read.
type part []byte

// UnmarshalJSON keeps data, which Unmarshal takes from the line as it is.
func (p *part) UnmarshalJSON(data []byte) error {
	*p = data
	return nil
}

func (t Table) row(line []byte) ([]any, error) {
	// Values beyond the length of an array are not stored. One more than there are columns may be in it.
	var cells [maxColumns + 1]part
	if err := json.Unmarshal(line, &cells); err != nil {
		return nil, err
	}
	n := len(t.Columns)
	if n > maxColumns || slices.IndexFunc(cells[:], func(p part) bool { return p == nil }) != n {
		return nil, fmt.Errorf("it does not have %d values, as there are columns", n)
	}
	values := make([]any, len(t.Columns))
	for i, cell := range cells[:len(values)] {
		var err error
		if values[i], err = t.Columns[i].Kind.unpack(bytes.TrimSpace(cell)); err != nil {
			return nil, fmt.Errorf("%s: %w", t.Columns[i].Name, err)
		}
	}
	return values, nil
}
