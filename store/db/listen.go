package db

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// wanted is for how long a process on Postgres asks for hints. It asks again before half of that is over,
	// and then assumes that everything changed: a hint may be missing, as from a transaction that began before
	// any process asked, from a process that was killed after its commit, or through a pooler.
	wanted = time.Minute
	// hintChannel has the schema in its name, because channels belong to the whole database.
	hintChannel = `'caldav_mcp_' || md5(current_schema())`
	// maxHint is the most that Postgres accepts in one notification, less some bytes.
	maxHint = 7500
	// mostHints is how many hints may wait; more become one that anything may have changed.
	mostHints = 100
	// pollPause is how long another process's change may go unnoticed if the database has no LISTEN.
	pollPause = 5 * time.Second
)

// listenOrPoll listens on a separate connection. While that fails although the database answers, it assumes every few
// seconds that everything changed.
func (d *DB) listenOrPoll(config *pgx.ConnConfig) func(context.Context, func(string)) error {
	return func(ctx context.Context, tell func(string)) error {
		err := d.listen(ctx, config, tell)
		for ctx.Err() == nil && d.Ping(ctx) == nil {
			tell("")
			select {
			case <-ctx.Done():
			case <-time.After(pollPause):
			}
			if !refusedFeature(err) {
				break // listening may work again
			}
		}
		return err
	}
}

// listen uses LISTEN.
func (d *DB) listen(ctx context.Context, config *pgx.ConnConfig, tell func(string)) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer closeConn(ctx, conn)
	var channel string
	if err := conn.QueryRow(ctx, `SELECT `+hintChannel).Scan(&channel); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, `LISTEN `+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	for {
		until := d.Now() + int64(wanted/time.Second)
		if _, err := conn.Exec(ctx, `UPDATE meta SET watched = $1
			WHERE id = 1 AND watched < $1`, until); err != nil {
			return err
		}
		tell("")
		if err := takePayloads(ctx, conn, tell); err != nil {
			return err
		}
	}
}

// takePayloads passes on announcements until it is time to ask again.
func takePayloads(ctx context.Context, conn *pgx.Conn, tell func(string)) error {
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
		tell(got.Payload)
	}
}

// NotifyOthers announces a change to other processes after the commit, as JSON. A text that is too long becomes "", as
// if anything may have changed.
func (t *Tx) NotifyOthers(ctx context.Context, change any) error {
	text := t.Of().watched
	if text == "" {
		return nil
	}
	payload, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if len(payload) > maxHint {
		payload = nil
	}
	t.hint = string(payload)
	return t.Later(ctx, func(rows int64, err error) error {
		t.heard = rows > 0
		return err
	}, text, t.db.Now())
}

// announcer sends the hints of committed changes to other processes, while the changes go on. NOTIFY within a
// transaction would let all commits of the database wait for each other, and a database without NOTIFY would refuse
// the change. A lost hint delays a notification until the listeners check everything.
type announcer struct {
	send func(hints []string) error

	mu      sync.Mutex
	waiting []string
	busy    bool
	all     sync.WaitGroup
}

// tell queues a hint. The next message takes all that are queued.
func (a *announcer) tell(hint string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting = append(a.waiting, hint); len(a.waiting) > mostHints {
		a.waiting = []string{""}
	}
	if !a.busy {
		a.busy = true
		a.all.Go(func() {
			for hints := a.take(); hints != nil; hints = a.take() {
				_ = a.send(hints)
			}
		})
	}
}

// take returns the queued hints, or nil at the end.
func (a *announcer) take() (hints []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	hints, a.waiting = a.waiting, nil
	a.busy = hints != nil
	return hints
}

// announce sends hints to the processes that listen.
func (d *DB) announce(hints []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), rollbackTimeout)
	defer cancel()
	list, err := json.Marshal(hints)
	if err == nil {
		_, err = d.Reads.on.ExecContext(ctx, `SELECT pg_notify(`+hintChannel+`, value)
			FROM jsonb_array_elements_text($1::jsonb)`, string(list))
	}
	if err != nil {
		d.Options.Logger.WarnContext(ctx, "other processes notice a change late", "err", err)
	}
	return err
}
