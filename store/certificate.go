package store

import (
	"context"
	"time"

	"caldav-mcp-server/store/db"
)

// Certificate returns the data that the ACME client stored under a name, and its time; nil if there is none.
func (s serverStore) Certificate(ctx context.Context, name string) (data []byte, changed time.Time, err error) {
	data, err = db.RowOrNone(ctx, s.db.Reads, db.Beside(db.ScanBytes, db.Seconds(&changed)), `SELECT data, changed FROM certificates WHERE name = $1`, name)
	return data, changed, err
}

// KeepCertificate stores data under a name.
func (s serverStore) KeepCertificate(ctx context.Context, name string, data []byte) error {
	return s.run(ctx, `INSERT INTO certificates (name, changed, data) VALUES ($1, $2, $3)
		ON CONFLICT (name) DO UPDATE SET changed = excluded.changed, data = excluded.data`, name, s.now(), data)
}

// DropCertificate deletes the data under a name.
func (s serverStore) DropCertificate(ctx context.Context, name string) error {
	return s.run(ctx, `DELETE FROM certificates WHERE name = $1`, name)
}
