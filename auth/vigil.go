package auth

import (
	"errors"
	"io"
	"net/http"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// askAgain is how long a response may run before the credential is checked again. Otherwise a slow reader could go
	// on long after a revocation.
	askAgain = 10 * time.Second
	// slowBody is how old the check may be when a request body ends; after a longer time the credential is checked
	// again.
	slowBody = time.Second
)

// vigil re-authorizes a request that takes long.
type vigil struct {
	service *Service
	door    Door
	w       http.ResponseWriter
	r       *http.Request
	caller  calendar.Caller
	// asked is when the credential was last checked.
	asked   time.Time
	refused bool
}

// watch returns wrapped versions of the response writer and the request. Once the credential is no longer valid, the
// body ends with ErrUnauthorized and the response breaks off.
func (v *vigil) watch() (http.ResponseWriter, *http.Request) {
	r := v.r
	if r.Body != nil && r.Body != http.NoBody {
		// The caller of this handler keeps the unwrapped body.
		r = r.WithContext(r.Context())
		r.Body = &vouchedBody{r.Body, v}
	}
	return &vouchedAnswer{v.w, v}, r
}

// still checks the credential again if the last check is at least this old. A failing store is a separate error.
func (v *vigil) still(age time.Duration) error {
	now := v.service.now()
	if now.Sub(v.asked) < age {
		return nil
	}
	c, err := v.service.identify(v.door, v.r)
	switch {
	case err != nil && away(err):
		return err
	case err != nil || c.User.ID != v.caller.User.ID || c.Scopes != v.caller.Scopes:
		return ErrUnauthorized
	}
	v.asked = now
	return nil
}

// vouchedBody is a body that returns EOF only if the credential is still valid then.
type vouchedBody struct {
	io.ReadCloser
	*vigil
}

func (b *vouchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	lapsed := b.still(slowBody)
	if lapsed == nil {
		return n, err
	}
	if errors.Is(lapsed, ErrUnauthorized) && !b.refused {
		b.refused = true
		challenge(b.door, b.w, b.r)
	}
	return 0, lapsed
}

// vouchedAnswer is a response that continues while the credential is valid. Otherwise it breaks the connection, so that
// no client takes a partial response for a complete one.
type vouchedAnswer struct {
	http.ResponseWriter
	*vigil
}

func (a *vouchedAnswer) Write(p []byte) (int, error) {
	if !a.refused && errors.Is(a.still(askAgain), ErrUnauthorized) {
		a.service.log.InfoContext(a.r.Context(), "an answer breaks off: the credential is no longer good", "user", a.caller.User.Name, "token", a.caller.Token)
		panic(http.ErrAbortHandler)
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *vouchedAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
