package bench

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/store"
)

const authPassword = "correct horse battery"

// BenchmarkAuthHash is the cost of one hash with the parameters of the running program.
func BenchmarkAuthHash(b *testing.B) {
	hasher := auth.Argon2id{Cost: auth.DefaultCost()}
	h, err := hasher.Hash(authPassword)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if c, err := hasher.Check(authPassword, h); err != nil || !c.Right {
			b.Fatal(c, err)
		}
	}
}

// BenchmarkAuthGet is a GET over a connection that is kept alive, of an object in the store:
// without credentials, with a password and with a token. The ratio of the last two to the first
// must stay below 3.
func BenchmarkAuthGet(b *testing.B) {
	testdb.EachBenchmark(b, func(b *testing.B, url string) {
		s := authStore(b, url)
		service := authService(s)
		cal, token := authHouse(b, s, service)
		get := func(w http.ResponseWriter, r *http.Request, _ calendar.Caller) {
			o, err := s.Object(r.Context(), cal.ID, "meeting.ics")
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			_, _ = w.Write(o.Data)
		}
		guarded := service.Require(authDoor(), get)
		open := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { get(w, r, calendar.Caller{}) })
		b.Run("open", func(b *testing.B) { benchmarkGet(b, open, func(*http.Request) {}) })
		b.Run("password", func(b *testing.B) {
			benchmarkGet(b, guarded, func(r *http.Request) { r.SetBasicAuth("alice", authPassword) })
		})
		b.Run("token", func(b *testing.B) {
			benchmarkGet(b, guarded, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+string(token)) })
		})
	})
}

func authDoor() auth.Door {
	return auth.Door{
		Schemes: []auth.Scheme{auth.Basic, auth.Bearer}, Realm: "calendar", Refuse: auth.RefuseText,
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	}
}

func authStore(b *testing.B, url string) *store.Store {
	b.Helper()
	s, err := store.Open(b.Context(), url, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	return s
}

func authService(s *store.Store) *auth.Service {
	return auth.New(auth.Config{
		Store: s, Now: time.Now, NewID: func() string { return "alice-id" }, Logger: slog.New(slog.DiscardHandler),
		Hasher: auth.Argon2id{Cost: auth.DefaultCost()}, Limits: auth.DefaultLimits(),
	})
}

// authHouse fills a store with a user, a calendar, an object and a token.
func authHouse(b *testing.B, s *store.Store, service *auth.Service) (calendar.Calendar, auth.Secret) {
	b.Helper()
	alice, err := service.CreateUser(b.Context(), auth.NewUser{Name: "alice", Password: authPassword})
	if err != nil {
		b.Fatal(err)
	}
	_, token, err := service.CreateToken(b.Context(), auth.TokenSpec{
		User: "alice", Name: "bench", Scopes: calendar.ScopeAll,
	})
	if err != nil {
		b.Fatal(err)
	}
	cal := calendar.Calendar{
		ID: "work-id", Owner: alice.ID, Segment: "work",
		Properties: calendar.Properties{Name: "Work", Timezone: "UTC", Kinds: calendar.AllKinds()},
	}
	data := make([]byte, 1024)
	err = s.Update(b.Context(), func(tx calendar.Tx) error {
		if err := tx.InsertCalendar(b.Context(), cal); err != nil {
			return err
		}
		locked, err := tx.Advance(b.Context(), cal.ID)
		if err != nil {
			return err
		}
		return tx.PutObject(b.Context(), calendar.Object{
			Calendar: cal.ID, Name: "meeting.ics", ETag: calendar.ETagOf(data), Version: locked.Version,
			Size: int64(len(data)), Data: data, Derived: calendar.Derived{UID: "meeting", Kind: calendar.Event},
		})
	})
	if err != nil {
		b.Fatal(err)
	}
	return cal, token
}

func benchmarkGet(b *testing.B, h http.Handler, prepare func(*http.Request)) {
	server := httptest.NewServer(h)
	defer server.Close()
	get := func() {
		r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		prepare(r)
		answer, err := server.Client().Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
			b.Fatal(answer.Status, err)
		}
	}
	get() // the one that is hashed
	b.ReportAllocs()
	for b.Loop() {
		get()
	}
}
