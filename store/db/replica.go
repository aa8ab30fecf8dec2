package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// replica is a read replica that answers large reads. It lags by its replay, so each read first checks, in the
// same snapshot, whether the replica has the state that the primary returned. See
// docs/decisions/0083-second-node.md.
type replica struct {
	Pool    *sql.DB
	Engine  Engine
	primary *DB
	// After is time.AfterFunc.
	After func(time.Duration, func()) *time.Timer

	mu     sync.Mutex
	counts map[ReplicaOutcome]int64
	// down is set after a failure, rests is until when the replica is not asked.
	down        bool
	pausedUntil time.Time
}

// ReplicaOutcome is the outcome of a read that the replica could have answered. All but the first are answered
// by the primary.
type ReplicaOutcome string

// The possible outcomes.
const (
	ReplicaAnswered ReplicaOutcome = "answered"
	// ReplicaBehind means that the replica has an older state, or a newer one.
	ReplicaBehind ReplicaOutcome = "behind"
	// ReplicaConflict means that replay canceled the read.
	ReplicaConflict ReplicaOutcome = "conflict"
	ReplicaSlow     ReplicaOutcome = "slow"
	ReplicaAway     ReplicaOutcome = "away"
	// ReplicaPrimary means that it was promoted, or never was a standby; ReplicaOther that it has another epoch, or
	// belongs to another cluster.
	ReplicaPrimary ReplicaOutcome = "leads"
	ReplicaOther   ReplicaOutcome = "other"
	ReplicaFailed  ReplicaOutcome = "failed"
	// ReplicaPaused means that it was not asked, since it failed a moment ago.
	ReplicaPaused ReplicaOutcome = "resting"
)

// ReplicaOutcomes returns all outcomes.
func ReplicaOutcomes() []ReplicaOutcome {
	return []ReplicaOutcome{
		ReplicaAnswered, ReplicaBehind, ReplicaConflict, ReplicaSlow, ReplicaAway, ReplicaPrimary, ReplicaOther,
		ReplicaFailed, ReplicaPaused,
	}
}

// passing are the outcomes that do not pause the replica.
var passing = []ReplicaOutcome{ReplicaAnswered, ReplicaBehind, ReplicaConflict}

// replicaFaults maps database faults to outcomes.
var replicaFaults = [len(faults)]ReplicaOutcome{
	faultConflict: ReplicaConflict, faultSlow: ReplicaSlow, faultCut: ReplicaAway, faultAway: ReplicaAway,
}

const (
	// replicaWait is how long the replica may take to report its state.
	replicaWait = time.Second
	// ReplicaPause is how long it is not asked after a timeout.
	ReplicaPause = 5 * time.Second
	// replicaShare is its part of the statement timeout: the primary must still have time to answer.
	replicaShare = 6

	clusterText = `SELECT system_identifier::text FROM pg_control_system()`
)

// ErrOtherCluster refuses a server that is no copy of the primary.
var ErrOtherCluster = errors.New("it belongs to another database cluster, so it cannot be a replica of this one")

// ErrReplicaListens refuses a URL with listen=, copied from the primary's with only the host replaced.
var ErrReplicaListens = errors.New("the read replica: its URL has " + listenParameter + "=, which belongs in the URL " +
	"of the primary only")

// openReplica connects to the replica of a store. One that is away may return; one of another cluster is
// refused.
func openReplica(ctx context.Context, d *DB, where string) (*replica, error) {
	if _, listen, err := listenAt(where); err != nil || listen != nil {
		return nil, ErrReplicaListens
	}
	config, err := postgresConfig(where, d.Options)
	if err != nil {
		return nil, fmt.Errorf("the read replica: %w", err)
	}
	share(config)
	n := &replica{Engine: *d.Engine, primary: d, After: time.AfterFunc, counts: make(map[ReplicaOutcome]int64)}
	n.Engine.Patience /= replicaShare
	n.Pool = stdlib.OpenDB(*config, stdlib.OptionAfterConnect(n.prepareConn))
	bound(n.Pool, d.Options)
	ctx, cancel := context.WithTimeout(ctx, replicaWait)
	defer cancel()
	switch err := n.Pool.PingContext(ctx); {
	case errors.Is(err, ErrOtherCluster):
		at := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
		return nil, errors.Join(fmt.Errorf("the read replica at %s: %w", at, ErrOtherCluster), n.Pool.Close())
	case err != nil:
		n.note(ctx, ReplicaAway, err)
	}
	return n, nil
}

// share divides the connect timeout among several hosts, so that a silent one leaves time for the next.
func share(config *pgx.ConnConfig) {
	type address struct {
		host string
		port uint16
	}
	nodes := map[address]bool{{config.Host, config.Port}: true}
	for _, one := range config.Fallbacks {
		nodes[address{one.Host, one.Port}] = true
	}
	if len(nodes) > 1 {
		config.ConnectTimeout = min(config.ConnectTimeout, replicaWait/time.Duration(len(nodes)))
	}
}

// prepareConn prepares each new connection. It writes nothing: the server may have been promoted.
func (n *replica) prepareConn(ctx context.Context, conn *pgx.Conn) error {
	if err := setPlanner(ctx, conn); err != nil {
		return err
	}
	var there string
	here, err := RowOf(ctx, n.primary.Reads, ScanText, clusterText)
	if err != nil || conn.QueryRow(ctx, clusterText).Scan(&there) != nil {
		return nil //nolint:nilerr // where no cluster tells its name, the epoch alone tells them apart
	}
	if here != there {
		return ErrOtherCluster
	}
	return nil
}

// StateCheck asks whether a snapshot of the replica has the wanted state; then the outcome is ReplicaAnswered.
type StateCheck func(ctx context.Context, at Querier) (ReplicaOutcome, error)

// Ask lets the replica answer, and reports whether it did.
func (n *replica) Ask(ctx context.Context, stands StateCheck, read func(Querier) error) bool {
	if !n.awake() {
		return false
	}
	how, err := n.Answer(ctx, stands, read)
	if ctx.Err() != nil {
		return false
	}
	n.note(ctx, how, err)
	return how == ReplicaAnswered
}

// awake reports whether to ask the replica. After a failure, one read at a time tries whether it is back.
func (n *replica) awake() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.primary.Options.Now()
	if n.down && now.Before(n.pausedUntil) {
		n.counts[ReplicaPaused]++
		return false
	}
	n.pausedUntil = now.Add(ReplicaPause)
	return true
}

// note counts an outcome, and logs when the replica fails or returns.
func (n *replica) note(ctx context.Context, how ReplicaOutcome, err error) {
	n.mu.Lock()
	n.counts[how]++
	was := n.down
	n.down, n.pausedUntil = !slices.Contains(passing, how), n.primary.Options.Now().Add(ReplicaPause)
	is := n.down
	n.mu.Unlock()
	if is && !was {
		n.primary.Options.Logger.WarnContext(ctx, "the read replica does not answer; reading from the primary", "why",
			string(how), "err", err)
	} else if was && !is {
		n.primary.Options.Logger.InfoContext(ctx, "the read replica answers again")
	}
}

// Answer reads in a snapshot with the wanted state.
func (n *replica) Answer(asked context.Context, stands StateCheck, read func(Querier) error) (ReplicaOutcome, error) {
	ctx, cancel := context.WithCancel(asked)
	defer cancel()
	hurry := n.After(replicaWait, cancel)
	defer hurry.Stop()
	tx, err := n.Pool.BeginTx(ctx, &n.Engine.snapshot)
	if err != nil {
		return n.outcome(ctx, err), err
	}
	defer func() {
		// The read is done; a replica that dies now must not delay its result.
		hurry.Reset(replicaWait)
		_ = tx.Rollback()
	}()
	at := &Snapshot{&n.Engine, tx}
	how, err := stands(ctx, at)
	if err == nil && how == ReplicaAnswered {
		if !hurry.Stop() {
			return ReplicaSlow, nil // even if the context has not ended yet
		}
		err = read(at)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return n.outcome(ctx, err), err
	}
	return how, nil
}

// outcome maps an error to an outcome. The context ends if the replica did not report its state in time.
func (n *replica) outcome(ctx context.Context, err error) ReplicaOutcome {
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return ReplicaSlow
	case errors.Is(err, ErrOtherCluster):
		return ReplicaOther
	}
	return cmp.Or(replicaFaults[n.Engine.fault(err)], ReplicaFailed)
}

// ReplicaLag returns how many bytes of changes the replica has not replayed yet. It fails if the replica does
// not follow the primary, whose epoch is given.
func (d *DB) ReplicaLag(ctx context.Context, epoch func(context.Context) (string, error)) (int64, error) {
	var stands struct{ epoch, replayed string }
	err := d.Replica.Pool.QueryRowContext(ctx, `SELECT epoch, CASE WHEN pg_is_in_recovery()
		THEN pg_last_wal_replay_lsn()::text ELSE '' END
		FROM meta WHERE id = 1`).Scan(&stands.epoch, &stands.replayed)
	if err != nil {
		return 0, err
	}
	current, err := epoch(ctx)
	switch {
	case err != nil:
		return 0, err
	case stands.replayed == "":
		return 0, errors.New("it is not a standby, or was promoted")
	case current != stands.epoch:
		return 0, errors.New("it does not have the current epoch of the database: it follows another server, " +
			"or is far behind")
	}
	return RowOf(ctx, d.Reads, ScanNumber,
		`SELECT GREATEST(pg_wal_lsn_diff(pg_current_wal_lsn(), $1::pg_lsn), 0)::bigint`, stands.replayed)
}

// ReplicaOutcomes counts the outcomes of the reads that a replica could have answered; nil without a replica.
func (d *DB) ReplicaOutcomes() map[ReplicaOutcome]int64 {
	if d.Replica == nil {
		return nil
	}
	n := d.Replica
	n.mu.Lock()
	defer n.mu.Unlock()
	counts := make(map[ReplicaOutcome]int64, len(n.counts))
	for _, how := range ReplicaOutcomes() {
		counts[how] = n.counts[how]
	}
	return counts
}
