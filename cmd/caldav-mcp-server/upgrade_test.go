package main

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"caldav-mcp-server/internal/testdb"
)

// before is what clients of an older version know. See testdata/upgrade/record.py.
type before struct {
	Token, Link string
	Objects     map[string]struct{ User, ETag, Body string }
	Tokens      map[string]string
}

// TestUpgrade: the databases that older versions wrote serve everything, and their clients notice no difference.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	recorded, err := filepath.Glob("testdata/upgrade/*.json")
	if err != nil || len(recorded) == 0 {
		t.Fatalf("no older version is recorded: %v", err)
	}
	for _, file := range recorded {
		version := strings.TrimSuffix(file, ".json")
		t.Run(filepath.Base(version), func(t *testing.T) {
			t.Parallel()
			var known struct {
				Password, Schema string
				SQLite, Postgres before
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(text, &known); err != nil {
				t.Fatal(err)
			}
			testdb.EachBlank(t, func(t *testing.T, database string) {
				b := known.Postgres
				if path, isFile := strings.CutPrefix(database, "sqlite:"); isFile {
					b = known.SQLite
					if err := os.WriteFile(path, unpacked(t, version+".sqlite.gz"), 0o600); err != nil {
						t.Fatal(err)
					}
				} else {
					loadDump(t, database, known.Schema, string(unpacked(t, version+".postgres.gz")))
				}
				b.agree(t, database, known.Password, "first")
				b.agree(t, database, known.Password, "second")
			})
		})
	}
}

func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(packed)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// loadDump runs the statements of a dump of one schema in the schema of a test.
func loadDump(t *testing.T, database, schema, dump string) {
	t.Helper()
	at, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	var statements strings.Builder
	for line := range strings.Lines(dump) {
		// psql's own commands, and the schema, which is there.
		if !strings.HasPrefix(line, `\`) && !strings.HasPrefix(line, "CREATE SCHEMA ") {
			statements.WriteString(strings.ReplaceAll(line, schema+".", at.Query().Get("search_path")+"."))
		}
	}
	db, err := sql.Open("pgx", database)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements.String()); err != nil {
		t.Fatal(err)
	}
}

// agree starts the server, checks what users of the older version have, and stops it. start names this start.
func (b before) agree(t *testing.T, database, password, start string) {
	t.Helper()
	env := append(on(database), "JOURNAL_DAYS=36500") // the trash stays, however old the recording is
	r := serve(t, env)
	users := map[string]client{}
	for _, user := range []string{"alice", "bob", "carol"} {
		users[user] = newClient(t, r, user, password, b.Token)
	}
	for href, o := range b.Objects {
		got := users[o.User].must(t, http.StatusOK, "GET", href, "")
		if got.body != o.Body || got.header.Get("ETag") != o.ETag {
			t.Errorf("%s is now, with %s:\n%s\nwant, with %s:\n%s", href, got.header.Get("ETag"), got.body, o.ETag,
				o.Body)
		}
	}
	for home, token := range b.Tokens {
		want := http.StatusMultiStatus
		if strings.HasPrefix(database, "postgres") {
			want = http.StatusForbidden // a dump in another cluster is another history: clients read all again
		}
		got := users[strings.Split(home, "/")[3]].must(t, want, "REPORT", home,
			`<D:sync-collection xmlns:D="DAV:"><D:sync-token>`+token+`</D:sync-token><D:sync-level>1</D:sync-level>`+
				`<D:prop><D:getetag/></D:prop></D:sync-collection>`)
		told := strings.Contains(got.body, "valid-sync-token")
		if strings.Contains(got.body, "response>") || told != (want == http.StatusForbidden) {
			t.Errorf("since the older version, %s has changed: %s", home, got.body)
		}
	}
	alice, bob := users["alice"], users["bob"]
	properties := func(c client, path, depth, names string) string {
		return c.must(t, http.StatusMultiStatus, "PROPFIND", path,
			`<D:propfind xmlns:D="DAV:"><D:prop>`+names+`</D:prop></D:propfind>`, "Depth", depth).body
	}
	calendarNamed(t, alice, "Work") // the assistant's token
	link, err := url.Parse(b.Link)
	if err != nil {
		t.Fatal(err)
	}
	for what, got := range map[string]string{
		"SUMMARY:Plan":  alice.must(t, http.StatusOK, "GET", link.Path, "").body,
		"kept":          properties(alice, "/dav/calendars/alice/work/", "0", `<x:mark xmlns:x="urn:upgrade"/>`),
		"Work":          properties(bob, "/dav/calendars/bob/", "1", `<D:displayname/>`),
		"Gone":          call(t, env, "", "trash", "list", "--user", "alice"),
		"Old assistant": call(t, env, "", "journal", "list", "--user", "alice", "--json"),
	} {
		if !strings.Contains(got, what) {
			t.Errorf("%q is missing in\n%s", what, got)
		}
	}
	users["carol"].must(t, http.StatusCreated, "PUT", "/dav/calendars/carol/personal/"+start+".ics",
		event(start, "New"))
	if err := r.interrupt(); err != nil {
		t.Fatalf("%v\n%s", err, r.log.String())
	}
}
