// Package migrations holds the database schema as numbered SQL files.
//
// A file is named NNNN_words.sql, or NNNN_words.ENGINE.sql if only one engine needs it. A released file never changes:
// the store refuses a database whose files have other checksums.
//
// After each file, the store gives all text columns a byte-order collation, so the files name no collations. A column
// that depends on the text of a new column, such as a generated one, needs a later file.
//
// On Postgres, a file that needs exclusive access to tables first sets a lock timeout, as 0030 does. If a reader holds
// a table for longer, the store rolls back, lets other sessions proceed and starts the file again.
package migrations

import "embed"

// Files are the migrations.
//
//go:embed *.sql
var Files embed.FS
