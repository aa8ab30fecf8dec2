package db

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
)

// Engine holds all differences between the databases.
type Engine struct {
	// Name is in the file names of migrations that are for this engine only.
	Name string
	// migrate runs first in a migration's transaction and keeps other processes from migrating.
	migrate string
	// life runs after the migrations and adapts the functions that identify the server's history; empty if there are
	// none.
	life string
	// collate runs after tables were created or changed and makes all text columns compare bytes; empty if they
	// already do.
	collate string
	// countMigrations returns 1 if the table of migrations exists, else 0.
	countMigrations string
	// Analyze, followed by a table's name, updates the planner's statistics; empty if plans do not depend on them.
	Analyze string
	// Shrink returns some free pages to the disk, and Free counts them; both are empty if the engine reuses
	// pages by itself.
	Shrink, Free string
	// Size returns the size of the database in bytes.
	Size string
	// Check reports damage in the database, or "ok"; empty if the engine checks itself.
	Check string
	// watched finds a row if another process listens at time $1; empty if they notice changes by themselves.
	watched string
	// Columns lists the columns of all tables: table, column, type, and position in the primary key from 1 on.
	// It omits generated columns. References lists pairs of tables: the referring one and its target.
	Columns, References string
	// snapshot is for a transaction that sees one moment however long it runs. Endless lifts the statement
	// timeout in it; empty if there is none.
	snapshot sql.TxOptions
	Endless  string
	// Bulk is the most values in a statement that inserts many rows. More values save round trips, but SQLite's
	// driver searches the whole list for each value.
	Bulk int
	// Lists is set if an argument may be a list of texts.
	Lists bool
	// LockRows is `FOR UPDATE`, LockFree is `FOR UPDATE SKIP LOCKED`; both are empty on SQLite.
	LockRows, LockFree string
	// Patience is how long the store waits for a query's answer; 0 if an answer cannot fail to arrive. Postgres
	// ends a slow statement itself, but a stopped server, or one on the far side of a dead network, does not.
	Patience time.Duration
	// fault classifies an error of the driver.
	fault func(error) fault
	// faultLog reports the faults that the administrator has to know; nil until the store is open.
	faultLog *faultLog
}

// fault is the class of a database error.
type fault uint8

const (
	faultOther    fault = iota
	faultTaken          // a unique index has the value already
	faultOrphan         // a foreign key refers to a missing row
	faultConflict       // another transaction conflicted: retry
	faultLocked         // another transaction held a lock too long
	faultCut            // the connection was lost: another one may work
	faultAway           // the database is unreachable
	faultSlow           // the statement took too long
	faultFull           // the disk is full
	faultText           // a text that cannot be stored: not UTF-8, or with a NUL
)

// faults maps each fault to a calendar error. All others are internal errors.
var faults = [...]struct {
	reason  calendar.Reason
	rule    calendar.Rule
	message string
}{
	faultTaken:    {calendar.Exists, "", "it already exists"},
	faultOrphan:   {calendar.NotFound, "", "it refers to something that does not exist"},
	faultConflict: {calendar.Unavailable, "", "the database is too busy"},
	faultLocked:   {calendar.Unavailable, "", "another change of the same calendar is taking too long"},
	faultCut:      {calendar.Unavailable, "", "the connection to the database was lost"},
	faultAway:     {calendar.Unavailable, "", "the database cannot be reached"},
	faultSlow:     {calendar.Unavailable, "", "the database took too long"},
	faultFull:     {calendar.Unavailable, calendar.RuleDiskSpace, "the disk of the database is full"},
	faultText:     {calendar.Invalid, "", "a text is not valid UTF-8 or contains a NUL"},
}

// errLocked is returned to a change that waited too long in a queue.
var errLocked = errors.New("earlier changes in the calendar's queue are taking too long")

// bounded returns a context that expires when no answer can be expected any more.
func (e *Engine) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.Patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.Patience)
}

// Translate maps a driver's error to a calendar error if it can classify it. If the caller's context ended, it
// keeps the context's error.
func (e *Engine) Translate(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var known *calendar.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return &calendar.Error{Reason: calendar.NotFound, Message: "there is none", Cause: err}
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), err)
	}
	kind := e.fault(err)
	if kind == faultOther {
		return err
	}
	row := faults[kind]
	known = &calendar.Error{Reason: row.reason, Rule: row.rule, Message: row.message, Cause: err}
	e.faultLog.report(ctx, kind, known)
	return known
}

// ExpectRow returns an error if a statement that had to change a row found none.
func ExpectRow(changed int64, err error) error {
	if err == nil && changed == 0 {
		return &calendar.Error{Reason: calendar.NotFound, Message: "there is none", Cause: sql.ErrNoRows}
	}
	return err
}

// faultLog logs why the database failed. The client gets only an "unavailable" error, and the request's log line
// only a status.
type faultLog struct {
	log *slog.Logger
	now func() time.Time

	mu       sync.Mutex
	reported [len(faults)]struct {
		at   time.Time
		more int
	}
	damaged map[any]bool
}

// faultLevels are the faults that the administrator can fix, with their log level. The others concern one request.
var faultLevels = [len(faults)]slog.Level{
	faultCut: slog.LevelWarn, faultSlow: slog.LevelWarn, faultAway: slog.LevelError, faultFull: slog.LevelError,
}

// faultLogEvery is how often an ongoing fault is logged again, since each request meets it.
const faultLogEvery = 10 * time.Second

func (t *faultLog) report(ctx context.Context, kind fault, err *calendar.Error) {
	if t == nil || faultLevels[kind] == 0 {
		return
	}
	t.mu.Lock()
	before := &t.reported[kind]
	if !before.at.IsZero() && t.now().Sub(before.at).Abs() < faultLogEvery {
		before.more++
		t.mu.Unlock()
		return
	}
	more := before.more
	before.at, before.more = t.now(), 0
	t.mu.Unlock()
	t.log.Log(ctx, faultLevels[kind], "the database failed", "why", err.Message, "err", err.Cause, "untold", more)
}

// mostDamaged is how many damaged rows are logged: these are enough to make the administrator look.
const mostDamaged = 100

// Damaged lets tell log, once per row, that something of it cannot be read.
func (e *Engine) Damaged(row any, tell func(*slog.Logger)) {
	t := e.faultLog
	if t == nil {
		return
	}
	t.mu.Lock()
	known := t.damaged[row] || len(t.damaged) == mostDamaged
	if t.damaged == nil {
		t.damaged = map[any]bool{}
	}
	if !known {
		t.damaged[row] = true
	}
	t.mu.Unlock()
	if !known {
		tell(t.log)
	}
}
