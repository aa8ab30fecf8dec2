package main

import (
	"net/http"
	"strings"
	"testing"
)

// The cost of database connections and logins is counted.
func TestMeasures(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		r := serve(t, append(on(database), "METRICS_ADDR=127.0.0.1:0", "DB_MAX_CONNS=3"))
		c := firstClient(t, r)
		c.must(t, http.StatusMultiStatus, "PROPFIND", personal, "", "Depth", "0")
		c.must(t, http.StatusMultiStatus, "PROPFIND", personal, "", "Depth", "0")
		wrong := c
		wrong.pass = "wrong password"
		wrong.must(t, http.StatusUnauthorized, "PROPFIND", personal, "", "Depth", "0")
		var page answer
		// it looks now and then by itself whether something has changed
		until(t, "the server rests", func() (rests bool) {
			var err error
			if page, err = c.send(t.Context(), http.MethodGet, "http://"+r.addrs[metricsDoor]+"/metrics", ""); err !=
				nil {
				t.Fatal(err)
			}
			return strings.Contains(page.body, "caldav_mcp_db_connections_in_use 0\n")
		})
		for _, want := range []string{
			"caldav_mcp_login_hashes_total 2", "caldav_mcp_login_hashes_in_work 0", "caldav_mcp_logins_waiting 0",
			"caldav_mcp_db_connections_max 3", "# TYPE caldav_mcp_db_waits_total counter",
		} {
			if !strings.Contains(page.body, want+"\n") {
				t.Errorf("there is no %q in\n%s", want, page.body)
			}
		}
	})
}
