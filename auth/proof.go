package auth

import (
	"context"
	"errors"
	"sync/atomic"

	"caldav-mcp-server/calendar"
)

// Proof is what a request was authenticated by: the user, and the generation that their credentials had then. A change that has waited for a
// lock compares the generation with the current one. If they differ, the request is authenticated again before anything is written.
type Proof struct {
	state atomic.Pointer[proven]
	// renew authenticates the request again.
	renew func() error
}

type proven struct {
	user       calendar.UserID
	generation int64
}

type proofKey struct{}

// withProof returns a context in which authentication leaves its proof.
func withProof(ctx context.Context) (context.Context, *Proof) {
	p := &Proof{}
	return context.WithValue(ctx, proofKey{}, p), p
}

// ProofOf returns the proof of a request, or nil for work that no request asked for.
func ProofOf(ctx context.Context) *Proof {
	p, _ := ctx.Value(proofKey{}).(*Proof)
	if p == nil || p.state.Load() == nil {
		return nil
	}
	return p
}

// note keeps what authentication found, if a request is being authenticated.
func note(ctx context.Context, user calendar.UserID, generation int64) {
	if p, _ := ctx.Value(proofKey{}).(*Proof); p != nil {
		p.state.Store(&proven{user, generation})
	}
}

// User returns the user of the credentials.
func (p *Proof) User() calendar.UserID { return p.state.Load().user }

// Generation returns the generation that was current when the request was authenticated last.
func (p *Proof) Generation() int64 { return p.state.Load().generation }

// Renew authenticates the request again. It returns Forbidden, which is ErrUnauthorized, if the caller's access has
// ended, and Unavailable if their rights are others now.
func (p *Proof) Renew() error {
	if err := p.renew(); errors.Is(err, ErrUnauthorized) {
		return &calendar.Error{Reason: calendar.Forbidden, Message: "your access ended while the change waited for others", Cause: err}
	} else if err != nil {
		return err
	}
	return nil
}
