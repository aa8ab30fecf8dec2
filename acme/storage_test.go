package acme

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/internal/housetest"
	"caldav-mcp-server/internal/testdb"
)

var _ certmagic.Storage = new(storage)

// What one process keeps another finds, on both engines, under names that lie in one another as files do.
func TestStorage(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := housetest.Open(t, url, housetest.At(time.Unix(1_700_000_000, 0)))
		one, two := newStorage(h.Store, h.Now), newStorage(h.Store, h.Now)
		ctx := t.Context()
		if _, err := one.Load(ctx, "a/b"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what is not there: %v", err)
		}
		if _, err := one.List(ctx, "a", true); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a place that is not there: %v", err)
		}
		for _, key := range []string{"a/b/c.crt", "a/b/c.key", "a/bb", "other"} {
			if err := one.Store(ctx, key, []byte("\x00"+key)); err != nil {
				t.Fatal(err)
			}
		}
		h.Pass(time.Hour)
		if err := two.Store(ctx, "other", []byte("new")); err != nil {
			t.Fatal(err)
		}
		got, err := one.Load(ctx, "other")
		if err != nil || string(got) != "new" {
			t.Errorf("read %q, %v", got, err)
		}
		if got, err := two.Load(ctx, "a/b/c.crt"); err != nil || string(got) != "\x00a/b/c.crt" {
			t.Errorf("read %q, %v", got, err)
		}
		testListing(t, two, h.Now())
		if err := two.Delete(ctx, "a/b"); err != nil {
			t.Fatal(err)
		}
		if one.Exists(ctx, "a/b/c.key") || one.Exists(ctx, "a/b") || !one.Exists(ctx, "a/bb") || !one.Exists(ctx, "a") {
			t.Error("what lies below a name goes with it, and nothing else")
		}
	})
}

func testListing(t *testing.T, s *storage, now time.Time) {
	t.Helper()
	for _, c := range []struct {
		path      string
		recursive bool
		want      []string
	}{
		{"", false, []string{"a", "other"}},
		{"a", false, []string{"a/b", "a/bb"}},
		{"a/", true, []string{"a/b", "a/b/c.crt", "a/b/c.key", "a/bb"}},
	} {
		got, err := s.List(t.Context(), c.path, c.recursive)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", c.path, err, diff)
		}
	}
	file, err := s.Stat(t.Context(), "other")
	if want := (certmagic.KeyInfo{Key: "other", Modified: now.UTC(), Size: 3, IsTerminal: true}); err != nil || !file.Modified.Equal(now) || file.Size != 3 || !file.IsTerminal {
		t.Errorf("%+v, %v instead of %+v", file, err, want)
	}
	if place, err := s.Stat(t.Context(), "a/b"); err != nil || place.IsTerminal {
		t.Errorf("a place is %+v, %v", place, err)
	}
}

// A lock has one holder among all processes, and outlives a dead one for a while only.
func TestLocks(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		h := housetest.Open(t, url, housetest.At(time.Unix(1_700_000_000, 0)))
		one, two := newStorage(h.Store, h.Now), newStorage(h.Store, h.Now)
		ctx := t.Context()
		if err := one.Lock(ctx, "x"); err != nil {
			t.Fatal(err)
		}
		impatient, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		if err := two.Lock(impatient, "x"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("two hold one lock: %v", err)
		}
		if err := two.Lock(ctx, "y"); err != nil {
			t.Errorf("another lock: %v", err)
		}
		if err := errors.Join(one.Unlock(ctx, "x"), two.Lock(ctx, "x")); err != nil {
			t.Fatal(err)
		}
		if err := one.Unlock(ctx, "x"); err == nil {
			t.Error("who holds nothing gave it back")
		}
		// The holder dies without a word.
		two.held["x"], two.held["y"] = nil, nil
		h.Pass(lockFor + time.Second)
		if err := errors.Join(one.Lock(ctx, "x"), one.Unlock(ctx, "x")); err != nil {
			t.Error(err)
		}
	})
}
