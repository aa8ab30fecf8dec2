package outbound

import (
	"io"
	"net/http"
)

// Answer is a response without its body.
type Answer struct {
	Status int
	Header http.Header
}

// Send sends a request and reads the response to its end, so that the connection can be reused. It fails like
// [Guard.Get], but accepts every status.
func (g *Guard) Send(r *http.Request, l Limits) (Answer, error) {
	answer, err := g.Client(l).Do(r) //nolint:gosec // the guard is made for users' addresses
	if err != nil {
		return Answer{}, told(r.URL, err)
	}
	defer answer.Body.Close()
	// A body over the limit closes the connection; the status counts anyway.
	_, _ = io.Copy(io.Discard, answer.Body)
	return Answer{answer.StatusCode, answer.Header}, nil
}
