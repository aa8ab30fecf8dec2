package web_test

import (
	"net/http"
	"testing"
)

// TestDelegates: a visitor adds and removes delegates, and a delegate gives a delegation up.
func TestDelegates(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		h.user("bob")
		ann, bob := h.as("ann"), h.as("bob")
		ann.get("calendars").shows(http.StatusOK, "Delegates: people who use all your calendars")
		ann.get("delegates").shows(http.StatusOK, "You have none.")
		ann.post("delegates", "with", "bob", "access", "write").at("delegates?done=delegate-added").
			shows(http.StatusOK, "bob", "may read and change")
		bob.get("delegates").shows(http.StatusOK, "You are a delegate of", "ann", "you may read and change")
		ann.post("delegates", "with", "carl", "access", "read").shows(http.StatusNotFound, "carl")
		ann.post("delegates", "with", "bob", "access", "busy").shows(http.StatusUnprocessableEntity,
			"Choose whether the delegate may change events")
		ann.post("delegates/remove", "with", "").shows(http.StatusNotFound)
		bob.post("delegates/resign", "with", "").shows(http.StatusNotFound)
		ann.post("delegates/remove", "with", "bob").at("delegates?done=delegate-removed").
			shows(http.StatusOK, "You have none.")
		bob.post("delegates/resign", "with", "ann").shows(http.StatusNotFound, "has made you their delegate")
		ann.post("delegates", "with", "bob", "access", "read").shows(http.StatusOK, "may read")
		bob.post("delegates/resign", "with", "ann").at("delegates?done=delegate-resigned").
			shows(http.StatusOK).hides("You are a delegate of")
		ann.get("delegates").shows(http.StatusOK, "You have none.")
	})
}
