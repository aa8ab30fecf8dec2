package db

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// wanted is for how long a process on Postgres asks for hints. It asks again before half of that is over,
	// and then assumes that everything changed: a hint may be missing, as from a transaction that began before
	// any process asked, or through a pooler.
	wanted = time.Minute
	// hintChannel has the schema in its name, because channels belong to the whole database.
	hintChannel = `'caldav_mcp_' || md5(current_schema())`
	// maxHint is the most that Postgres accepts in one notification, less some bytes.
	maxHint = 7500
)

// listenChannel uses LISTEN on a separate connection.
func listenChannel(now func() int64, config *pgx.ConnConfig) func(context.Context, func(string)) error {
	return func(ctx context.Context, tell func(string)) error {
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
			until := now() + int64(wanted/time.Second)
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

// NotifyOthers announces a change to other processes at the commit, as JSON, or the shorter text if that is too long.
func (t *Tx) NotifyOthers(ctx context.Context, change any, shorter string) error {
	text := t.Of().announce
	if text == "" {
		return nil
	}
	payload, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if len(payload) > maxHint {
		payload = []byte(shorter)
	}
	return t.Later(ctx, Ignore, text, string(payload), t.db.Now())
}
