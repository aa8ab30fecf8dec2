package db

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/trace"
)

// Querier runs queries: a pool of connections, or a transaction.
type Querier interface {
	query(ctx context.Context, text string, args ...any) (rows, error)
	// Of returns the engine that translates errors.
	Of() *Engine
}

// answerer is a querier that passes the rows to the taker itself.
type answerer interface {
	Answer(ctx context.Context, q Question) error
}

// rows are the result of a query.
type rows interface {
	Scanner
	Next() bool
	Err() error
	Close() error
}

// Scanner is one row of a result.
type Scanner interface{ Scan(dest ...any) error }

// connection runs statements of database/sql: a pool of connections, or one.
type connection interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// statements runs statements on a connection, and keeps them prepared if the driver does not. All texts are
// constants, so their number is bounded.
type statements struct {
	engine *Engine
	on     connection
	mu     sync.Mutex
	// kept is nil if the driver keeps the statements.
	kept map[string]*sql.Stmt
}

func (s *statements) Of() *Engine { return s.engine }

func (s *statements) query(ctx context.Context, text string, args ...any) (rows, error) {
	if s.kept == nil {
		return s.on.QueryContext(ctx, text, args...) //nolint:rowserrcheck // each does
	}
	stmt, err := s.prepared(ctx, text) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...) //nolint:rowserrcheck // each does
}

func askEach(ctx context.Context, q Querier, questions []Question) error {
	for _, one := range questions {
		if err := Each(ctx, q, one.Take, one.Text, one.Args...); err != nil {
			return err
		}
	}
	return nil
}

// Exec runs a statement and returns how many rows it changed.
func (s *statements) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	stmt, err := s.prepared(ctx, text) //nolint:sqlclosecheck // it is kept
	if err != nil {
		return 0, s.engine.Translate(ctx, err)
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, s.engine.Translate(ctx, err)
	}
	return result.RowsAffected()
}

// prepared returns the prepared statement of a text, and prepares it the first time. Two callers may both do
// so; one of them wins. It holds no lock meanwhile, because it waits for a connection.
func (s *statements) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	stmt := s.kept[text]
	s.mu.Unlock()
	if stmt != nil {
		return stmt, nil
	}
	stmt, err := s.on.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.kept[text]; first != nil {
		return first, stmt.Close() //nolint:sqlclosecheck // only this one is not kept
	}
	s.kept[text] = stmt
	return stmt, nil
}

// Close closes the prepared statements. Until then SQLite keeps the connection open and leaves the write-ahead
// log next to the file, where it would be applied to a restored backup.
func (s *statements) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, stmt := range s.kept {
		errs = append(errs, stmt.Close())
	}
	clear(s.kept)
	return errors.Join(errs...)
}

// RowsOf runs a query and scans all its rows.
func RowsOf[T any](
	ctx context.Context, q Querier, scan func(Scanner) (T, error), text string, args ...any,
) ([]T, error) {
	var all []T
	err := Each(ctx, q, TakeAll(&all, scan), text, args...)
	return all, err
}

// TakeAll scans all rows.
func TakeAll[T any](all *[]T, scan func(Scanner) (T, error)) Taker {
	return func(row Scanner) (bool, error) {
		one, err := scan(row)
		*all = append(*all, one)
		return true, err
	}
}

// Taker takes rows until it wants no more.
type Taker func(Scanner) (more bool, err error)

// Question is a query, and the taker of its rows.
type Question struct {
	Take Taker
	Text string
	Args []any
}

// RowOf runs a query and scans its first row, or returns NotFound.
func RowOf[T any](ctx context.Context, q Querier, scan func(Scanner) (T, error), text string, args ...any) (T, error) {
	var one T
	found := false
	take := takeOne(&one, scan)
	err := Each(ctx, q, func(row Scanner) (bool, error) {
		found = true
		return take(row)
	}, text, args...)
	if err == nil && !found {
		err = q.Of().Translate(ctx, sql.ErrNoRows)
	}
	return one, err
}

// takeOne scans the first row, if there is one.
func takeOne[T any](one *T, scan func(Scanner) (T, error)) Taker {
	return func(row Scanner) (more bool, err error) {
		*one, err = scan(row)
		return false, err
	}
}

// RowOrNone is [RowOf], but returns the zero value if there is no row.
func RowOrNone[T any](
	ctx context.Context, q Querier, scan func(Scanner) (T, error), text string, args ...any,
) (T, error) {
	one, err := RowOf(ctx, q, scan, text, args...)
	if calendar.ReasonOf(err) == calendar.NotFound {
		err = nil
	}
	return one, err
}

// Each passes the rows of a query to take until it wants no more.
func Each(asked context.Context, q Querier, take Taker, text string, args ...any) (err error) {
	ctx, cancel := q.Of().bounded(asked)
	defer cancel()
	defer func() { err = q.Of().Translate(asked, err) }()
	span := traced(ctx, text)
	defer func() { span.End(err != nil) }()
	if a, ok := q.(answerer); ok {
		return a.Answer(ctx, Question{take, text, args})
	}
	result, err := q.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() {
		if closing := result.Close(); err == nil {
			err = closing
		}
	}()
	return take.from(result)
}

// from passes the rows of a result to take.
func (take Taker) from(result interface {
	Scanner
	Next() bool
	Err() error
},
) error {
	for result.Next() {
		if more, err := take(result); err != nil || !more {
			return err
		}
	}
	return result.Err()
}

// traced starts the trace span of a query, named by its verb and its first table.
func traced(ctx context.Context, text string) *trace.Span {
	if trace.Of(ctx) == nil {
		return nil
	}
	words := strings.Fields(text)
	name := strings.ToUpper(words[0])
	for i, word := range words[:len(words)-1] {
		if strings.EqualFold(word, "from") || strings.EqualFold(word, "into") {
			name = strings.Join([]string{name, strings.Trim(words[i+1], "(),;")}, " ")
			break
		}
	}
	_, span := trace.Start(ctx, name, trace.Client)
	return span
}

// ScanInto returns a scanner of rows for the given fields.
func ScanInto[T any](fields func(*T) []any) func(Scanner) (T, error) {
	return func(row Scanner) (T, error) {
		var one T
		err := row.Scan(fields(&one)...)
		return one, err
	}
}

// Beside returns a scanner of rows with further columns at the end.
func Beside[T any](scan func(Scanner) (T, error), more ...any) func(Scanner) (T, error) {
	return func(row Scanner) (T, error) { return scan(also{row, more}) }
}

// also is a row with more columns at the end than its scanner knows.
type also struct {
	Scanner
	more []any
}

func (a also) Scan(dest ...any) error { return a.Scanner.Scan(append(dest, a.more...)...) }

// ScanOnly scans a row with one value, in one allocation.
func ScanOnly[T any](row Scanner) (T, error) {
	only := new(struct {
		value T
		into  [1]any
	})
	only.into[0] = &only.value
	err := row.Scan(only.into[:]...)
	return only.value, err
}

// These scan rows with one value.
var (
	ScanNumber = ScanOnly[int64]
	ScanText   = ScanOnly[string]
	ScanBytes  = ScanOnly[[]byte]
)

// session is a transaction of an engine.
type session interface {
	Querier
	Exec(ctx context.Context, text string, args ...any) (changed int64, err error)
	// Approach is called before the lock of the first row, and may wait for earlier changes of this process with the
	// same key.
	Approach(ctx context.Context, key string) error
	// Ask runs queries one after another; on Postgres they are sent together.
	Ask(ctx context.Context, questions []Question) error
	// Later runs a statement at once, or sends it with the next one or the commit, which saves a round trip.
	// settle checks its result.
	Later(ctx context.Context, settle settler, text string, args ...any) error
	// Row is later for an inserted row; rows of one table may be written together.
	Row(ctx context.Context, into *insertion, values ...any) error
	// script runs several statements without arguments.
	script(ctx context.Context, text string) error
	commit(ctx context.Context) error
	rollback(ctx context.Context)
}

// settler checks the result of a statement: the number of rows that it changed, or its error.
type settler func(changed int64, err error) error

// pending is a statement to be sent, and the judge of its result.
type pending struct {
	text   string
	args   []any
	settle settler
}

// Ignore is the check of a statement that may change any number of rows.
func Ignore(_ int64, err error) error { return err }
