package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// ZipLimits protect against archives that become far larger than they are.
type ZipLimits struct {
	// Entries limits the number of files. Bytes limits the size of one unpacked file, Total the size of all.
	Entries      int
	Bytes, Total int64
	// Ratio limits how many times larger a file may become; it applies to files above 1 MiB.
	Ratio int64
}

// DefaultZipLimits allow every export of a known program: calendars compress to about a tenth, at most a hundredth.
func DefaultZipLimits() ZipLimits {
	return ZipLimits{Entries: 20_000, Bytes: 256 << 20, Total: 1 << 30, Ratio: 400}
}

// freeRatio is the size below which the ratio does not matter.
const freeRatio = 1 << 20

// IsZip reports whether a file begins like a ZIP archive.
func IsZip(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
}

// Member is a calendar file in a ZIP archive.
type Member struct {
	// Name is its path in the archive, and must not be used as the path of a file.
	Name  string
	entry *zip.File
}

// OpenZip lists the calendar files of an archive, in order of their names; a file with the properties of a calendar
// comes first in its directory. leftOut are the names of the other files. An archive that exceeds the limits, or that
// contains another archive, is refused as a whole.
func OpenZip(from io.ReaderAt, size int64, limits ZipLimits) (members []Member, leftOut []string, err error) {
	r, err := zip.NewReader(from, size)
	if err != nil {
		return nil, nil, fmt.Errorf("the ZIP file is damaged or incomplete: %w", err)
	}
	if len(r.File) > limits.Entries {
		return nil, nil, fmt.Errorf("the ZIP file has %d files; at most %d are read", len(r.File), limits.Entries)
	}
	var total uint64
	for _, f := range r.File {
		name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
		switch {
		case f.FileInfo().IsDir(), strings.HasPrefix(f.Name, "__MACOSX/"), name == ".DS_Store":
			continue
		case hasExtension(name, ".zip", ".gz", ".tgz", ".7z", ".rar"):
			return nil, nil, fmt.Errorf("%.200q is an archive in the archive: unpack it, and import that file", f.Name)
		case !hasExtension(name, ".ics", ".ical", ".ifb", ".vcs"):
			leftOut = append(leftOut, f.Name)
			continue
		case f.Flags&1 != 0:
			return nil, nil, fmt.Errorf("%.200q is encrypted: unpack it, and import that file", f.Name)
		case f.UncompressedSize64 > uint64(limits.Bytes):
			return nil, nil, fmt.Errorf("%.200q has %d MB; a file may have at most %d MB", f.Name,
				f.UncompressedSize64>>20, limits.Bytes>>20)
		}
		members = append(members, Member{f.Name, f})
		if total += f.UncompressedSize64; total > uint64(limits.Total) {
			return nil, nil, fmt.Errorf("the files have more than %d MB together: import them one by one",
				limits.Total>>20)
		}
		if f.UncompressedSize64 > freeRatio && f.UncompressedSize64/max(f.CompressedSize64, 1) >
			uint64(limits.Ratio) {
			return nil, nil, fmt.Errorf("%.200q becomes more than %d times larger: it is no calendar", f.Name,
				limits.Ratio)
		}
	}
	slices.SortStableFunc(members, func(a, b Member) int {
		return cmp.Or(strings.Compare(path.Dir(a.Name), path.Dir(b.Name)), a.rank()-b.rank(),
			strings.Compare(a.Name, b.Name))
	})
	return members, leftOut, nil
}

// CalendarFile is the file with a calendar's properties in a directory of objects, as export --objects writes it. Other
// programs ignore files with a leading dot.
const CalendarFile = ".calendar.ics"

// rank puts the file with a calendar's properties first.
func (m Member) rank() int {
	if path.Base(m.Name) == CalendarFile {
		return 0
	}
	return 1
}

func hasExtension(name string, extensions ...string) bool {
	return slices.Contains(extensions, strings.ToLower(path.Ext(name)))
}

// Read unpacks the file. The size that the archive states limits it, and its checksum is verified.
func (m Member) Read() ([]byte, error) {
	r, err := m.entry.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, errors.New("it is compressed in a way that is not supported: unpack it, and import the file")
	}
	if err != nil {
		return nil, fmt.Errorf("the ZIP file is damaged: %w", err)
	}
	defer func() { _ = r.Close() }() // it was only read
	size := int64(m.entry.UncompressedSize64)
	var b bytes.Buffer
	b.Grow(int(min(size, freeRatio)))
	n, err := io.Copy(&b, io.LimitReader(r, size+1))
	if err == nil && n > size {
		err = errors.New("it is larger than the archive says")
	}
	if err != nil {
		return nil, fmt.Errorf("the ZIP file is damaged: %w", err)
	}
	return b.Bytes(), nil
}
