package outbound

import (
	"io"
	"net/http"
)

// Answer is what came of a request whose answer's body nobody needs.
type Answer struct {
	Status int
	Header http.Header
}

// Send sends a request and reads what comes back to its end, so that the connection is of use again. Its errors are those of
// [Guard.Get]; every status is an answer.
func (g *Guard) Send(r *http.Request, l Limits) (Answer, error) {
	answer, err := g.Client(l).Do(r) //nolint:gosec // that the address is a stranger's is what the guard is for
	if err != nil {
		return Answer{}, told(r.URL, err)
	}
	defer answer.Body.Close()
	// A body that is too long is cut off with its connection; the status counts all the same.
	_, _ = io.Copy(io.Discard, answer.Body)
	return Answer{answer.StatusCode, answer.Header}, nil
}
