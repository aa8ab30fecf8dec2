//go:build !packed

package locale

import (
	"embed"
	"io/fs"
)

//go:embed *.json
var files embed.FS

// catalogFiles returns the catalogs. Builds with the tag packed have them compressed, which makes the program 0.7 MB
// smaller.
func catalogFiles() (fs.FS, error) { return files, nil }
