package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"caldav-mcp-server/calendar"
)

// second is a standby of the Postgres, which long questions are asked. It is behind by as long as its replay takes, so each answer
// begins with a look, in the same snapshot, whether it has the calendars as they were when they were looked up at the first.
// See docs/decisions/0083-second-node.md.
type second struct {
	db     *sql.DB
	engine engine
	first  *Store
	// after is time.AfterFunc.
	after func(time.Duration, func()) *time.Timer

	mu     sync.Mutex
	counts map[SecondOutcome]int64
	// down tells that it failed, rests until when it is not asked.
	down  bool
	rests time.Time
}

// SecondOutcome is what came of a question that the second node could have answered. All but the first are answered by the first node.
type SecondOutcome string

// The outcomes there are.
const (
	SecondAnswered SecondOutcome = "answered"
	// SecondBehind has the calendars as they were before, or are by now.
	SecondBehind SecondOutcome = "behind"
	// SecondConflict had to break off for what it replays.
	SecondConflict SecondOutcome = "conflict"
	SecondSlow     SecondOutcome = "slow"
	SecondAway     SecondOutcome = "away"
	// SecondLeads has taken over, or never followed; SecondOther is in another life of the database, or of another one.
	SecondLeads  SecondOutcome = "leads"
	SecondOther  SecondOutcome = "other"
	SecondFailed SecondOutcome = "failed"
	// SecondResting was not asked, since it failed a moment ago.
	SecondResting SecondOutcome = "resting"
)

// SecondOutcomes are all there are.
func SecondOutcomes() []SecondOutcome {
	return []SecondOutcome{
		SecondAnswered, SecondBehind, SecondConflict, SecondSlow, SecondAway, SecondLeads, SecondOther, SecondFailed, SecondResting,
	}
}

// passing are the outcomes after which it is asked again at once.
var passing = []SecondOutcome{SecondAnswered, SecondBehind, SecondConflict}

// secondFaults are the outcomes of what the database says is wrong.
var secondFaults = [len(faults)]SecondOutcome{
	faultConflict: SecondConflict, faultSlow: SecondSlow, faultCut: SecondAway, faultAway: SecondAway,
}

const (
	// secondWait is how long the second node may take to show how it stands; it is waited for in vain once in secondRest.
	secondWait = time.Second
	secondRest = 5 * time.Second
	// secondShare is the part of the time for a statement that it has: afterwards the first still has to answer.
	secondShare = 6

	clusterText = `SELECT system_identifier::text FROM pg_control_system()`

	// standing tells how a standby stands to calendars, $1, of an epoch, $2. Only what is replayed is in the snapshot of one that is
	// in recovery after it was taken. The epoch is compared as it was written, which the first node does at once where a standby took over: the
	// view "life" asks what a standby cannot tell.
	standing = `SELECT CASE WHEN NOT pg_is_in_recovery() THEN 'leads' WHEN epoch <> $2 THEN 'other'
		WHEN EXISTS (SELECT 1 FROM jsonb_to_recordset($1::jsonb) a (id text, version bigint, edition bigint) WHERE NOT EXISTS (
			SELECT 1 FROM calendars c WHERE c.id = a.id AND c.version = a.version AND c.edition = a.edition)) THEN 'behind'
		ELSE 'answered' END FROM meta WHERE id = 1`
)

// errOtherCluster refuses what is no copy of the first node.
var errOtherCluster = errors.New("it belongs to another database cluster, and follows this one never")

// errSecondListens refuses the URL of the first node with another host in it.
var errSecondListens = errors.New("the second node: its URL has " + listenParameter + "= in it, which belongs to the first alone: changes are heard there")

// openSecond connects to the standby of a store. One that is away may come; one of another cluster is refused.
func openSecond(ctx context.Context, s *Store, where string) (*second, error) {
	if _, listen, err := listenAt(where); err != nil || listen != nil {
		return nil, errSecondListens
	}
	config, err := postgresConfig(where, s.options)
	if err != nil {
		return nil, fmt.Errorf("the second node: %w", err)
	}
	share(config)
	n := &second{engine: *s.engine, first: s, after: time.AfterFunc, counts: make(map[SecondOutcome]int64)}
	n.engine.patience /= secondShare
	n.db = stdlib.OpenDB(*config, stdlib.OptionAfterConnect(n.greet))
	bound(n.db, s.options)
	ctx, cancel := context.WithTimeout(ctx, secondWait)
	defer cancel()
	switch err := n.db.PingContext(ctx); {
	case errors.Is(err, errOtherCluster):
		at := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
		return nil, errors.Join(fmt.Errorf("the second node at %s: %w", at, errOtherCluster), n.db.Close())
	case err != nil:
		n.note(ctx, SecondAway, err)
	}
	return n, nil
}

// share has each of several nodes wait for a part of the time that there is, so that one that is silent leaves some to those behind it.
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
		config.ConnectTimeout = min(config.ConnectTimeout, secondWait/time.Duration(len(nodes)))
	}
}

// greet is what each new connection begins with. It writes nothing: what it found may have been promoted.
func (n *second) greet(ctx context.Context, conn *pgx.Conn) error {
	if err := steadied(ctx, conn); err != nil {
		return err
	}
	var there string
	here, err := rowOf(ctx, n.first.reads, scanText, clusterText)
	if err != nil || conn.QueryRow(ctx, clusterText).Scan(&there) != nil {
		return nil //nolint:nilerr // where no cluster tells its name, the epoch alone tells them apart
	}
	if here != there {
		return errOtherCluster
	}
	return nil
}

// ask has the second node answer, and tells whether it did.
func (n *second) ask(ctx context.Context, of []calendar.Calendar, read func(querier) error) bool {
	if !n.awake() {
		return false
	}
	how, err := n.answer(ctx, of, read)
	if ctx.Err() != nil {
		return false
	}
	n.note(ctx, how, err)
	return how == SecondAnswered
}

// awake tells whether it is to be asked. Of one that has failed a single question finds out whether it is there again.
func (n *second) awake() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.first.options.Now()
	if n.down && now.Before(n.rests) {
		n.counts[SecondResting]++
		return false
	}
	n.rests = now.Add(secondRest)
	return true
}

// note counts an outcome, and says so where it is not what it was before.
func (n *second) note(ctx context.Context, how SecondOutcome, err error) {
	n.mu.Lock()
	n.counts[how]++
	was := n.down
	n.down, n.rests = !slices.Contains(passing, how), n.first.options.Now().Add(secondRest)
	is := n.down
	n.mu.Unlock()
	if is && !was {
		n.first.options.Logger.WarnContext(ctx, "the second node does not answer, the first does", "why", string(how), "err", err)
	} else if was && !is {
		n.first.options.Logger.InfoContext(ctx, "the second node answers again")
	}
}

// answer reads in a snapshot that has the calendars as they are given.
func (n *second) answer(asked context.Context, of []calendar.Calendar, read func(querier) error) (SecondOutcome, error) {
	ctx, cancel := context.WithCancel(asked)
	defer cancel()
	hurry := n.after(secondWait, cancel)
	defer hurry.Stop()
	tx, err := n.db.BeginTx(ctx, &n.engine.snapshot)
	if err != nil {
		return n.outcome(ctx, err), err
	}
	defer func() {
		// What was read is read: a node that is gone since then must not keep it.
		hurry.Reset(secondWait)
		_ = tx.Rollback()
	}()
	at := &snapshot{&n.engine, tx}
	how, err := n.stands(ctx, at, of)
	if err == nil && how == SecondAnswered {
		if !hurry.Stop() {
			return SecondSlow, nil // though the context may not have ended yet
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

// stands asks how the node stands to calendars. Those that were looked up in two lives of the database it cannot have.
func (n *second) stands(ctx context.Context, at querier, of []calendar.Calendar) (SecondOutcome, error) {
	type state struct {
		ID      calendar.CalendarID `json:"id"`
		Version calendar.Version    `json:"version"`
		Edition calendar.Edition    `json:"edition"`
	}
	states := make([]state, len(of))
	for i, cal := range of {
		if states[i] = (state{cal.ID, cal.Version, cal.Edition}); cal.Epoch != of[0].Epoch {
			return SecondBehind, nil
		}
	}
	wanted, err := json.Marshal(states)
	if err != nil || len(of) == 0 {
		return SecondBehind, err
	}
	how, err := rowOf(ctx, at, scanText, standing, string(wanted), of[0].Epoch)
	return SecondOutcome(how), err
}

// outcome is what an error comes to. The context ends where the node has not shown itself in time.
func (n *second) outcome(ctx context.Context, err error) SecondOutcome {
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		return SecondSlow
	case errors.Is(err, errOtherCluster):
		return SecondOther
	}
	return cmp.Or(secondFaults[n.engine.fault(err)], SecondFailed)
}

// At implements [calendar.Store].
func (s *Store) At(calendars ...calendar.Calendar) calendar.ObjectReader {
	if s.second == nil {
		return s.objectReader
	}
	left := false
	return objectReader{s.engine, func(ctx context.Context, read func(querier) error) error {
		if !left && s.second.ask(ctx, calendars, read) {
			return nil
		}
		// What comes next must not be of a moment before what the first node says now.
		left = true
		return read(s.reads)
	}}
}

// SecondBehind asks the second node how many bytes of changes it has not replayed yet. One that does not follow the first is an error.
func (s *Store) SecondBehind(ctx context.Context) (int64, error) {
	var stands struct{ epoch, replayed string }
	err := s.second.db.QueryRowContext(ctx, `SELECT epoch, CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text ELSE '' END
		FROM meta WHERE id = 1`).Scan(&stands.epoch, &stands.replayed)
	if err != nil {
		return 0, err
	}
	epoch, err := s.Epoch(ctx)
	switch {
	case err != nil:
		return 0, err
	case stands.replayed == "":
		return 0, errors.New("it is no standby, or none any more")
	case string(epoch) != stands.epoch:
		return 0, errors.New("it does not know the present life of the database: it follows another node, or is far behind")
	}
	return rowOf(ctx, s.reads, scanNumber, `SELECT GREATEST(pg_wal_lsn_diff(pg_current_wal_lsn(), $1::pg_lsn), 0)::bigint`, stands.replayed)
}

// Second tells what became of the questions that a second node could have answered; nothing where there is none.
func (s *Store) Second() map[SecondOutcome]int64 {
	if s.second == nil {
		return nil
	}
	n := s.second
	n.mu.Lock()
	defer n.mu.Unlock()
	counts := make(map[SecondOutcome]int64, len(n.counts))
	for _, how := range SecondOutcomes() {
		counts[how] = n.counts[how]
	}
	return counts
}
