package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Slow readers of a large response hold no database connection: with a single connection, others can still read and
// write.
func TestSlowReadersHoldNoConnection(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, database string) {
		r := serve(t, append(on(database), "METRICS_ADDR=127.0.0.1:0", "DB_MAX_CONNS=1"))
		c := firstClient(t, r)
		long := "\r\nDESCRIPTION:" + strings.Repeat("x", 1<<20) + "\r\nEND:VEVENT"
		for i := range 12 {
			id := fmt.Sprint("long-", i)
			c.must(t, http.StatusCreated, "PUT", personal+id+".ics",
				strings.Replace(event(id, "Long"), "\r\nEND:VEVENT", long, 1))
		}
		for _, query := range []string{
			`<sync-collection xmlns="DAV:"><sync-token/><sync-level>1</sync-level><prop><c:calendar-data ` +
				`xmlns:c="urn:ietf:params:xml:ns:caldav"/></prop></sync-collection>`,
			`<c:calendar-query xmlns:c="urn:ietf:params:xml:ns:caldav" ` +
				`xmlns="DAV:"><prop><c:calendar-data/></prop><c:filter><c:comp-filter ` +
				`name="VCALENDAR"/></c:filter></c:calendar-query>`,
		} {
			startReading(t, c, r.addrs[caldavDoor], query)
		}
		begin := time.Now()
		for i := range 10 {
			id := fmt.Sprint("beside-", i)
			c.must(t, http.StatusCreated, "PUT", personal+id+".ics", event(id, "Beside"))
			c.must(t, http.StatusOK, "GET", personal+id+".ics", "")
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("others waited %s", took)
		}
		until(t, "no connection is in use", func() bool {
			page, err := c.send(t.Context(), http.MethodGet, "http://"+r.addrs[metricsDoor]+"/metrics", "")
			return err == nil && strings.Contains(page.body, "caldav_mcp_db_connections_in_use 0\n") &&
				strings.Contains(page.body, `caldav_mcp_requests_in_flight{door="caldav"} 2`+"\n")
		})
	})
}

// startReading asks for something large, reads how the answer begins, and no more.
func startReading(t *testing.T, c client, address, query string) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), "REPORT", "http://"+address+personal, strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(c.user, c.pass)
	r.Header.Set("Content-Type", "application/xml")
	r.Header.Set("Depth", "1")
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, len("HTTP/1.1 207"))
	if _, err := io.ReadFull(conn, head); err != nil || string(head) != "HTTP/1.1 207" {
		t.Fatalf("it begins %q, %v", head, err)
	}
}
