package acme

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/crypto/acme/autocert"
)

// Shelf stores certificates, keys and challenge responses for all processes.
type Shelf interface {
	// Certificate returns the data under a name and when it changed; nil if there is none.
	Certificate(ctx context.Context, name string) (data []byte, changed time.Time, err error)
	KeepCertificate(ctx context.Context, name string, data []byte) error
	DropCertificate(ctx context.Context, name string) error
	// Lease takes the lease of a name for a holder, unless another one holds it now.
	Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error)
	Release(ctx context.Context, name, holder string) error
}

const (
	// lockFor is the lifetime of a lock after its process has died: longer than an order takes.
	lockFor = 6 * time.Minute
	// lockAgain is the polling interval while another process holds the lock.
	lockAgain = 500 * time.Millisecond
)

// storage adapts a Shelf to autocert's interface.
type storage struct {
	Shelf
	names []string
	now   func() time.Time
	log   *slog.Logger
}

// Get implements [autocert.Cache].
func (s *storage) Get(ctx context.Context, key string) ([]byte, error) {
	data, _, err := s.Certificate(ctx, key)
	if err == nil && data == nil {
		err = autocert.ErrCacheMiss
	}
	return data, err
}

// Put implements [autocert.Cache]. A certificate has the host name as its key; other data has a suffix.
func (s *storage) Put(ctx context.Context, key string, data []byte) error {
	err := s.KeepCertificate(ctx, key, data)
	if err == nil && slices.Contains(s.names, key) {
		s.log.InfoContext(ctx, "certificate", "name", key)
	}
	return err
}

// Delete implements [autocert.Cache].
func (s *storage) Delete(ctx context.Context, key string) error { return s.DropCertificate(ctx, key) }

// locked runs work in one process at a time. The lock ends with the work, or a while after its process has died.
func (s *storage) locked(ctx context.Context, key string, work func() error) error {
	name, holder := "certificate "+key, rand.Text()
	ticker := time.NewTicker(lockAgain)
	defer ticker.Stop()
	for {
		mine, err := s.Lease(ctx, name, holder, s.now(), s.now().Add(lockFor))
		if err != nil {
			return fmt.Errorf("locking %s: %w", key, err)
		}
		if mine {
			defer func() { _ = s.Release(context.WithoutCancel(ctx), name, holder) }()
			return work()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
