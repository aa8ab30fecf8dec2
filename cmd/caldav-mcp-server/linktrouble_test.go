package main

import (
	"database/sql"
	"net/http"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/linked/rest/resttest"
)

// trouble sets the provider's faults for the next requests.
func (w *linkWalk) trouble() {
	if w.IntN(2) == 0 {
		return
	}
	all := []resttest.Fault{
		{Status: 500},
		{Status: 503},
		{Status: 429},
		{Status: 429, After: 1},
		{Status: 429, After: 60},
		{Status: 401},
		{Lost: true},
		{Half: true},
		{Cut: true},
		{Lost: true, Method: "POST"},
		{Half: true, Method: "POST"},
		{Lost: true, Method: "PATCH"},
		{Half: true, Method: "PATCH"},
		{Lost: true, Method: "DELETE"},
		{Status: 412, Method: "PATCH"},
		{Status: 500, Method: "PATCH"},
		{Cut: true, Method: "POST"},
		{Status: 503, Method: "POST"},
	}
	switch w.IntN(8) {
	case 0:
		w.keys.Expire(w.IntN(3) == 0)
	case 1:
		w.keys.Faults.Add(all[w.IntN(4)], all[w.IntN(9)])
	case 2:
		w.far.forget()
	default:
		for range 1 + w.IntN(2) {
			w.far.troubles().Add(all[w.IntN(len(all))])
		}
	}
}

// killed runs do and kills the server meanwhile: after a delay, or when the provider gets a request, before or after it
// is processed.
func (w *linkWalk) killed(do func()) {
	running := w.c.running
	var once sync.Once
	kill := func() { once.Do(func() { _ = running.kill() }) }
	method := []string{"POST", "PATCH", "DELETE", "GET", ""}[w.IntN(5)]
	switch w.IntN(3) {
	case 0:
		timer := time.AfterFunc(time.Duration(w.IntN(60))*time.Millisecond, kill)
		defer timer.Stop()
	case 1:
		w.far.troubles().Clear()
		w.far.troubles().Add(resttest.Fault{Method: method, First: kill})
	case 2:
		w.far.troubles().Clear()
		w.far.troubles().Add(resttest.Fault{Method: method, Then: kill, Lost: w.IntN(2) == 0})
		if w.IntN(4) == 0 { // the key is used up, and nobody knows the next one
			w.keys.Expire(false)
			w.keys.Faults.Clear()
			w.keys.Add(resttest.Fault{Then: kill})
		}
	}
	do()
	kill()
	w.awake()
}

// awake starts a server where there is none.
func (w *linkWalk) awake() {
	select {
	case <-w.c.gone:
	default:
		return
	}
	w.far.troubles().Clear()
	w.keys.Faults.Clear()
	w.logs.WriteString(w.c.log.String())
	w.counts["kills"]++
	// A dead server's leases expire after seconds; this test waits for that once.
	if w.counts["kills"] > 1 {
		w.inDatabase("DELETE FROM leases")
	}
	w.c = w.c.at(serve(w.T, w.env))
	w.say("the server was killed")
}

// killedInAWrite kills the server in the middle of a write to the provider. After the restart, the first write is
// stored: it waits for the lease of the server that died.
func (w *linkWalk) killedInAWrite() {
	running := w.c.running
	kill := sync.OnceFunc(func() { _ = running.kill() })
	w.far.troubles().Add(resttest.Fault{Method: http.MethodPost, First: kill})
	put := func() int {
		key := w.key()
		text := strings.ReplaceAll(event(key+"@walk", w.ours(key)), "20260301", "20270320")
		return w.dav(http.MethodPut, w.cal+key+".ics", text)
	}
	put()
	kill()
	w.awake()
	status := put()
	if status != http.StatusCreated {
		w.Errorf("the first write after the kill is answered %d: %s", status, w.said.String())
	}
}

// open opens the database beside the server.
func (w *linkWalk) open() *sql.DB {
	driver, at := "pgx", w.database
	if path, is := strings.CutPrefix(at, "sqlite:"); is {
		driver, at = "sqlite", path+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, at)
	if err != nil {
		w.Fatal(err)
	}
	return db
}

func (w *linkWalk) inDatabase(statement string) {
	db := w.open()
	defer db.Close()
	if _, err := db.ExecContext(w.Context(), statement); err != nil {
		w.Fatal(err)
	}
}
