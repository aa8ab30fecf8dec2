package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/calendar"
)

const (
	// filePause is how long another process's change of a SQLite file may go unnoticed.
	filePause = 250 * time.Millisecond
	// wanted is for how long a process on Postgres asks for hints. It asks again before half of that is over,
	// and then assumes that everything changed: a hint may be missing, as from a transaction that began before
	// any process asked, or through a pooler.
	wanted = time.Minute
	// hintChannel has the schema in its name, because channels belong to the whole database.
	hintChannel = `'caldav_mcp_' || md5(current_schema())`
	// maxHint is the most that Postgres accepts in one notification, less some bytes.
	maxHint = 7500
)

// hints notifies watchers of commits, by any process.
type hints struct {
	// hear listens to other processes until ctx ends, or it fails.
	hear func(ctx context.Context, tell func(calendar.Hint)) error
	log  *slog.Logger

	mu       sync.Mutex
	watchers map[*watcher]bool
	// end stops listening, which lasts as long as there are watchers.
	end func()
}

type watcher struct{ heard func(calendar.Hint) }

// Watch implements [calendar.Watchable].
func (s *Store) Watch(heard func(calendar.Hint)) (stop func()) {
	n, w := &s.hints, &watcher{heard}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.watchers == nil {
		n.watchers = make(map[*watcher]bool)
	}
	n.watchers[w] = true
	if n.end == nil {
		n.end = n.listen()
	}
	return func() { n.leave(w) }
}

// leave stops listening after the last watcher. It checks for others under the lock that guards n.end, so a
// watcher that starts meanwhile starts listening again.
func (n *hints) leave(gone *watcher) {
	n.mu.Lock()
	delete(n.watchers, gone)
	end := func() {}
	if len(n.watchers) == 0 {
		end = n.take()
	}
	n.mu.Unlock()
	end()
}

// close stops listening and waits for its end.
func (n *hints) close() {
	n.mu.Lock()
	end := n.take()
	n.mu.Unlock()
	end()
}

// take returns the function that stops listening, which must be called without mu. The caller of take holds mu.
func (n *hints) take() (end func()) {
	if end, n.end = n.end, nil; end == nil {
		return func() {}
	}
	return end
}

// tell passes a hint to all watchers.
func (n *hints) tell(hint calendar.Hint) {
	if hint.Empty() {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for w := range n.watchers {
		w.heard(hint)
	}
}

// listen starts to listen to other processes, and returns the function that stops it.
func (n *hints) listen() func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := n.hear(ctx, n.tell); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "changes by other processes are not noticed at the moment", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(retryPause):
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// everything is the hint for unknown changes.
func everything() calendar.Hint { return calendar.Hint{Everything: true} }

// hearFile polls SQLite on a separate connection for writes by others. It also notices this process's own
// writes.
func hearFile(path string) func(context.Context, func(calendar.Hint)) error {
	return func(ctx context.Context, tell func(calendar.Hint)) (err error) {
		db, err := sql.Open("sqlite", dataSource(path, "query_only(1)"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		db.SetMaxOpenConns(1) // data_version is relative to one connection
		ticker := time.NewTicker(filePause)
		defer ticker.Stop()
		for last := int64(-1); ; {
			var now int64
			if err := db.QueryRowContext(ctx, "PRAGMA data_version").Scan(&now); err != nil {
				return err
			}
			if now != last {
				tell(everything())
			}
			last = now
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}
}

// hearChannel uses LISTEN on a separate connection.
func hearChannel(s *Store, config *pgx.ConnConfig) func(context.Context, func(calendar.Hint)) error {
	return func(ctx context.Context, tell func(calendar.Hint)) error {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return err
		}
		defer hangUp(ctx, conn)
		var channel string
		if err := conn.QueryRow(ctx, `SELECT `+hintChannel).Scan(&channel); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
		for {
			until := s.now() + int64(wanted/time.Second)
			if _, err := conn.Exec(ctx, `UPDATE meta SET watched = $1 WHERE id = 1 AND watched < $1`, until); err != nil {
				return err
			}
			tell(everything())
			if err := takeHints(ctx, conn, tell); err != nil {
				return err
			}
		}
	}
}

// takeHints passes on hints until it is time to ask again.
func takeHints(ctx context.Context, conn *pgx.Conn, tell func(calendar.Hint)) error {
	ctx, cancel := context.WithTimeout(ctx, wanted/2)
	defer cancel()
	for {
		got, err := conn.WaitForNotification(ctx)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return nil
		case err != nil:
			return err
		}
		var hint calendar.Hint
		if json.Unmarshal([]byte(got.Payload), &hint) != nil {
			hint = everything() // from a newer program
		}
		tell(hint)
	}
}

// announce notifies other processes at the commit.
func (t *Tx) announce(ctx context.Context) error {
	text := t.of().announce
	if text == "" || t.hint.Empty() {
		return nil
	}
	payload, err := json.Marshal(t.hint)
	if err != nil {
		return err
	}
	if len(payload) > maxHint {
		payload = []byte(`{"Everything":true}`)
	}
	return t.later(ctx, ignore, text, string(payload), t.store.now())
}
