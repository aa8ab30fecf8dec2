package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
)

const (
	// tightMemory is the memory limit of a server while memory is short.
	tightMemory = 128 << 20
	// sayAgain is longer than the interval in which servers do not repeat a log message.
	sayAgain = 15 * time.Second
	// fewFiles is how many descriptors one may have while they are short, many how many connections strangers then
	// hold.
	fewFiles, many = 64, 120
)

// harm is something that comes over the servers while they are written to.
type harm struct {
	name string
	does func(*torture)
	// says matches the log message about the fault.
	says string
	// needs reports whether the fault can occur in this run; nil means in any.
	needs func(*torture) bool
}

var harms = []harm{
	{name: "a server is killed", does: func(x *torture) {
		x.replace(x.t, x.random.IntN(2), true, x.some(300),
			console.Program)
	}},
	{name: "all servers are killed", does: (*torture).killAll},
	{name: "a server is stopped", does: func(x *torture) {
		x.replace(x.t, x.random.IntN(2), false, x.some(300),
			console.Program)
	}, says: `"msg":"stopping"`},
	{name: "a server is frozen", does: (*torture).freeze},
	{name: "Postgres is killed", does: (*torture).killPostgres, needs: func(x *torture) bool {
		return x.db != nil
	}, says: `"why":"the (connection to the database was lost|database cannot be reached)"`},
	{name: "the disk is full", does: (*torture).fillDisk, needs: func(x *torture) bool {
		return x.bounded
	}, says: `"level":"ERROR","msg":"the database failed","why":"the disk of the database is full"`},
	{name: "descriptors are short", does: (*torture).takeDescriptors, says: "too many open files"},
	{name: "memory is short", does: (*torture).takeMemory},
	{name: "some read and write slowly", does: (*torture).dawdle},
	{name: "bodies are hostile", does: (*torture).hostileBodies},
	{name: "many write", does: (*torture).crowdIn},
	{name: "the trash is emptied", does: (*torture).emptyTrash},
}

// some is a time of up to so many milliseconds.
func (x *torture) some(ms int) time.Duration {
	return time.Duration(x.random.IntN(ms)+1) * time.Millisecond
}

func (x *torture) killAll() {
	for n := range x.servers {
		if err := x.server(n).kill(); err != nil {
			x.t.Fatal(err)
		}
	}
	for n := range x.servers {
		x.replace(x.t, n, true, 0, console.Program)
	}
}

func (x *torture) freeze() {
	c := x.anyServer(x.random)
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := c.cmd.Process.Signal(signal); err != nil {
			x.t.Fatal(err)
		}
		_ = idle(x.t.Context(), time.Second)
	}
}

func (x *torture) killPostgres() {
	if err := x.db.Kill(); err != nil {
		x.t.Fatal(err)
	}
	_ = idle(x.t.Context(), x.some(800))
	if err := x.db.Restart(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
}

// fillDisk takes all there is, until a writer was told, and gives it back. That a writer hears nothing may have other
// reasons, and says nothing of the disk.
func (x *torture) fillDisk() {
	told := x.ledger.counts[turnedDown].Load()
	var taken []string
	defer func() {
		for _, f := range taken {
			if err := os.Remove(f); err != nil {
				x.t.Error(err)
			}
		}
	}()
	until(x.t, "a writer hears of the full disk", func() bool {
		taken = append(taken, x.takeDisk()...) // what the engine gives back meanwhile as well
		return x.ledger.counts[turnedDown].Load() > told
	})
	for n := range x.servers { // reading goes on, unless the engine itself is gone
		c := x.server(n)
		if a, err := c.dav(x.t.Context(), "PROPFIND", home+calendars[0]+"/", "", "Depth", "1"); x.db == nil &&
			(err != nil || a.status != http.StatusMultiStatus) {
			x.t.Errorf("on a full disk a listing is answered %d, %v", a.status, err)
		}
	}
	_ = idle(x.t.Context(), x.some(500))
}

// takeDisk writes files until there is no room for another byte, and names them.
func (x *torture) takeDisk() (files []string) {
	f, err := os.CreateTemp(x.disk, "ballast-")
	if err != nil {
		return nil
	}
	defer f.Close()
	for piece := make([]byte, 1<<20); len(piece) > 0; {
		if n, err := f.Write(piece); err != nil || n < len(piece) {
			piece = piece[:len(piece)/2]
		}
	}
	return []string{f.Name()}
}

// revivePostgres starts Postgres again where it has ended itself, as it does when there is no room for its log.
func (x *torture) revivePostgres() {
	db, err := sql.Open("pgx", x.db.URL())
	if err != nil {
		x.t.Fatal(err)
	}
	defer db.Close()
	for tries := 0; ; tries++ {
		if err = db.PingContext(x.t.Context()); err == nil {
			return
		}
		if tries == 20 {
			x.t.Logf("Postgres is started again: %v", err)
			if err := x.db.Restart(x.t.Context()); err != nil {
				x.t.Fatal(err)
			}
			return
		}
		_ = idle(x.t.Context(), 100*time.Millisecond)
	}
}

// takeDescriptors leaves a running server few, and holds connections that say nothing.
func (x *torture) takeDescriptors() {
	c := x.anyServer(x.random)
	limit := func(files string) {
		if out, err := exec.CommandContext(x.t.Context(), "prlimit", "--pid", fmt.Sprint(c.cmd.Process.Pid),
			"--nofile="+files).CombinedOutput(); err != nil {
			x.t.Fatalf("prlimit: %v\n%s", err, out)
		}
	}
	limit(fmt.Sprint(fewFiles, ":"))
	var held []net.Conn
	for range many {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(x.t.Context(), "tcp", c.addrs[caldavDoor])
		if err != nil {
			break
		}
		held = append(held, conn)
	}
	until(x.t, "the server says that it has no descriptors", func() bool {
		return strings.Contains(c.running.log.String(), "too many open files")
	})
	_ = idle(x.t.Context(), x.some(1000))
	for _, conn := range held {
		_ = conn.Close()
	}
	limit("4096:")
}

// takeMemory restarts a server with little memory, and sends requests that need much.
func (x *torture) takeMemory() {
	n := x.random.IntN(2)
	shell := filepath.Join(x.t.TempDir(), "tight")
	// a Go program reserves much more than it uses
	bound := fmt.Sprintf("GOMEMLIMIT=%d; export GOMEMLIMIT; ulimit -v %d", tightMemory, 2<<20)
	if x.group != "" {
		bound = "echo $$ >" + filepath.Join(x.group, "cgroup.procs")
	}
	if err := os.WriteFile(shell, []byte("#!/bin/sh\n"+bound+" || exit 1\nexec "+console.Program+" \"$@\"\n"),
		0o700); err != nil {
		x.t.Fatal(err)
	}
	x.replace(x.t, n, false, 0, shell)
	c := x.server(n)
	stranger := c
	stranger.user, stranger.pass, stranger.tok = "admin2", "guess", "guess"
	size := 3 << 20
	if x.db == nil {
		size = 64 << 10 // its file lies on a disk in memory, which counts as the server's
	}
	large := event("large", "large v1\r\nDESCRIPTION:"+strings.Repeat("x", size))
	ctx, cancel := context.WithTimeout(x.t.Context(), 3*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				switch i % 3 {
				case 0:
					guess := stranger
					guess.user = fmt.Sprint("nobody", i, k)
					_, _ = guess.dav(ctx, "PROPFIND", "/dav/", "")
				case 1:
					_, _ = c.dav(ctx, http.MethodPut, home+hostile+"/large"+fmt.Sprint(i)+".ics",
						strings.Replace(large, "UID:large", fmt.Sprint("UID:large", i), 1))
				default:
					_, _ = c.dav(ctx, http.MethodGet, home+hostile+"/large"+fmt.Sprint(i-1)+".ics", "")
				}
				_ = idle(ctx, pause)
			}
		})
	}
	all.Wait()
	for i := range 24 { // the disk is small
		_, _ = c.dav(x.t.Context(), http.MethodDelete, home+hostile+"/large"+fmt.Sprint(i)+".ics", "")
	}
	x.forget()
	select {
	case <-c.gone:
		x.t.Fatalf("with %d MiB the server ended: %v\n%s", tightMemory>>20, c.failure, lastLines(c))
	default:
	}
	x.replace(x.t, n, false, 0, console.Program)
}

// dawdle opens connections that send and read a byte now and then; others go on beside.
func (x *torture) dawdle() {
	c := x.anyServer(x.random)
	was := x.ledger.counts[acknowledged].Load()
	var held []net.Conn
	basic, err := http.NewRequestWithContext(x.t.Context(), http.MethodGet, "/", nil)
	if err != nil {
		x.t.Fatal(err)
	}
	basic.SetBasicAuth(c.user, c.pass)
	head := " HTTP/1.1\r\nHost: x\r\nAuthorization: " + basic.Header.Get("Authorization") +
		"\r\nContent-Type: application/xml\r\n"
	query := `<sync-collection xmlns="DAV:"><sync-token/><sync-level>1</sync-level><prop><c:calendar-data ` +
		`xmlns:c="urn:ietf:params:xml:ns:caldav"/></prop></sync-collection>`
	for i := range 60 {
		conn, err := new(net.Dialer).DialContext(x.t.Context(), "tcp", c.addrs[caldavDoor])
		if err != nil {
			x.t.Fatal(err)
		}
		held = append(held, conn)
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		_, _ = io.WriteString(conn, [...]string{
			"GET /dav/", // a head that does not end
			// a body that does not end
			"PUT " + home + hostile + "/slow.ics" + head + "Content-Length: 100000\r\n\r\nBEGIN:VCAL",
			// answers that nobody reads
			strings.Repeat(fmt.Sprintf("REPORT %s%s/%sContent-Length: %d\r\n\r\n%s", home, calendars[i%2], head,
				len(query), query), 20),
		}[i%3])
	}
	_ = idle(x.t.Context(), x.some(2000)+time.Second)
	for _, conn := range held {
		_ = conn.Close()
	}
	if x.ledger.counts[acknowledged].Load() == was {
		x.t.Error("beside those that are slow nobody could write")
	}
}

// forget empties the trash.
func (x *torture) forget() { call(x.t, x.env, "", "trash", "empty", "--user", "admin", "--yes") }

// emptyTrash does so again and again, while events are deleted and come back.
func (x *torture) emptyTrash() {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		x.forget()
	}
}

// crowdIn has many more write for a while, to one calendar and to one event.
func (x *torture) crowdIn() {
	ctx, cancel := context.WithTimeout(x.t.Context(), 2*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				x.crowd.still.RLock()
				x.shared.step(context.WithoutCancel(ctx), x.arena, x.server(n%len(x.servers)))
				x.crowd.still.RUnlock()
			}
		})
	}
	all.Wait()
}
