package acme

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
)

// Shelf is where certificates, keys and unanswered questions lie, for all processes.
type Shelf interface {
	// Certificate returns what lies under a name, and since when; nil for nothing.
	Certificate(ctx context.Context, name string) (data []byte, changed time.Time, err error)
	KeepCertificate(ctx context.Context, name string, data []byte) error
	DropCertificate(ctx context.Context, name string) error
	// Certificates are the names that there are.
	Certificates(ctx context.Context) ([]string, error)
	// Lease gives the lease of a name to a holder until a time, unless another holds it now.
	Lease(ctx context.Context, name, holder string, now, until time.Time) (bool, error)
	Release(ctx context.Context, name, holder string) error
}

const (
	// lockFor is how long a lock outlives a process that died, renewLock how often one that lives holds on to it.
	lockFor   = 2 * time.Minute
	renewLock = lockFor / 4
	// lockAgain is how often one waits for another's lock.
	lockAgain = 500 * time.Millisecond
)

// storage is a shelf as certmagic wants it.
type storage struct {
	Shelf
	now func() time.Time

	mu sync.Mutex
	// held are the locks of this process, with what ends them.
	held map[string]func(context.Context) error
}

func newStorage(shelf Shelf, now func() time.Time) *storage {
	return &storage{Shelf: shelf, now: now, held: map[string]func(context.Context) error{}}
}

// Store implements [certmagic.Storage].
func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	return s.KeepCertificate(ctx, key, value)
}

// Load implements [certmagic.Storage].
func (s *storage) Load(ctx context.Context, key string) ([]byte, error) {
	data, _, err := s.Certificate(ctx, key)
	if err == nil && data == nil {
		err = fs.ErrNotExist
	}
	return data, err
}

// Delete implements [certmagic.Storage]: a name with others below it goes with them.
func (s *storage) Delete(ctx context.Context, key string) error {
	names, err := s.Certificates(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if name != key && !strings.HasPrefix(name, key+"/") {
			continue
		}
		if err := s.DropCertificate(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// Exists implements [certmagic.Storage].
func (s *storage) Exists(ctx context.Context, key string) bool {
	_, err := s.Stat(ctx, key)
	return err == nil
}

// List implements [certmagic.Storage].
func (s *storage) List(ctx context.Context, path string, recursive bool) ([]string, error) {
	names, err := s.Certificates(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	prefix := strings.Trim(path, "/")
	if prefix != "" {
		prefix += "/"
	}
	for _, name := range names {
		rest, below := strings.CutPrefix(name, prefix)
		if !below {
			continue
		}
		parts := strings.Split(rest, "/")
		if !recursive {
			parts = parts[:1]
		}
		for i := range parts {
			found[prefix+strings.Join(parts[:i+1], "/")] = true
		}
	}
	if len(found) == 0 {
		return nil, fs.ErrNotExist
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// Stat implements [certmagic.Storage].
func (s *storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	data, changed, err := s.Certificate(ctx, key)
	if err != nil || data != nil {
		return certmagic.KeyInfo{Key: key, Modified: changed, Size: int64(len(data)), IsTerminal: true}, err
	}
	_, err = s.List(ctx, key, false)
	return certmagic.KeyInfo{Key: key}, err
}

// Lock implements [certmagic.Storage]. A lock ends with who holds it, a while after its process has died.
func (s *storage) Lock(ctx context.Context, key string) error {
	name, holder := "certificate "+key, rand.Text()
	ticker := time.NewTicker(lockAgain)
	defer ticker.Stop()
	for {
		mine, err := s.Lease(ctx, name, holder, s.now(), s.now().Add(lockFor))
		if err != nil {
			return fmt.Errorf("locking %s: %w", key, err)
		}
		if mine {
			s.hold(ctx, key, name, holder)
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hold keeps a lock until it is given back.
func (s *storage) hold(ctx context.Context, key, name, holder string) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(renewLock)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				// One that could not be renewed is tried again before it ends.
				_, _ = s.Lease(ctx, name, holder, s.now(), s.now().Add(lockFor))
			case <-ctx.Done():
				return
			}
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[key] = func(ctx context.Context) error {
		cancel()
		<-ended
		return s.Release(context.WithoutCancel(ctx), name, holder)
	}
}

// Unlock implements [certmagic.Storage].
func (s *storage) Unlock(ctx context.Context, key string) error {
	s.mu.Lock()
	end := s.held[key]
	delete(s.held, key)
	s.mu.Unlock()
	if end == nil {
		return fmt.Errorf("%s is not locked", key)
	}
	return end(ctx)
}
