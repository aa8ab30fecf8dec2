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

	"filippo.io/age"
)

// An encrypted backup is a ZIP of two entries that are not compressed: the backup as a file of age, and the seal, which
// has its checksum. So damage shows without the key, and other programs can decrypt it.
const (
	sealedName   = "backup.age"
	sealName     = "sealed.json"
	sealedFormat = "caldav-mcp-server encrypted backup"
)

// seal describes the encrypted content.
type seal struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// Sealer encrypts a backup that is written to it.
type Sealer struct {
	zip   *zip.Writer
	plain io.WriteCloser
	sum   hash.Hash
	size  counter
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// NewSealer begins an encrypted backup. It never seeks, so w may be a pipe.
func NewSealer(w io.Writer, to ...age.Recipient) (*Sealer, error) {
	s := &Sealer{zip: zip.NewWriter(w), sum: sha256.New()}
	entry, err := s.zip.CreateHeader(&zip.FileHeader{Name: sealedName, Method: zip.Store})
	if err == nil {
		s.plain, err = age.Encrypt(io.MultiWriter(entry, s.sum, &s.size), to...)
	}
	return s, err
}

// Write encrypts a part of the backup.
func (s *Sealer) Write(p []byte) (int, error) { return s.plain.Write(p) }

// Close completes the file.
func (s *Sealer) Close() error {
	if err := s.plain.Close(); err != nil {
		return err
	}
	entry, err := s.zip.Create(sealName)
	if err != nil {
		return err
	}
	err = json.NewEncoder(entry).Encode(seal{
		sealedFormat, version, int64(s.size), hex.EncodeToString(s.sum.Sum(nil)),
	})
	return errors.Join(err, s.zip.Close())
}

// sealed is the encrypted content of a file.
type sealed struct {
	seal
	content *io.SectionReader
}

// openSealed returns the encrypted content of a file, or nil if it is not encrypted.
func openSealed(r io.ReaderAt, archive *zip.Reader) (*sealed, error) {
	var entry *zip.File
	for _, f := range archive.File {
		if f.Name == sealedName {
			entry = f
		}
	}
	if entry == nil {
		return nil, nil // a plain backup
	}
	s := &sealed{}
	if err := readJSON(archive, sealName, &s.seal); err != nil {
		return nil, err
	}
	at, err := entry.DataOffset()
	switch {
	case err != nil:
		return nil, damaged("%w", err)
	case s.Format != sealedFormat:
		return nil, errors.New("it is no backup of this program")
	case s.Version > version:
		return nil, fmt.Errorf("it is encrypted in the format %d, and this program knows %d at most: restore it with "+
			"a newer one", s.Version, version)
	case entry.Method != zip.Store || int64(entry.CompressedSize64) != s.Bytes || s.Bytes < 0:
		return nil, damaged("the encrypted part has not its size")
	}
	s.content = io.NewSectionReader(r, at, s.Bytes)
	return s, nil
}

// check compares the checksum.
func (s *sealed) check() error {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(s.content, 0, s.Bytes))
	if err != nil || n != s.Bytes || hex.EncodeToString(sum.Sum(nil)) != s.SHA256 {
		return damaged("the encrypted part is not as it was written")
	}
	return nil
}

// maxHeader limits the header of a file of age, which has a line or two for each recipient.
const maxHeader = 64 << 10

// decrypt returns the plain backup and its size.
func (s *sealed) decrypt(keys []age.Identity) (io.ReaderAt, int64, error) {
	head := make([]byte, min(s.Bytes, maxHeader))
	if _, err := io.ReadFull(io.NewSectionReader(s.content, 0, s.Bytes), head); err != nil {
		return nil, 0, damaged("%w", err)
	}
	if !bytes.Contains(head, []byte("\n--- ")) {
		return nil, 0, damaged("the encrypted part has no header")
	}
	plain, size, err := age.DecryptReaderAt(s.content, s.Bytes, keys...)
	if _, other := errors.AsType[*age.NoIdentityMatchError](err); other {
		return nil, 0, errors.New("this key or passphrase does not open it: was it encrypted with another one?")
	}
	if err != nil {
		return nil, 0, damaged("%w", err)
	}
	return plain, size, nil
}
