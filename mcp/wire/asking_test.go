package wire

import (
	"fmt"
	"strings"
	"testing"
)

// TestQuestionsOfOneBarNobody: a user with many tokens has few questions open, so that others can be asked. If many
// users fill the server, no user is told that the questions are theirs.
func TestQuestionsOfOneBarNobody(t *testing.T) {
	t.Parallel()
	var a askings
	n := 0
	ask := func(user, token int) error {
		n++
		_, err := a.begin(Owner{fmt.Sprint("u", user), fmt.Sprint("t", token)}, fmt.Sprint(n))
		return err
	}
	for i := range 64 * MostAskedAtOnce {
		err := ask(0, i/MostAskedAtOnce)
		if i < mostOfUser && err != nil || i >= mostOfUser &&
			(err == nil || !strings.Contains(err.Error(), "all their assistants")) {
			t.Fatalf("question %d of one user: %v", i, err)
		}
	}
	for user := 1; len(a.open) < mostOpen; user++ {
		if err := ask(user, 0); err != nil {
			t.Fatalf("another user: %v", err)
		}
	}
	if err := ask(mostOpen, 0); err == nil || !strings.Contains(err.Error(), "many users") {
		t.Errorf("one more user: %v", err)
	}
	a.end("1")
	if err := ask(mostOpen, 0); err != nil {
		t.Errorf("once one was answered: %v", err)
	}
	a.close()
	a.end("2")
	if err := ask(mostOpen+1, 0); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("a server that stops: %v", err)
	}
}
