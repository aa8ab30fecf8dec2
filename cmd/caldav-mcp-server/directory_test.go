package main

import (
	"net/http"
	"testing"
)

// Whether users see each other who share nothing is for the operator to say.
func TestUserDirectory(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]int{
		"": http.StatusNotFound, "USER_DIRECTORY=false": http.StatusNotFound,
		"USER_DIRECTORY=true": http.StatusMultiStatus,
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			database := sqlite(t)
			c := firstClient(t, serve(t, append(on(database), setting)))
			call(t, on(database), "a long password\n", "create-user", "bob", "--password-stdin")
			c.must(t, want, "PROPFIND", "/dav/principals/bob/", "", "Depth", "0")
			c.must(t, http.StatusNotFound, "PROPFIND", "/dav/principals/eve/", "", "Depth", "0")
		})
	}
}
