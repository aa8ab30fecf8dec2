//go:build packed

package locale

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io/fs"
)

// packed is written by internal/packtexts, which make build runs.
//
//go:embed catalogs.zip
var packed []byte

func catalogFiles() (fs.FS, error) { return zip.NewReader(bytes.NewReader(packed), int64(len(packed))) }
