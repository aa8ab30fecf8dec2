package auth

import (
	"context"
	"errors"
	"sync/atomic"

	"caldav-mcp-server/calendar"
)

// Proof is the user of a request, and the generation of their credentials for which the caller's rights are known to
// hold. A change that has waited for a lock compares it with the current generation. If they differ, the request is
// authenticated again before anything is written.
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

// take advances the proof to a later authentication that gave the same rights. After another one it stays as it was,
// so that every later change of the request fails, too.
func (p *Proof) take(later *Proof) { p.state.Store(later.state.Load()) }

// note keeps what authentication found, if a request is being authenticated.
func note(ctx context.Context, user calendar.UserID, generation int64) {
	if p, _ := ctx.Value(proofKey{}).(*Proof); p != nil {
		p.state.Store(&proven{user, generation})
	}
}

// User returns the user of the credentials.
func (p *Proof) User() calendar.UserID { return p.state.Load().user }

// Generation returns the generation at which the caller's rights were last known to hold.
func (p *Proof) Generation() int64 { return p.state.Load().generation }

// Renew authenticates the request again. It returns Forbidden, which is ErrUnauthorized, if the caller's access has
// ended, and Unavailable if their rights are others now.
func (p *Proof) Renew() error {
	if err := p.renew(); errors.Is(err, ErrUnauthorized) {
		return &calendar.Error{
			Reason: calendar.Forbidden, Message: "your access ended while the change waited for others", Cause: err,
		}
	} else if err != nil {
		return err
	}
	return nil
}
