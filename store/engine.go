package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"caldav-mcp-server/calendar"
)

// engine is all in which the databases differ.
type engine struct {
	// name stands in the file names of migrations for only this engine.
	name string
	// migrate, run first in the transaction of a migration, keeps other processes from migrating.
	migrate string
	// collate, run after tables were made or changed, has all text columns compare bytes; empty
	// where they do.
	collate string
	// countMigrations yields 1 where the table of migrations is there, 0 where it is not.
	countMigrations string
	// analyze has the planner look at the objects; empty where plans do not hang on it.
	analyze string
	// shrink gives some of the free pages back, of which free tells how many there are; empty where the engine uses them again
	// and nobody waits for them.
	shrink, free string
	// check yields what is damaged in the database, or "ok"; empty where the engine sees to that.
	check string
	// announce tells other processes the hint $1, if some process wants to hear it at the time
	// $2; empty where they find out by themselves.
	announce string
	// columns yields all tables' columns: the table, the column, its type, and its place in the primary key, from 1 on.
	// Columns that the engine computes itself are left out. references yields which table points at which.
	columns, references string
	// snapshot is a transaction that sees one moment, for as long as it takes; endless, run in it, lets statements take
	// longer than a request's may, empty where they do.
	snapshot sql.TxOptions
	endless  string
	// bulk is how many values go into a statement that inserts many rows: round trips are spared by more, and SQLite's driver
	// looks for each value among all of them.
	bulk int
	// lists is set where an argument may be a list of texts.
	lists bool
	// lockRows ends a query that locks what it yields, lockFree one that yields what it can lock at once; empty where a writer is alone.
	lockRows, lockFree string
	// search is how words are looked for.
	search searching
	// patience is how long an answer to a query is waited for; 0 where none can fail to come. Postgres ends
	// a statement that takes too long by itself, but one that was stopped, or lies behind a network that is
	// gone, does not.
	patience time.Duration
	// fault tells what an error of the driver means.
	fault func(error) fault
	// trouble hears of those that the operator has to know; nil before the store is open.
	trouble *trouble
}

// fault is what the program can make of a database's error.
type fault uint8

const (
	faultOther    fault = iota
	faultTaken          // a unique index has the value already
	faultOrphan         // a foreign key points at nothing
	faultConflict       // another transaction was in the way: try again
	faultLocked         // another transaction holds a lock for too long
	faultCut            // the connection was lost: another one may do
	faultAway           // the database cannot be reached
	faultSlow           // the statement took too long
	faultFull           // the disk is full
	faultText           // a text that cannot be stored: not UTF-8, or with a NUL
)

// faults renders each fault as an error of the middle. Any other is an internal error.
var faults = [...]struct {
	reason  calendar.Reason
	rule    calendar.Rule
	message string
}{
	faultTaken:    {calendar.Exists, "", "there is one already"},
	faultOrphan:   {calendar.NotFound, "", "what it belongs to does not exist"},
	faultConflict: {calendar.Unavailable, "", "the database is too busy"},
	faultLocked:   {calendar.Unavailable, "", "another change of the same calendar takes too long"},
	faultCut:      {calendar.Unavailable, "", "the connection to the database was lost"},
	faultAway:     {calendar.Unavailable, "", "the database cannot be reached"},
	faultSlow:     {calendar.Unavailable, "", "the database took too long"},
	faultFull:     {calendar.Unavailable, calendar.RuleDiskSpace, "the disk of the database is full"},
	faultText:     {calendar.Invalid, "", "a text is not valid UTF-8 or contains a NUL"},
}

// errLocked is returned to a change whose turn at a calendar did not come in time.
var errLocked = errors.New("the changes ahead in the queue of the calendar take too long")

// bounded returns a context for a query that ends when its answer is not to be expected any more.
func (e *engine) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.patience == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.patience)
}

// translate turns an error of a driver into one of the middle where its reason can be told. What
// came about because the caller gave up remains the context's error.
func (e *engine) translate(ctx context.Context, err error) error {
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
	e.trouble.met(ctx, kind, known)
	return known
}

// expectRow makes a statement that was to change a row, and found none, an error.
func expectRow(changed int64, err error) error {
	if err == nil && changed == 0 {
		return &calendar.Error{Reason: calendar.NotFound, Message: "there is none", Cause: sql.ErrNoRows}
	}
	return err
}
