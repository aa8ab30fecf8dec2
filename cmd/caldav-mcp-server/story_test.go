package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/settings"
	"caldav-mcp-server/internal/testdb"
)

var update = flag.Bool("update", false, "rewrite what stories compare with")

// TestStories runs the stories that need a database, each on its own of either engine.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, file := range stories(t, "story") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			database := each
			if filepath.Base(file) == "migrate.txtar" {
				database = testdb.EachBlank
			}
			database(t, func(t *testing.T, database string) { tell(t, file, on(database)) })
		})
	}
}

// TestSettings runs the stories that need no database.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, file := range stories(t, "settings") {
		tell(t, file, nil)
	}
}

func stories(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no stories in %s: %v", folder, err)
	}
	return files
}

// tell runs one story. In addition to testscript's commands, "server" runs a server in the background, "curl" makes a
// request, and "field" extracts a field from JSON.
func tell(t *testing.T, file string, env []string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			for _, entry := range env {
				key, value, _ := strings.Cut(entry, "=")
				e.Setenv(key, value)
			}
			e.Values[serverKey{}] = new(*running)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"server": storyServer,
			"curl":   storyCurl,
			"field":  storyField,
		},
	})
}

type serverKey struct{}

// storyServer starts a server, or stops it. It tells the story where the doors are: $CALDAV and $MCP,
// and $CALDAV_PORT and $MCP_PORT for commands that ask there. Once it has stopped, its log is in the file "log".
func storyServer(ts *testscript.TestScript, neg bool, args []string) {
	place := ts.Value(serverKey{}).(**running)
	switch {
	case neg:
		ts.Fatalf("usage: server [FLAG…] | server stop")
	case len(args) == 1 && args[0] == "stop":
		ts.Check((*place).interrupt())
		ts.Check(os.WriteFile(ts.MkAbs("log"), []byte((*place).log.String()), 0o600))
		ts.Setenv("CALDAV_PORT", "")
		ts.Setenv("MCP_PORT", "")
	default:
		started, err := launch(context.Background(), console.Program, storyEnvironment(ts), args...)
		ts.Check(err)
		ts.Defer(func() { _ = started.kill() })
		*place = started
		for _, door := range []string{caldavDoor, mcpDoor} {
			_, port, err := net.SplitHostPort(started.addrs[door])
			ts.Check(err)
			ts.Setenv(strings.ToUpper(door)+"_PORT", port)
			ts.Setenv(strings.ToUpper(door), "http://"+started.addrs[door])
		}
		ts.Check(os.WriteFile(ts.MkAbs("shown"), []byte(started.stdout.String()), 0o600))
	}
}

// storyEnvironment returns the settings that the story has set.
func storyEnvironment(ts *testscript.TestScript) []string {
	var env []string
	for _, s := range settings.All(nil) {
		if value := ts.Getenv(s.Env); value != "" && s.Env != "CALDAV_PORT" && s.Env != "MCP_PORT" {
			env = append(env, s.Env+"="+value)
		}
	}
	return env
}

// storyCurl makes a request and prints status and body: curl USER:PASSWORD METHOD URL [FILE].
// For a token in place of user and password the first argument has no colon, "-" is for neither.
func storyCurl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: curl USER:PASSWORD|TOKEN|- METHOD URL [FILE]")
	}
	body := ""
	if len(args) == 4 {
		body = ts.ReadFile(args[3])
	}
	r, err := http.NewRequestWithContext(context.Background(), args[1], args[2], strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Depth", "0")
	if user, password, basic := strings.Cut(args[0], ":"); basic {
		r.SetBasicAuth(user, password)
	} else if args[0] != "-" {
		r.Header.Set("Authorization", "Bearer "+args[0])
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	ts.Check(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	ts.Check(err)
	_, err = fmt.Fprintf(ts.Stdout(), "%d\n%s\n", res.StatusCode, text)
	ts.Check(err)
}

// storyField sets a variable to a field of a JSON object in a file.
func storyField(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: field VARIABLE FILE NAME")
	}
	var object map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &object))
	value, ok := object[args[2]]
	if !ok {
		ts.Fatalf("%s has no field %s", args[1], args[2])
	}
	ts.Setenv(args[0], fmt.Sprint(value))
}
