// Package migrations holds the database schema as numbered SQL files.
//
// A file is named NNNN_words.sql, or NNNN_words.ENGINE.sql when only one engine needs it. A file
// that was released never changes: the store refuses a database whose files have other checksums.
//
// After each file the store gives all text columns the order of bytes, so a file says nothing of
// collations. What hangs on the text of a new column, as a generated column does, comes in a file
// of its own.
//
// On Postgres a file that needs tables to itself says first how long others may have to wait for it, as 0030 does: where something reads
// them for longer, the store rolls back, lets the others pass and begins the file anew.
package migrations

import "embed"

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS
