package bench

import (
	"net/netip"
	"testing"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// BenchmarkAuthLogin is what it takes to know who calls: a password or a token that the process has not seen yet, or
// has. What counts are the ratios to the first, which waits for a hash.
func BenchmarkAuthLogin(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		s := authStore(b, url)
		_, token := authHouse(b, s, authService(s))
		service := authService(s)
		password := func() (calendar.Caller, error) {
			return service.VerifyBasic(b.Context(), "alice", authPassword, netip.MustParseAddr("192.0.2.1"))
		}
		bearer := func() (calendar.Caller, error) {
			return service.VerifyBearer(b.Context(), string(token), netip.MustParseAddr("192.0.2.1"))
		}
		for _, c := range []struct {
			name  string
			fresh bool
			login func() (calendar.Caller, error)
		}{{"password/new", true, password}, {"password/seen", false, password}, {"token/new", true, bearer}, {
			"token/seen", false, bearer,
		}} {
			b.Run(c.name, func(b *testing.B) {
				for b.Loop() {
					if c.fresh {
						service = authService(s)
					}
					if _, err := c.login(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
