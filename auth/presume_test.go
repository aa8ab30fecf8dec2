package auth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
)

// recalling is a store that has what any request is about in memory, and counts how often it is asked for credentials.
type recalling struct {
	auth.Store
	asked, presumed atomic.Int64
}

func (s *recalling) Presume(context.Context, calendar.UserID) bool {
	s.presumed.Add(1)
	return true
}

func (s *recalling) CredentialGeneration(ctx context.Context, of auth.Subject) (int64, error) {
	s.asked.Add(1)
	return s.Store.CredentialGeneration(ctx, of)
}

// presuming runs a test in a house whose store presumes whatever it is asked, with what alice shows to get in.
func presuming(t *testing.T, test func(h *house, s *recalling, authorization string)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) {
		s := new(recalling)
		h := open(t, url, atNoon(), func(inner auth.Store) auth.Store {
			s.Store = inner
			return s
		})
		h.createUser("alice")
		if err := h.login("alice", rightPassword); err != nil {
			t.Fatal(err)
		}
		s.asked.Store(0)
		test(h, s, basic("alice", rightPassword))
	})
}

// put is a PUT of an object whose address is known.
func put(t *testing.T, body io.Reader, authorization string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(auth.AskAlong(t.Context(), "work", "a.ics", true), http.MethodPut, "/", body)
	r.Header.Set("Authorization", authorization)
	return r
}

// TestPresumedIsNotAnswered: of work that rests on credentials nobody has looked at nothing goes out, no status, no header and no word of a
// body. It is done once more with the same body, which ends as it did.
func TestPresumedIsNotAnswered(t *testing.T) {
	t.Parallel()
	broken := errors.New("it breaks off")
	for what, read := range map[string]func(r io.Reader) (string, error){
		"all of the body": func(r io.Reader) (string, error) { b, err := io.ReadAll(r); return string(b), err },
		"none of it":      func(io.Reader) (string, error) { return "", nil },
		"its first letter": func(r io.Reader) (string, error) {
			b := make([]byte, 1)
			n, err := r.Read(b)
			return string(b[:n]), err
		},
	} {
		for _, end := range []error{io.EOF, broken} {
			t.Run(fmt.Sprint(what, ", ", end), func(t *testing.T) {
				t.Parallel()
				presuming(t, func(h *house, s *recalling, authorization string) {
					body := io.MultiReader(strings.NewReader("BEGIN:"), strings.NewReader("VCALENDAR"), readerFunc(func([]byte) (int, error) { return 0, end }))
					r := put(h.t, body, authorization)
					r.ContentLength = 15
					times := 0
					w := httptest.NewRecorder()
					w.Header().Set("X-Request-Id", "7")
					h.Require(davDoor(), func(w http.ResponseWriter, r *http.Request, c calendar.Caller) {
						if times++; times == 1 {
							_, _ = read(r.Body)
							_ = r.Body.Close()
							w.Header().Set("X-Request-Id", "tried")
							w.Header().Set("ETag", "tried")
							w.WriteHeader(http.StatusCreated)
							_, _ = io.WriteString(w, "tried")
							_ = http.NewResponseController(w).Flush()
							return
						}
						got, err := io.ReadAll(r.Body)
						w.WriteHeader(http.StatusTeapot)
						_, _ = fmt.Fprint(w, c.User.Name, " ", string(got), " ", err)
					}).ServeHTTP(w, r)
					want := fmt.Sprint("alice BEGIN:VCALENDAR ", map[bool]error{true: nil, false: end}[errors.Is(end, io.EOF)])
					if times != 2 || s.asked.Load() != 1 || w.Code != http.StatusTeapot || w.Body.String() != want || w.Flushed ||
						w.Header().Get("ETag") != "" || w.Header().Get("X-Request-Id") != "7" {
						h.t.Errorf("%d times, asked %d: %d %q %v", times, s.asked.Load(), w.Code, w.Body, w.Header())
					}
				})
			})
		}
	}
}

// TestPresumedIsAnswered: once the store has looked the answer goes out as it is, once, and nobody asks again.
func TestPresumedIsAnswered(t *testing.T) {
	t.Parallel()
	for what, answers := range map[string]func(w http.ResponseWriter){
		"in full": func(w http.ResponseWriter) {
			w.Header().Set("ETag", `"1"`)
			w.Header().Del("X-Early")
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "kept")
		},
		"with words alone": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, "kept")
		},
		"with nothing": func(http.ResponseWriter) {},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			presuming(t, func(h *house, s *recalling, authorization string) {
				times := 0
				serve := func(presumes bool) *httptest.ResponseRecorder {
					w := httptest.NewRecorder()
					w.Header().Set("X-Early", "1")
					r := put(h.t, strings.NewReader("x"), authorization)
					if !presumes {
						r = r.WithContext(h.t.Context())
					}
					h.Require(davDoor(), func(w http.ResponseWriter, r *http.Request, _ calendar.Caller) {
						times++
						if p := auth.AlongOf(r.Context()).Presumed(); p != nil {
							p.Settle()
						}
						answers(w)
					}).ServeHTTP(w, r)
					return w
				}
				got := serve(true)
				if times != 1 || s.asked.Load() != 0 {
					h.t.Errorf("it was done %d times, and asked %d", times, s.asked.Load())
				}
				want := serve(false)
				if diff := cmp.Diff(want.Result().Header, got.Result().Header); diff != "" || got.Code != want.Code || got.Body.String() != want.Body.String() {
					h.t.Errorf("%d %q, want %d %q\n%s", got.Code, got.Body, want.Code, want.Body, diff)
				}
			})
		})
	}
}

// TestPresumedForWhoWasRight: nobody's request is worked on whose credential was not right before, for this user and in this way, or is over.
func TestPresumedForWhoWasRight(t *testing.T) {
	t.Parallel()
	presuming(t, func(h *house, s *recalling, right string) {
		h.createUser("bob")
		_, token := h.createToken(auth.TokenSpec{User: "alice"})
		_, ending := h.createToken(auth.TokenSpec{User: "alice", Expires: h.Now().Add(time.Second)})
		for _, text := range []string{token, ending} {
			if err := h.bear(text); err != nil {
				h.t.Fatal(err)
			}
		}
		h.Pass(2 * time.Second)
		for _, c := range []struct {
			what          string
			authorization []string
			tried         bool
		}{
			{"the password", []string{right}, true},
			{"the token", []string{"Bearer " + token}, true},
			{"the token as a password", []string{basic("alice", token)}, true},
			{"the token with another name", []string{basic("bob", token)}, false},
			{"another password", []string{basic("alice", wrongPassword)}, false},
			{"the password with another name", []string{basic("bob", rightPassword)}, false},
			{"two passwords", []string{right, right}, false},
			{"two ways", []string{right, "Bearer " + token}, false},
			{"a token that has ended", []string{"Bearer " + ending}, false},
			{"an unknown scheme", []string{"Digest x"}, false},
			{"nothing", nil, false},
		} {
			s.presumed.Store(0)
			r := put(h.t, strings.NewReader("x"), "")
			r.Header["Authorization"] = c.authorization
			tried := false
			h.Require(davDoor(), func(_ http.ResponseWriter, r *http.Request, _ calendar.Caller) {
				tried = tried || auth.AlongOf(r.Context()).Presumed() != nil
			}).ServeHTTP(httptest.NewRecorder(), r)
			if tried != c.tried || (s.presumed.Load() > 0) != c.tried {
				h.t.Errorf("%s: tried %v, the store was asked %d times", c.what, tried, s.presumed.Load())
			}
		}
	})
}

// TestPresumedRequests: only a short body of known length that comes without a question is held, and a panic ends the request.
func TestPresumedRequests(t *testing.T) {
	t.Parallel()
	presuming(t, func(h *house, _ *recalling, right string) {
		for what, change := range map[string]func(r *http.Request) *http.Request{
			"a length that is not told": func(r *http.Request) *http.Request { r.ContentLength = -1; return r },
			"a long body":               func(r *http.Request) *http.Request { r.ContentLength = 64<<10 + 1; return r },
			"a question first":          func(r *http.Request) *http.Request { r.Header.Set("Expect", "100-continue"); return r },
			"no object": func(r *http.Request) *http.Request {
				return r.WithContext(auth.AskAlong(r.Context(), "work", "", false))
			},
			"no calendar": func(r *http.Request) *http.Request { return r.WithContext(context.WithoutCancel(h.t.Context())) },
		} {
			times := 0
			h.Require(davDoor(), func(_ http.ResponseWriter, r *http.Request, _ calendar.Caller) {
				times++
				if auth.AlongOf(r.Context()).Presumed() != nil {
					h.t.Errorf("%s: it is tried", what)
				}
			}).ServeHTTP(httptest.NewRecorder(), change(put(h.t, strings.NewReader("x"), right)))
			if times != 1 {
				h.t.Errorf("%s: done %d times", what, times)
			}
		}
		times := 0
		err := panicOf(func() {
			h.Require(davDoor(), func(http.ResponseWriter, *http.Request, calendar.Caller) {
				times++
				panic(http.ErrAbortHandler)
			}).ServeHTTP(httptest.NewRecorder(), put(h.t, strings.NewReader("x"), right))
		})
		if times != 1 || !errors.Is(err, http.ErrAbortHandler) {
			h.t.Errorf("after a panic: %d times, %v", times, err)
		}
	})
}
