package main

import (
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/cmd/caldav-mcp-server/app"
)

// judge checks the invariants of a whole walk.
func (w *linkWalk) judge() {
	w.judgeWrites()
	w.judgeLost()
	if err := w.c.interrupt(); err != nil {
		w.Error(err)
	}
	w.logs.WriteString(w.c.log.String())
	w.judgeSecrets()
	w.judgeDatabase()
}

// judgeWrites holds that every write that the provider took was asked for at our doors, and was taken once.
func (w *linkWalk) judgeWrites() {
	seen := map[string]bool{}
	for _, one := range w.far.taken() {
		title := w.far.titled(one.Body)
		if title != "" && !w.mine[title] {
			w.Errorf("%s of %s writes %q, which nobody wrote here", one.Method, one.ID, title)
		}
		name := one.ID
		if one.Method == http.MethodPost {
			name = "made"
		}
		if title == "" && one.Body != nil {
			continue // what is left out, or of the same title
		}
		if name += " " + one.Method + " " + title; seen[name] {
			w.Errorf("sent twice: %s", name)
		}
		seen[name] = true
	}
}

// judgeLost checks that local edits that lost a conflict are in the history.
func (w *linkWalk) judgeLost() {
	h := openForTest(w.T, w.database)
	user, err := h.Auth.User(w.Context(), "admin")
	if err != nil {
		w.Fatal(err)
	}
	cal, err := h.Calendars.Calendar(w.Context(), app.Caller(user), calendar.CalendarID(w.calendar))
	if err != nil {
		w.Fatal(err)
	}
	var history strings.Builder
	for e, err := range h.Store.Journal(w.Context(), cal.ID, calendar.JournalQuery{From: 1, WithBefore: true}) {
		if err != nil {
			w.Fatal(err)
		}
		history.Write(e.Before)
	}
	for _, title := range w.lost {
		if !strings.Contains(history.String(), title) {
			w.Errorf("%q was overtaken, and is in no history", title)
		}
	}
	w.counts["overtaken"] = len(w.lost)
}

// secrets are what opens accounts.
func (w *linkWalk) secrets() []string { return append(w.keys.Given(), appSecret) }

// judgeSecrets checks that neither logs nor errors contain credentials, and that no log contains calendar content.
func (w *linkWalk) judgeSecrets() {
	logs, said := w.logs.String(), w.said.String()
	if !strings.Contains(logs, `"msg":"request"`) {
		w.Error("the logs tell of no request")
	}
	for _, secret := range w.secrets() {
		for name, text := range map[string]string{"a log": logs, "what was said": said} {
			if strings.Contains(text, secret) {
				w.Errorf("%s tells %s", name, secret)
			}
		}
	}
	if at := strings.Index(logs, secretWord); at >= 0 {
		w.Errorf("a log tells of an event: …%s", logs[max(0, at-500):min(len(logs), at+100)])
	}
	if strings.Contains(said, "linked again") || strings.Contains(said, "link it again") {
		w.Errorf("somebody is told that an account which is good has to be linked again:\n%s", tail(said, 2000))
	}
}

// contents are the tables that may contain events.
func contents() []string {
	return []string{"objects", "journal", "search_rows", "own_parts", "attempts"}
}

// judgeDatabase holds that nothing in the database opens an account, and that events are in their tables alone.
func (w *linkWalk) judgeDatabase() {
	db := w.open()
	defer db.Close()
	tables := w.tables(db)
	for _, name := range tables {
		text := strings.Join(w.rows(db, `SELECT * FROM "`+name+`"`), "\n")
		for _, secret := range w.secrets() {
			if strings.Contains(text, secret) {
				w.Errorf("the table %s tells %s", name, secret)
			}
		}
		if strings.Contains(text, secretWord) && !slices.Contains(contents(), name) {
			w.Errorf("the table %s tells of events", name)
		}
	}
}

// tables are all tables of the database.
func (w *linkWalk) tables(db *sql.DB) []string {
	list := `SELECT name FROM sqlite_schema WHERE type = 'table'`
	if !strings.HasPrefix(w.database, "sqlite:") {
		list = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`
	}
	tables := w.rows(db, list)
	for i, name := range tables {
		tables[i] = strings.Trim(name, "[]")
	}
	if !slices.Contains(tables, "linked_accounts") {
		w.Fatalf("the tables are %q", tables)
	}
	return tables
}

// rows are the rows that a query finds, as text.
func (w *linkWalk) rows(db *sql.DB, query string) (all []string) {
	found, err := db.QueryContext(w.Context(), query)
	if err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		w.Fatal(err)
	}
	for found.Next() {
		values := make([]any, len(columns))
		texts := make([]any, len(columns))
		for i := range values {
			values[i] = &texts[i]
		}
		if err := found.Scan(values...); err != nil {
			w.Fatal(err)
		}
		for i, v := range texts {
			if raw, is := v.([]byte); is {
				texts[i] = string(raw)
			}
		}
		all = append(all, fmt.Sprint(texts))
	}
	if err := found.Err(); err != nil {
		w.Fatal(err)
	}
	return all
}
