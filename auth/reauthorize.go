package auth

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
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

// reauthorizer re-authorizes a request that takes long.
type reauthorizer struct {
	verifier *Verifier
	door     Door
	w        http.ResponseWriter
	r        *http.Request
	caller   calendar.Caller
	proof    *Proof

	mu sync.Mutex
	// asked is when the credential was last checked, changed is set if it gave other rights then.
	asked   time.Time
	changed bool
}

// watch returns wrapped versions of the response writer and the request. Once the credential is no longer valid, the
// body ends with ErrUnauthorized and the response breaks off.
func (v *reauthorizer) watch() (http.ResponseWriter, *http.Request) {
	r := v.r
	if r.Body != nil && r.Body != http.NoBody {
		// The caller of this handler keeps the unwrapped body.
		r = r.WithContext(r.Context())
		r.Body = &authorizedBody{r.Body, v}
	}
	return &authorizedWriter{ResponseWriter: v.w, reauthorizer: v}, r
}

// still checks the credential again if the last check is at least this old. A failing store is a separate error.
func (v *reauthorizer) still(age time.Duration) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.verifier.now()
	if now.Sub(v.asked) < age {
		return nil
	}
	ctx, later := withProof(v.r.Context())
	c, err := v.verifier.identify(v.door, v.r.WithContext(ctx))
	switch {
	case err != nil && away(err):
		return err
	case err != nil || c.User.ID != v.caller.User.ID || c.Scopes != v.caller.Scopes:
		return ErrUnauthorized
	}
	v.asked = now
	if v.changed = !sameRights(c, v.caller); !v.changed {
		v.proof.take(later)
	}
	return nil
}

// sameRights reports whether a caller may do the same as before.
func sameRights(now, before calendar.Caller) bool {
	return now.User.ID == before.User.ID && now.Scopes == before.Scopes && now.Token == before.Token &&
		now.Most == before.Most && now.ForOthers == before.ForOthers && now.Rights.Equal(before.Rights) &&
		slices.Equal(now.Calendars, before.Calendars) && (now.Calendars == nil) == (before.Calendars == nil) &&
		slices.Equal(now.Tools, before.Tools) && (now.Tools == nil) == (before.Tools == nil)
}

// renew authenticates the request again, for [Proof]. If the caller has other rights now, the request has to be
// repeated: it may be in the middle of work that the former ones allowed.
func (v *reauthorizer) renew() error {
	err := v.still(0)
	v.mu.Lock()
	defer v.mu.Unlock()
	if err == nil && v.changed {
		return calendar.Errorf(calendar.Unavailable, "",
			"your access changed while the change waited for others: repeat it")
	}
	return err
}

// authorizedBody is a body that returns EOF only if the credential is still valid then.
type authorizedBody struct {
	io.ReadCloser
	*reauthorizer
}

func (b *authorizedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if lapsed := b.still(slowBody); lapsed != nil {
		return 0, lapsed
	}
	return n, err
}

// authorizedWriter is a response that continues while the credential is valid. Otherwise it breaks the connection, so
// that no client takes a partial response for a complete one.
type authorizedWriter struct {
	http.ResponseWriter
	*reauthorizer
	refused bool
}

// WriteHeader puts the challenge on a refusal.
func (a *authorizedWriter) WriteHeader(status int) {
	if status == http.StatusUnauthorized && !a.refused {
		a.refused = true
		challenge(a.door, a.ResponseWriter, a.r)
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *authorizedWriter) Write(p []byte) (int, error) {
	if !a.refused && errors.Is(a.still(askAgain), ErrUnauthorized) {
		a.verifier.log.InfoContext(a.r.Context(), "an answer breaks off: the credential is no longer good", "user",
			a.caller.User.Name, "token", a.caller.Token)
		panic(http.ErrAbortHandler)
	}
	return a.ResponseWriter.Write(p)
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *authorizedWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }
