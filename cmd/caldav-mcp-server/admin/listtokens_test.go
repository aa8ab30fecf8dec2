package admin

import (
	"testing"

	"caldav-mcp-server/calendar"
)

// A token that may not read mail is not said to be good for all.
func TestScopesText(t *testing.T) {
	t.Parallel()
	for scopes, want := range map[calendar.Scope]string{
		calendar.ScopeEvery:                      "all",
		calendar.ScopeAll:                        "all but mail",
		calendar.ScopeUsual:                      "read,write,delete,share",
		calendar.ScopeUsual | calendar.ScopeMail: "read,write,delete,share,mail",
		calendar.ScopeMail:                       "mail",
	} {
		if got := scopesText(scopes); got != want {
			t.Errorf("%b is %q, want %q", scopes, got, want)
		}
	}
}
