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
	// filePause is how long another process's change to a SQLite file may go unnoticed.
	filePause = 250 * time.Millisecond
	// wanted is how long a process on Postgres asks to hear of changes at a time. It asks again
	// before half of that is over, and then looks at everything: a hint is not always sent, as
	// by a transaction that began before anybody asked, or through a proxy that pools connections.
	wanted = time.Minute
	// hintChannel is for the stores in one schema: channels are the whole database's.
	hintChannel = `'caldav_mcp_' || md5(current_schema())`
	// maxHint is what Postgres takes in one hint, less some bytes.
	maxHint = 7500
)

// hints tells those who watch what was kept, by whichever process.
type hints struct {
	// hear listens to other processes until ctx ends, or something fails.
	hear func(ctx context.Context, tell func(calendar.Hint)) error
	log  *slog.Logger

	mu       sync.Mutex
	watchers map[*watcher]bool
	// end stops the listening, which goes on as long as somebody watches.
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

// leave ends the listening with the last watcher. Whether there is another one is asked under
// the same lock as whether one listens: a watcher who begins meanwhile has it begin anew.
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

// close ends the listening and waits for that.
func (n *hints) close() {
	n.mu.Lock()
	end := n.take()
	n.mu.Unlock()
	end()
}

// take returns what ends the listening, which is to be called without mu. The caller holds mu.
func (n *hints) take() (end func()) {
	if end, n.end = n.end, nil; end == nil {
		return func() {}
	}
	return end
}

// tell hands a hint to all who watch.
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

// listen begins to listen to other processes; what it returns ends that.
func (n *hints) listen() func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := n.hear(ctx, n.tell); err != nil && ctx.Err() == nil {
				n.log.WarnContext(ctx, "other processes' changes are not heard of now", "err", err)
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

// everything is told where it is not known what changed.
func everything() calendar.Hint { return calendar.Hint{Everything: true} }

// hearFile listens by asking SQLite, over a connection of its own, whether others have written to
// the file. It is told so of this process's own connections, too.
func hearFile(path string) func(context.Context, func(calendar.Hint)) error {
	return func(ctx context.Context, tell func(calendar.Hint)) (err error) {
		db, err := sql.Open("sqlite", dataSource(path, "query_only(1)"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		db.SetMaxOpenConns(1) // the number means something to only one connection
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

// hearChannel listens with LISTEN, over a connection of its own.
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

// takeHints hands on what comes until it is time to ask for more.
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
			hint = everything() // a newer program's
		}
		tell(hint)
	}
}

// announce has other processes told with the commit.
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
