package auth

import (
	"errors"
	"io"
	"net/http"
	"slices"
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
	case err != nil || !sameRights(c, v.caller):
		return ErrUnauthorized
	}
	v.asked = now
	return nil
}

// sameRights reports whether a caller may do the same as before.
func sameRights(now, before calendar.Caller) bool {
	return now.User.ID == before.User.ID && now.Scopes == before.Scopes && now.Token == before.Token && now.Most == before.Most &&
		slices.Equal(now.Calendars, before.Calendars) && (now.Calendars == nil) == (before.Calendars == nil) &&
		slices.Equal(now.Tools, before.Tools) && (now.Tools == nil) == (before.Tools == nil)
}

// lapsed is still, and puts the challenge on an answer that has not begun.
func (v *vigil) lapsed(age time.Duration) error {
	err := v.still(age)
	if errors.Is(err, ErrUnauthorized) && !v.refused {
		v.refused = true
		challenge(v.door, v.w, v.r)
	}
	return err
}

// renew is for [Proof].
func (v *vigil) renew() error { return v.lapsed(0) }

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
	if lapsed := b.lapsed(slowBody); lapsed != nil {
		return 0, lapsed
	}
	return n, err
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
