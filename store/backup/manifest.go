// Package backup is the file that a whole store is written to: a ZIP with one entry for each table, a row a line as a JSON
// array, and a manifest with what they hold and their checksums. It knows no SQL; see store.Backup and store.Restore.
//
// A text is a JSON string, and so are bytes that are UTF-8, as calendar objects are; what is not UTF-8 is
// {"base64": "…"}. Numbers are whole numbers.
package backup

import (
	"fmt"
	"time"
)

const (
	format = "caldav-mcp-server backup"
	// version is of the format. What a later one adds, an older program cannot restore.
	version = 1
	// manifestName is the entry that is written last.
	manifestName = "backup.json"
)

// Kind is the kind of a column's values.
type Kind string

// The kinds there are.
const (
	Text    Kind = "text"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Bytes   Kind = "bytes"
)

// Column is one of a table's.
type Column struct {
	Name string `json:"name"`
	Kind Kind   `json:"kind"`
}

// Table is one table of a backup.
type Table struct {
	Name    string   `json:"name"`
	Columns []Column `json:"columns"`
	Rows    int64    `json:"rows"`
	// SHA256 is of the entry's text, in hexadecimal.
	SHA256 string `json:"sha256"`
}

func (t Table) entry() string { return "tables/" + t.Name + ".jsonl" }

// Migration is a file that had been applied to the database.
type Migration struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum"`
}

// Manifest lists the contents of a backup.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Program is the version of the program that made it, Engine the database's.
	Program string    `json:"program"`
	Engine  string    `json:"engine"`
	Made    time.Time `json:"made"`
	// Migrations are those of the database, but for one engine's own.
	Migrations []Migration `json:"migrations"`
	// Tables are in an order in which none needs rows of a later one.
	Tables []Table `json:"tables"`
}

// Rows counts the rows of all tables.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// Table returns the table of a name; one without rows where there is none.
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
		return fmt.Errorf("it is a backup in the format %d, and this program knows %d at most: restore it with a newer one", m.Version, version)
	case m.Version < 1 || len(m.Tables) == 0:
		return damaged("its manifest is empty")
	}
	return nil
}

// Progress is told how many rows of which table were gone through so far, of how many in all tables.
type Progress func(table string, done, total int64)
