package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// Document is a fetched document.
type Document struct {
	Header http.Header
	Body   []byte
}

// Get fetches a small document. Any status but 200 is a [RefusedError], whose text is for the user who supplied the
// address. It does not reveal whether the address is unreachable or forbidden; the log has the cause.
func (g *Guard) Get(ctx context.Context, address, accept string, l Limits) (Document, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return Document{}, refused("%q is no address", address)
	}
	r.Header.Set("Accept", accept)
	answer, err := g.Client(l).Do(r)
	if err != nil {
		return Document{}, told(r.URL, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return Document{}, refused("%s answers %d", named(r.URL), answer.StatusCode)
	}
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return Document{}, told(r.URL, err)
	}
	return Document{answer.Header, data}, nil
}

// told returns our own refusal from inside the error of net/http, or one general text for all other errors.
func told(u *url.URL, err error) error {
	if own, ok := errors.AsType[*RefusedError](err); ok {
		return own
	}
	why := u.Hostname() + " stands for no public address, or does not answer there; FETCH_ALLOW names networks that " +
		"may be asked all the same"
	return &RefusedError{why, err}
}
