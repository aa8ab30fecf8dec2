package db

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Hints that come while one is sent go out together, or as one that anything changed if they are too many. The end
// waits for all.
func TestHintsWhileOneIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		come int
		want [][]string
	}{
		{0, [][]string{{"first"}}},
		{3, [][]string{{"first"}, {"0", "1", "2"}}},
		{mostHints + 1, [][]string{{"first"}, {""}}},
	} {
		t.Run(fmt.Sprint(c.come), func(t *testing.T) {
			t.Parallel()
			var sent [][]string
			begun, more := make(chan struct{}), make(chan struct{})
			var a announcer
			a.send = func(hints []string) {
				if sent = append(sent, hints); len(sent) == 1 {
					close(begun)
					<-more
				}
			}
			a.tell("first")
			<-begun
			for i := range c.come {
				a.tell(fmt.Sprint(i))
			}
			close(more)
			a.all.Wait()
			if diff := cmp.Diff(c.want, sent); diff != "" {
				t.Error(diff)
			}
		})
	}
}
