package store

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Texts in the journal are packed: a byte for the format, the length of the text, and the text deflated (RFC
// 1951) with a dictionary of common iCalendar text. No text starts with such a byte: objects start with a
// letter, settings with a brace.
const packedFirst = 0x01

// firstWords is the dictionary of packedFirst. It must never change, or texts packed with it become unreadable.
//
//go:embed packing.1.dict
var firstWords []byte

const (
	// Only texts between leastPacked and mostPacked bytes are packed. A shorter one hardly shrinks. A longer
	// one takes milliseconds, during which the calendar is locked.
	leastPacked, mostPacked = 96, 64 << 10
	// packLevel is the lowest level that uses the dictionary. Higher ones are as fast and save one percent.
	packLevel = 2
)

// packer deflates one text after another. It holds most of a megabyte, so packers are reused.
type packer struct {
	out     bytes.Buffer
	deflate *flate.Writer
}

func newPacker() any {
	p := &packer{}
	p.deflate, _ = flate.NewWriterDict(&p.out, packLevel, firstWords) // it fails only for levels that do not exist
	return p
}

// pack returns the stored form of a text, and its length if it is packed.
func pack(packers *sync.Pool, text []byte) (stored []byte, unpacked int64) {
	if len(text) < leastPacked || len(text) > mostPacked {
		return text, 0
	}
	p := packers.Get().(*packer)
	defer packers.Put(p)
	p.out.Reset()
	p.out.Write(binary.AppendUvarint([]byte{packedFirst}, uint64(len(text))))
	p.deflate.Reset(&p.out)
	_, err := p.deflate.Write(text)
	if errors.Join(err, p.deflate.Close()) != nil || p.out.Len() >= len(text) {
		return text, 0
	}
	return bytes.Clone(p.out.Bytes()), int64(len(text))
}

// unpack returns the original text.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packedFirst {
		return stored, nil
	}
	length, n := binary.Uvarint(stored[1:])
	if n <= 0 || length < leastPacked || length > mostPacked {
		return nil, errPacking
	}
	text, beyond := make([]byte, length), make([]byte, 1)
	inflate := flate.NewReaderDict(bytes.NewReader(stored[1+n:]), firstWords)
	if _, err := io.ReadFull(inflate, text); err != nil {
		return nil, errors.Join(errPacking, err)
	}
	if _, err := io.ReadFull(inflate, beyond); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(errPacking, err) // it ends elsewhere
	}
	return text, nil
}

var errPacking = errors.New("a text in the journal cannot be unpacked")

// packedText is a column of texts that may be packed. NULL is nil. A text that cannot be unpacked is nil too,
// and sets damaged: one line must not end a listing.
type packedText struct {
	into    *[]byte
	damaged *bool
}

// Scan implements [database/sql.Scanner].
func (p packedText) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		*p.into, *p.damaged = nil, false
		return nil
	case []byte:
		text, err := unpack(v)
		if err == nil && len(v) > 0 && &v[0] == &text[0] {
			text = bytes.Clone(v) // the driver reuses its memory
		}
		*p.into, *p.damaged = text, err != nil
		return nil
	}
	return fmt.Errorf("%T is not a text", value)
}

// lengthBefore is an expression for the length of the text before a change, for the journal's row of that name.
func lengthBefore(row string) string {
	return `CASE WHEN ` + row + `.unpacked > 0 AND ` + row + `.before IS NOT NULL THEN ` + row + `.unpacked
		ELSE COALESCE(octet_length(` + row + `.before), 0) END`
}
