package store

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store/db"
)

// TestPlans: the query of every request uses the index made for it. SQLite plans without looking at the rows,
// so an empty database shows the plans of a full one.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	byName, byVersion, bySpan, byRhythm := "sqlite_autoindex_objects_1", "objects_version",
		"objects_when", "objects_rhythm"
	byBeat, known := "objects_beat", "objects_known"
	for text, indexes := range map[string][]string{
		selectObject + `AND name = $2 AND NOT deleted`: {byName},
		selectObject + `AND uid = $2 AND NOT deleted`:  {"objects_copies"},
		selectTags:         {bySpan},
		selectChanges:      {byVersion},
		selectChangesSince: {byVersion},
		headTexts.all:      {byName},
		headTexts.bySpan:   {byName, bySpan, bySpan, bySpan, bySpan, byRhythm, byRhythm, byRhythm},
		headTexts.byHours: {
			byName, bySpan, bySpan, bySpan, bySpan, byBeat,
			byBeat, byBeat, known,
		},
		headTexts.byNames[0].text:               {byName},
		headTexts.byNames[2].text:               {byName},
		objectTexts.all:                         {byName},
		objectTexts.bySpan:                      {byName, bySpan, bySpan, bySpan, bySpan, byRhythm, byRhythm, byRhythm},
		objectTexts.byNames[2].text:             {byName},
		selectCalendars + `id = $2`:             nil,
		selectCalendarsOf:                       nil,
		selectHome:                              nil,
		selectDeadInHome:                        nil,
		showLinks + ofLinks + `WHERE l.id = $1`: nil,
		listDeletions:                           nil,
	} {
		var used []string
		for _, step := range plan(t, s, text) {
			// The objects near the window are found at this point, and are few.
			if strings.HasPrefix(step, "SCAN") && step != "SCAN near" {
				t.Errorf("%s\nreads all of a table: %s", text, step)
			}
			if strings.HasPrefix(step, "SEARCH objects") {
				used = append(used, indexOf(step))
			}
		}
		if fmt.Sprint(used) != fmt.Sprint(indexes) {
			t.Errorf("%s\nuses %v, want %v", text, used, indexes)
		}
		if strings.Contains(text, "ORDER BY name") || strings.Contains(text, "ORDER BY version") {
			if steps := plan(t, s, text); strings.Contains(strings.Join(steps, "\n"), "ORDER BY") {
				t.Errorf("%s\nsorts what the index has in order: %q", text, steps)
			}
		}
	}
}

// TestMakeRoomPlan: an inbox over its limit finds the oldest message by an index, without reading the others.
func TestMakeRoomPlan(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	steps := strings.Join(plan(t, s, makeRoom.slotted), "\n")
	if strings.Contains(steps, "SCAN inbox") || strings.Contains(steps, "ORDER BY") ||
		!strings.Contains(steps, "inbox_items_user (user_id=? AND gone=? AND version<?)") {
		t.Errorf("making room takes these steps:\n%s", steps)
	}
}

// TestSurveyPlan: a search walks the index of spans, and reads only objects that the survey needs.
func TestSurveyPlan(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	var objects []string
	for _, step := range plan(t, s, s.search.near) {
		if strings.Contains(step, "SEARCH") || strings.Contains(step, "SCAN") &&
			!strings.Contains(step, "VIRTUAL TABLE") {
			objects = append(objects, step)
		}
		if strings.Contains(step, "TEMP B-TREE") {
			t.Errorf("it sorts what the index has in order: %s", step)
		}
	}
	if len(objects) != 2 || !strings.Contains(objects[0], "PRIMARY KEY") ||
		!strings.Contains(objects[1], "COVERING INDEX objects_when (calendar_id=? AND reach=? AND span_start>?)") {
		t.Errorf("the survey takes these steps: %q", objects)
	}
}

// TestOutboxPlan: polling for due mail, every few seconds, and posting do not scan all waiting mail.
func TestOutboxPlan(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	for text, indexes := range map[string][]string{takeLetters: {"letters_due (due<?)", "letters_talk (user_id=? AND " +
		"uid=? AND recipient=? AND number<?)"}, selectWaiting: {"letters_talk (user_id=? AND uid=?)"}} {
		steps := strings.Join(plan(t, s, text), "\n")
		for _, index := range indexes {
			if !strings.Contains(steps, index) || strings.Contains(steps, "SCAN letters") ||
				strings.Contains(steps, "SCAN l") {
				t.Errorf("it takes\n%s\nwant %s", steps, index)
			}
		}
	}
}

// TestAddressPlan: the user with a mail address is found without a scan of all users.
func TestAddressPlan(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	for _, text := range []string{usersWithMail.slotted, usersNamed.slotted, selectAddressHolder} {
		if steps := strings.Join(plan(t, s, text), "\n"); strings.Contains(steps, "SCAN users") {
			t.Errorf("%s\ntakes these steps:\n%s", text, steps)
		}
	}
}

// TestJournalPlan: the history of one object is found without scanning the calendar's.
func TestJournalPlan(t *testing.T) {
	t.Parallel()
	s := openFile(t, filepath.Join(t.TempDir(), "calendar.db"))
	for question, index := range map[string]string{
		journaledOf:      "INDEX journal_copies (uid=? AND calendar_id=?",
		journaledByAndOf: "INDEX journal_copies (uid=? AND calendar_id=?",
		journaledAmong:   "INDEX journal_copies (uid=? AND calendar_id=?",
		journaledOfShare: "INDEX journal_whom (", journaledBy: "INDEX journal_token (",
		journaledByMCP: "INDEX journal_assistant (",
	} {
		if steps := plan(t, s, selectWithBefore+question); len(steps) != 1 && question != journaledAmong ||
			!strings.Contains(steps[0], index) {
			t.Errorf("%s takes %q, want %s", question, steps, index)
		}
		// The change that undid another, and the undone one, are found by two numbers: a calendar may have any
		// number of either.
		if steps := strings.Join(plan(t, s, selectListed+question), "\n"); strings.Count(steps, "SEARCH x") != 2 ||
			!strings.Contains(steps, "(calendar_id=? AND version=?)\nCORR") ||
			!strings.Contains(steps, "journal_undone_by (calendar_id=? AND undone_by=?)") {
			t.Errorf("%s as lists show it takes\n%s", question, steps)
		}
		if steps := plan(t, s, selectListed+question); !strings.Contains(steps[0], index) ||
			strings.Contains(strings.Join(steps, " "), "SCAN") {
			t.Errorf("%s as lists show it takes %q, want %s", question, steps, index)
		}
	}
	if steps := strings.Join(plan(t, s, selectTexts), "\n"); strings.Contains(steps, "SCAN") ||
		!strings.Contains(steps, "k USING COVERING INDEX") && !strings.Contains(steps, "k USING INDEX journal_copies") {
		t.Errorf("the texts of changes take these steps: %s", steps)
	}
}

// indexOf returns the index of a step, which may be a covering one.
func indexOf(step string) string {
	_, rest, _ := strings.Cut(step, "INDEX ")
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// plan returns the steps of SQLite's query plan.
func plan(t *testing.T, s *Store, text string) []string {
	t.Helper()
	steps, err := db.RowsOf(t.Context(), s.db.Reads, func(row db.Scanner) (string, error) {
		var id, parent, unused int64
		var step string
		err := row.Scan(&id, &parent, &unused, &step)
		return step, err
	}, "EXPLAIN QUERY PLAN "+text, arguments(text)...)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// arguments returns as many as a text has placeholders.
func arguments(text string) []any {
	n := 0
	for strings.Contains(text, fmt.Sprintf("$%d", n+1)) {
		n++
	}
	return make([]any, n)
}

func TestStatisticsAreDue(t *testing.T) {
	t.Parallel()
	var s statistics
	var due []int
	for i := range 5000 {
		if s.due(1) {
			due = append(due, i+1)
		}
	}
	if got, want := fmt.Sprint(due), "[250 1000 4000]"; got != want {
		t.Errorf("due after %s, want %s", got, want)
	}
	if !s.due(100_000) {
		t.Error("not due after many at once")
	}
}

// TestStatisticsAreDueToOne: of concurrent writers that reach the number, one updates the statistics.
func TestStatisticsAreDueToOne(t *testing.T) {
	t.Parallel()
	var s statistics
	found := make(chan struct{}, 1000)
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for range 9 { // 900: past the first time, not the second
				if s.due(1) {
					found <- struct{}{}
				}
			}
		})
	}
	all.Wait()
	if len(found) != 1 {
		t.Errorf("due to %d writers", len(found))
	}
}

// TestPostgresKnowsItsRows: an import does not run on with statistics of an empty table, and no writer waits
// for an update.
func TestPostgresKnowsItsRows(t *testing.T) {
	t.Parallel()
	s := openFile(t, testdb.Blank(t))
	ctx := t.Context()
	if err := s.InsertUser(ctx, calendar.User{ID: "ann", Name: "ann"}, "hash"); err != nil {
		t.Fatal(err)
	}
	known := func() int64 {
		n, err := db.RowOf(ctx, s.db.Reads, db.ScanNumber,
			`SELECT count(*) FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'objects'`)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if known() != 0 {
		t.Fatal("there are statistics of nothing")
	}
	// ANALYZE conflicts with this lock, and writing does not.
	err := s.db.Apart(ctx, func(conn *pgx.Conn) error {
		if _, err := conn.Exec(ctx, `BEGIN; LOCK TABLE objects IN SHARE UPDATE EXCLUSIVE MODE`); err != nil {
			return err
		}
		return s.Update(ctx, func(tx calendar.Tx) error {
			cal := calendar.Calendar{ID: "cal", Owner: "ann", Segment: "work"}
			if err := tx.InsertCalendar(ctx, cal); err != nil {
				return err
			}
			for i := range firstAnalysis {
				name := fmt.Sprint(i)
				o := calendar.Object{
					Calendar: "cal", Name: calendar.ObjectName(name),
					Version: calendar.Version(i + 1), Data: []byte("x"),
				}
				o.UID = calendar.UID(name)
				if err := tx.PutObject(ctx, o); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	s.statistics.renewals.Wait()
	if known() == 0 {
		t.Error("nobody has looked at the rows")
	}
}
