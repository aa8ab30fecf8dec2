// Package migrations holds the database schema as numbered SQL files.
//
// A file is named NNNN_what.sql, or NNNN_what.ENGINE.sql when one engine alone needs it. A file
// that was released never changes: the store refuses a database whose files have other checksums.
package migrations

import "embed"

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS
