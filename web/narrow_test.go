package web_test

import (
	"net/http"
	"testing"

	"caldav-mcp-server/calendar"
)

// What a person takes from an assistant it lacks with its next call; it is never given anything that way, and nobody
// else can take it.
func TestLetItDoLess(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		work := h.made(ann, "Work")
		h.made(ann, "Private")
		b, a := h.as("ann"), h.program(claudeRedirect)
		got := a.tokens(b)
		_, before := h.comes(got.text("access_token"))
		path := "apps/" + string(before.Token) + "/narrow"
		b.get("apps").shows(http.StatusOK, "Claude (claude.ai)", "Reduce access")
		b.get(path).shows(http.StatusOK, "Reduce access of Claude (claude.ai)", "read", "change", "Private").
			hides(`value="share"`, `value="delete"`)

		b.post(path).shows(http.StatusUnprocessableEntity, "Leave it something")
		b.post(path, "scope", "read", "scope", "share", "calendar", string(work.ID)).shows(http.StatusOK,
			"It may do less")
		_, after := h.comes(got.text("access_token"))
		if after.Scopes != calendar.ScopeRead || len(after.Calendars) != 1 || after.Calendars[0] != work.ID {
			t.Errorf("it may %v in %v", after.Scopes, after.Calendars)
		}
		b.get(path).hides(`name="scope" value="write"`, "Private")
		b.post(path, "scope", "read").shows(http.StatusUnprocessableEntity, "Leave it a calendar")
		a.refresh(got.text("refresh_token"), "scope", "write").is(h, http.StatusBadRequest, "invalid_scope")

		bob := h.as("bob")
		bob.get(path).shows(http.StatusNotFound)
		bob.post(path, "scope", "read").shows(http.StatusNotFound)
		h.must(h.auth.RevokeToken(t.Context(), before.Token))
		b.get(path).shows(http.StatusNotFound)
	})
}
