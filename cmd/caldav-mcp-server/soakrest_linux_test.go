package main

import (
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// restFor is longer than an unused connection to the database is kept.
const restFor = 5*time.Minute + 30*time.Second

// rested is what a server takes after a pause without clients.
type rested struct {
	name string
	// memory is in kilobytes; anonymous is what maps no file.
	memory, anonymous, descriptors, goroutines int
	// switches is how often a thread began to wait, wakeUps how often the process began to work after a rest, both for
	// each second.
	switches, wakeUps float64
	// core is the share of a core.
	core               float64
	bytes, wal, unused int64
	rows               map[string]int64
	writes             int64
}

// rest keeps all users away for a while, and measures.
func (s *soak) rest(name string) (m rested) {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.http.CloseIdleConnections()
	window := min(time.Minute, s.length/40)
	_ = idle(s.Context(), min(restFor, s.length/20))
	r := s.server.Load()
	process := filepath.Join("/proc", strconv.Itoa(r.cmd.Process.Pid))
	m = rested{name: name, writes: s.writes.Load()}
	m.watch(s.T, r, process, window)
	m.memory, m.anonymous = status(s.T, process, "VmRSS"), status(s.T, process, "RssAnon")
	files, err := os.ReadDir(filepath.Join(process, "fd"))
	if err != nil {
		s.Fatal(err)
	}
	m.descriptors = len(files)
	page, err := client{running: r, http: http.DefaultClient}.send(s.Context(), http.MethodGet,
		"http://"+r.addrs[metricsDoor]+"/metrics", "")
	if err != nil {
		s.Fatal(err)
	}
	_, text, _ := strings.Cut(page.body, "\ngo_goroutines ")
	text, _, _ = strings.Cut(text, "\n")
	if m.goroutines, err = strconv.Atoi(text); err != nil {
		s.Fatal(err)
	}
	m.look(s.T, s.database)
	s.Logf("%s, at %v: %d kB of memory (%d anonymous), %d descriptors, %d goroutines, %.1f switches and %.2f "+
		"wake-ups a second, %.2f %% of a core, database %d kB (unused %d), WAL %d kB, after %d changes\n%s", name,
		time.Since(s.began).Round(time.Second), m.memory, m.anonymous, m.descriptors, m.goroutines, m.switches,
		m.wakeUps, 100*m.core, m.bytes/1000, m.unused/1000, m.wal/1000, m.writes, m.table())
	return m
}

// watch counts wake-ups for a while. The process is at rest if for 10 ms no thread of it has begun to wait: a thread
// that works waits again soon. Go's own thread that watches the others naps many times within one wake-up.
func (m *rested) watch(t *testing.T, r *running, process string, window time.Duration) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	began, ticked, before := time.Now(), processor(t, r), switches(t, process)
	last, atRest, woke := before, false, 0
	for time.Since(began) < window {
		<-ticker.C
		now := switches(t, process)
		if now != last && atRest {
			woke++
		}
		last, atRest = now, now == last
	}
	seconds := time.Since(began).Seconds()
	m.switches, m.wakeUps = float64(last-before)/seconds, float64(woke)/seconds
	m.core = (processor(t, r) - ticked).Seconds() / seconds
}

// switches counts how often the threads of a process began to wait.
func switches(t *testing.T, process string) (n int) {
	t.Helper()
	tasks, err := filepath.Glob(filepath.Join(process, "task", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		n += status(t, task, "voluntary_ctxt_switches")
	}
	return n
}

// status is a number in the status of a process or thread.
func status(t *testing.T, task, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(task, "status"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut("\n"+string(text), "\n"+name+":")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// look measures the database.
func (m *rested) look(t *testing.T, database string) {
	t.Helper()
	path, isFile := strings.CutPrefix(database, "sqlite:")
	driver, source := "pgx", database
	tables := `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`
	if isFile {
		driver, source = "sqlite", path
		tables = `SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'`
		m.bytes, m.wal = sizeOf(t, path), sizeOf(t, path+"-wal")
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	number := func(query string) (n int64) {
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return n
	}
	if isFile {
		m.unused = number(`SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`)
	} else {
		if _, err := db.ExecContext(t.Context(), "VACUUM"); err != nil {
			t.Fatal(err)
		}
		m.bytes = number(`SELECT pg_database_size(current_database())`)
	}
	rows, err := db.QueryContext(t.Context(), tables)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	m.rows = map[string]int64{}
	for _, name := range names {
		m.rows[name] = number(`SELECT count(*) FROM "` + name + `"`)
	}
}

// table is the number of rows by table, as far as there are any.
func (m *rested) table() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(m.rows)) {
		if m.rows[name] > 0 {
			fmt.Fprintf(&text, "%s=%d ", name, m.rows[name])
		}
	}
	return text.String()
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return file.Size()
}

const (
	// A change adds a line to the journal, and an old version of the event or its tombstone: both are kept for
	// JOURNAL_DAYS, which is longer than the test. SQLite keeps 4 MB of free space, Postgres reserves some.
	bytesPerChange, spareBytes = 2000, 8 << 20
	// walBytes is the journal_size_limit of SQLite.
	walBytes = 64 << 20
	// mostWakeUps is for each second. There are more if tasks look for work each at a time of its own.
	mostWakeUps = 2
)

// histories are the tables that keep what was, so that they have a row or less for each change.
var histories = []string{"journal", "objects", "search_rows", "search_words_", "inbox_items", "told"}

// compare judges the end by the beginning of the last part, and by the first rest, which another process took.
func (m *rested) compare(s *soak, first, warm rested) {
	writes := m.writes - first.writes
	s.Logf("in the last part, the database grew by %d kB in %d changes", (m.bytes-first.bytes)/1000, writes)
	for _, name := range slices.Sorted(maps.Keys(m.rows)) {
		grown := m.rows[name] - first.rows[name]
		if grown == 0 {
			continue
		}
		s.Logf("%s: %d rows more, %.2f for each change", name, grown, float64(grown)/float64(max(1, writes)))
		limit := 50 + first.rows[name]/50
		if slices.ContainsFunc(histories, func(h string) bool { return strings.HasPrefix(name, h) }) {
			limit += writes * 3 / 2
		}
		if grown > limit {
			s.Errorf("the table %s grew by %d rows", name, grown)
		}
	}
	if m.bytes > first.bytes+writes*bytesPerChange+spareBytes || m.wal > walBytes+spareBytes {
		s.Errorf("the database has %d kB and %d kB of WAL, it had %d kB", m.bytes/1000, m.wal/1000, first.bytes/1000)
	}
	if s.length < 20*restFor {
		s.Log("the rests were too short to compare memory, descriptors and wake-ups")
		return
	}
	if m.wakeUps > mostWakeUps {
		s.Errorf("at rest, the server woke up %.1f times a second", m.wakeUps)
	}
	for _, before := range []rested{first, warm} {
		if m.descriptors > before.descriptors+6 || m.goroutines > before.goroutines+10 ||
			m.memory > before.memory*5/4+16<<10 || m.wakeUps > before.wakeUps*5/4+.5 {
			s.Errorf("there is more at the end than when %s", before.name)
		}
	}
}
