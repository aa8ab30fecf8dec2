package auth

import (
	"errors"
	"io"
	"net/http"
	"time"

	"caldav-mcp-server/calendar"
)

const (
	// askAgain is how long an answer goes out before its credential is looked at again: a client
	// that reads slowly would go on reading long after it was revoked.
	askAgain = 10 * time.Second
	// slowBody is how long after the credential a body may have come without another look at it.
	slowBody = time.Second
)

// vigil is a request under way. Whether its caller would be let in at this moment is asked again
// where it takes long.
type vigil struct {
	service *Service
	door    Door
	w       http.ResponseWriter
	r       *http.Request
	caller  calendar.Caller
	// asked is when the credential was looked at last.
	asked   time.Time
	refused bool
}

// watch returns what a door works with in place of the two: the body ends with ErrUnauthorized, and
// the answer breaks off, once the credential is no longer good.
func (v *vigil) watch() (http.ResponseWriter, *http.Request) {
	r := v.r
	if r.Body != nil && r.Body != http.NoBody {
		// The code that handed the request in goes on with a body of its own.
		r = r.WithContext(r.Context())
		r.Body = &vouchedBody{r.Body, v}
	}
	return &vouchedAnswer{v.w, v}, r
}

// still looks at the credential if that was last done longer ago than this. What the store cannot
// tell just now is an error of its own.
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

// vouchedBody is a body whose end only they reach whose credential is good by then.
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

// vouchedAnswer is an answer that goes on for as long as the credential is good. Where it is not, the
// connection breaks, so that no client takes what it got for the whole.
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
