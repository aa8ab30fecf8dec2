package acme

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

// What one process keeps another finds, on both engines, and a certificate that is new is told.
func TestStorage(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := housetest.Open(t, url, housetest.At(time.Unix(1_700_000_000, 0)))
		one := &storage{h.Store, []string{"calendar.example"}, h.Now, h.Logger()}
		two := &storage{h.Store, nil, h.Now, h.Logger()}
		ctx := t.Context()
		if _, err := one.Get(ctx, "a"); !errors.Is(err, autocert.ErrCacheMiss) {
			t.Errorf("what is not there: %v", err)
		}
		for _, key := range []string{"a", "calendar.example", "calendar.example+token"} {
			if err := one.Put(ctx, key, []byte("\x00"+key)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(two.Put(ctx, "a", []byte("new")), two.Delete(ctx, "calendar.example+token"),
			two.Delete(ctx, "none")); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string]string{"a": "new", "calendar.example": "\x00calendar.example"} {
			if got, err := one.Get(ctx, key); err != nil || string(got) != want {
				t.Errorf("%s is %q, %v", key, got, err)
			}
		}
		if _, err := one.Get(ctx, "calendar.example+token"); !errors.Is(err, autocert.ErrCacheMiss) {
			t.Errorf("what was deleted: %v", err)
		}
		if want := "level=INFO msg=certificate name=calendar.example\n"; h.Log.String()[len(h.Log.String())-
			len(want):] != want {
			t.Error(h.Log.String())
		}
	})
}

// One process at a time orders, and one that died keeps the others waiting for a while only.
func TestLocks(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := housetest.Open(t, url, housetest.At(time.Unix(1_700_000_000, 0)))
		one, two := &storage{h.Store, nil, h.Now, h.Logger()}, &storage{h.Store, nil, h.Now, h.Logger()}
		ctx := t.Context()
		err := one.locked(ctx, "x", func() error {
			impatient, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			if err := two.locked(impatient, "x", func() error {
				return nil
			}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("two work at once: %v", err)
			}
			return two.locked(ctx, "y", func() error { return nil })
		})
		if err != nil {
			t.Error(err)
		}
		wrong := errors.New("wrong")
		if err := two.locked(ctx, "x", func() error { return wrong }); !errors.Is(err, wrong) {
			t.Errorf("after the work: %v", err)
		}
		if _, err := h.Store.Lease(ctx, "certificate x", "who died", h.Now(), h.Now().Add(lockFor)); err != nil {
			t.Fatal(err)
		}
		h.Pass(lockFor + time.Second)
		if err := one.locked(ctx, "x", func() error { return nil }); err != nil {
			t.Error(err)
		}
	})
}
