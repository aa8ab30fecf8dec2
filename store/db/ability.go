package db

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Ability is a feature of Postgres that the store can do without.
type Ability struct {
	// Name is the feature, Instead the effect of its absence.
	Name, Instead string
	// Lack is the reason why the server does not have it; nil if it has it.
	Lack error
}

// abilities are these features, each with a statement that fails without it.
var abilities = []struct{ name, probe, instead string }{
	{
		"LISTEN", `LISTEN caldav_mcp_probe; UNLISTEN caldav_mcp_probe`,
		"changes by other servers are noticed up to five seconds late",
	},
	{
		"NOTIFY", `SELECT pg_notify('caldav_mcp_probe', '')`,
		"changes by other servers are noticed up to half a minute late, or five seconds without LISTEN",
	},
	{
		"timelines", `SELECT pg_walfile_name(pg_current_wal_lsn())`,
		"each restart of the database makes clients fetch their listings again, as a failover does",
	},
	{
		"cluster identifiers", `SELECT system_identifier FROM pg_control_system()`,
		"after loading a dump into another server, run `migrate --restored`",
	},
	{
		"progress of CREATE INDEX", `SELECT count(*) FROM pg_stat_progress_create_index`,
		"migrations build their indexes themselves, and changes wait meanwhile",
	},
}

// Abilities tries the features that some databases lack; none on SQLite.
func (d *DB) Abilities(ctx context.Context) (all []Ability, err error) {
	if d.Apart == nil {
		return nil, nil
	}
	err = d.Apart(ctx, func(conn *pgx.Conn) error {
		for _, a := range abilities {
			_, err := conn.Exec(ctx, a.probe)
			if err != nil && !refusedFeature(err) {
				return err
			}
			all = append(all, Ability{a.name, a.instead, err})
		}
		return nil
	})
	return all, err
}
