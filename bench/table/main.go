// Command table prints the speed of the server on both engines, together with the limits of this machine and with other
// running CalDAV servers, all measured in one run:
//
//	go run ./bench/table [-duration 1s] [-rounds 3] [-objects 1000] [-rows REGEXP]
//		[-peer NAME=http://USER:PASSWORD@HOST/HOME/]…
//
// Each row is a kind of request, and every response is checked. Within a round, each row runs on all servers in turn;
// the table has the medians of the rounds. Without Postgres' programs it leaves out Postgres.
package main

import (
	"bufio"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"caldav-mcp-server/internal/pgtest"
)

type options struct {
	duration        time.Duration
	rounds, objects int
	rows            *regexp.Regexp
	peers           []*target
}

func main() {
	if os.Getenv("BENCH_TABLE_HOLD") != "" {
		hold()
		return
	}
	o := options{rows: regexp.MustCompile("")}
	flag.DurationVar(&o.duration, "duration", time.Second, "how long each figure of each round is measured")
	flag.IntVar(&o.rounds, "rounds", 3, "number of rounds; the table shows their medians")
	flag.IntVar(&o.objects, "objects", 1000, "events in the calendar, a multiple of four")
	flag.Func("rows",
		"measure those rows alone whose names match; the import always runs", func(text string) (err error) {
			o.rows, err = regexp.Compile(text)
			return err
		})
	flag.Func("peer", "another server, NAME=http://USER:PASSWORD@HOST/HOME/; the calendar "+calendarName+
		" is created there; repeatable", func(text string) error {
		p, err := peer(text)
		o.peers = append(o.peers, p)
		return err
	})
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "table:", err)
		os.Exit(1)
	}
}

// peer parses a server's address.
func peer(text string) (*target, error) {
	name, address, _ := strings.Cut(text, "=")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User == nil || !strings.HasSuffix(u.Path, "/") {
		return nil, errors.New("it is NAME=http://USER:PASSWORD@HOST/HOME/")
	}
	password, _ := u.User.Password()
	return &target{
		name: name, url: u.Scheme + "://" + u.Host, home: u.Path, user: u.User.Username(), password: password,
	}, nil
}

func run(ctx context.Context, o options) (err error) {
	if o.objects < 200 || o.objects%4 != 0 {
		return errors.New("-objects is a multiple of four, at least 200")
	}
	dir, err := os.MkdirTemp("", "bench-table")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "caldav-mcp-server")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/caldav-mcp-server")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the server: %w", err)
	}
	engines, database, stop, err := databases(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var targets []*target
	for _, engine := range engines {
		t, end, err := serve(ctx, binary, engine.name, engine.url)
		if err != nil {
			return fmt.Errorf("%s: %w", engine.name, err)
		}
		defer end()
		targets = append(targets, t)
	}
	figures, err := measure(ctx, o, append(targets, o.peers...), limitsOf(dir, database))
	if err != nil {
		return err
	}
	_, err = os.Stdout.WriteString(figures.tables())
	return err
}

type engine struct{ name, url string }

// databases starts a Postgres with fsync on, if the programs exist. It has one database for the store, and one for
// measuring commits.
func databases(ctx context.Context) (engines []engine, limits string, stop func() error, err error) {
	engines = []engine{{name: "sqlite"}}
	server, err := pgtest.Start(ctx, pgtest.Options{Durable: true})
	if errors.Is(err, pgtest.ErrNoPostgres) {
		fmt.Fprintln(os.Stderr, "table: SQLite alone:", err)
		return engines, "", func() error { return nil }, nil
	}
	if err != nil {
		return nil, "", nil, err
	}
	stop = server.Stop
	admin := server.URL()
	db, err := sql.Open("pgx", admin)
	if err == nil {
		_, err = db.ExecContext(ctx, "CREATE DATABASE limits")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return nil, "", nil, errors.Join(err, stop())
	}
	u, err := url.Parse(admin)
	if err != nil {
		return nil, "", nil, errors.Join(err, stop())
	}
	u.Path = "/limits"
	return append(engines, engine{"postgres", admin}), u.String(), stop, nil
}

// serve starts the server on a new store, until end is called.
func serve(ctx context.Context, binary, name, database string) (t *target, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	c := exec.CommandContext(ctx, "compat/with-server", binary, self)
	c.Env = append(os.Environ(), "BENCH_TABLE_HOLD=1", fmt.Sprintf("COMPAT_CROWD=%d", crowd), "DATABASE_URL="+database,
		"LOG_LEVEL=warn")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	end = func() { _ = in.Close(); _ = c.Wait() }
	var told held
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err = cmp.Or(err, json.Unmarshal(line, &told)); err != nil {
		end()
		return nil, nil, fmt.Errorf("the server did not start: %w", err)
	}
	return &target{
		name: name, url: strings.TrimSuffix(told.URL, "/"), home: "/dav/calendars/" + told.User + "/", user: told.User,
		password: told.Password, crowd: crowd,
	}, end, nil
}

// held is the output of hold.
type held struct{ URL, User, Password string }

// hold is for this program as the command of compat/with-server: it prints the server's address, and stays until
// its input is closed.
func hold() {
	_ = json.NewEncoder(os.Stdout).Encode(held{
		os.Getenv("COMPAT_CALDAV"), os.Getenv("COMPAT_USER"), os.Getenv("COMPAT_PASSWORD"),
	})
	_, _ = bufio.NewReader(os.Stdin).ReadBytes('\n')
}
