package outbound

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
)

// Document is a document found at an address.
type Document struct {
	Header http.Header
	Body   []byte
}

// Get fetches a small document whole. Whatever is not 200 is a [RefusedError], whose text is for the user who named the address:
// whether nobody answers there or somebody who may not be asked is the same to them. The log gets the rest.
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

// told is our own refusal, if there is one in what net/http wraps it in, and one text for all else.
func told(u *url.URL, err error) error {
	if own, ok := errors.AsType[*RefusedError](err); ok {
		return own
	}
	why := u.Hostname() + " stands for no public address, or does not answer there; FETCH_ALLOW names networks that may be asked all the same"
	return &RefusedError{why, err}
}
