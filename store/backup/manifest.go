// Package backup is the file format for a copy of the whole store. The file is a ZIP with one entry for each table,
// and a manifest with the columns, row counts and checksums. The package contains no SQL; see store.Backup and
// store.Restore.
//
// A table's entry has one row per line, written as a JSON array. Text is a JSON string, and so are UTF-8 bytes such
// as calendar objects. Other bytes are {"base64": "…"}. Numbers are integers.
package backup

import (
	"fmt"
	"time"
)

const (
	format = "caldav-mcp-server backup"
	// version is the version of the format. An older program cannot restore a newer format.
	version = 1
	// manifestName is the name of the manifest, which is written last.
	manifestName = "backup.json"
)

// Kind is the type of a column's values.
type Kind string

// The kinds of columns.
const (
	Text    Kind = "text"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Bytes   Kind = "bytes"
)

// Column is a column of a table.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Table is one table of a backup.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	Rows    int64    `json:"rows"`
	// SHA256 is the checksum of the entry's text, in hexadecimal.
	SHA256 string `json:"sha256"`
}

func (t Table) entry() string { return "tables/" + t.Name + ".jsonl" }

// Migration is a migration that had been applied to the database.
type Migration struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum"`
}

// Manifest lists the contents of a backup.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Program is the version of the program that wrote the backup, Engine its database engine.
	Program string    `json:"program"`
	Engine  string    `json:"engine"`
	Made    time.Time `json:"made"`
	// Migrations are the database's migrations, except those for a single engine.
	Migrations []Migration `json:"migrations"`
	// Tables are in an order such that no row refers to a later table.
	Tables []Table `json:"tables"`
}

// Rows returns the total number of rows.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// Table returns the table named name, or one without rows if there is none.
func (m Manifest) Table(name string) Table {
	for _, t := range m.Tables {
		if t.Name == name {
			return t
		}
	}
	return Table{Name: name}
}

func (m Manifest) check() error {
	switch {
	case m.Format != format:
		return fmt.Errorf("it is no backup of this program")
	case m.Version > version:
		return fmt.Errorf("it is a backup in the format %d, and this program knows %d at most: restore it with a "+
			"newer one", m.Version, version)
	case m.Version < 1 || len(m.Tables) == 0:
		return damaged("its manifest is empty")
	}
	return nil
}

// Progress receives the current table, and the numbers of rows done and total in all tables.
type Progress func(table string, done, total int64)
