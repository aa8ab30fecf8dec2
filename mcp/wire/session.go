package wire

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// SessionHeader is the header with the id of a session.
const SessionHeader = "Mcp-Session-Id"

// SessionID is the id that a client sends to continue a session. It contains the whole state of the session,
// authenticated for the caller who opened it:
//
// base64url("2025-11-25 1767258000 4fbc…") "." base64url(HMAC(key, caller, the same text))
//
// Optional words at the end of the text say that the client supports elicitation by form or by page, or shows HTML
// pages.
//
// So no process stores sessions, every process with the key accepts an id, and with another token it is invalid.
type SessionID string

// Session is the state that was agreed on at initialize.
type Session struct {
	Version Version
	Opened  time.Time
	// asks is set if the client supports elicitation by form, opens if by page. shows is set if it shows HTML pages.
	asks, opens, shows bool
}

// Owner is the owner of a session: a token of a user, so that one client cannot use another's session.
type Owner struct {
	User, Token string
}

// maxEnded limits the memory for sessions that were ended early. An id that it forgets becomes valid again, but only
// for the same token, which could open a new session anyway.
const maxEnded = 4096

// Sessions creates and verifies session ids.
type Sessions struct {
	key   []byte
	age   time.Duration
	now   func() time.Time
	newID func() string

	mu sync.Mutex
	// ended are the ids of ended sessions, next the position of the oldest.
	ended map[SessionID]bool
	ring  []SessionID
	next  int
}

// NewSessions returns the sessions that a key authenticates.
func NewSessions(key []byte, age time.Duration, now func() time.Time, newID func() string) *Sessions {
	return &Sessions{key: key, age: age, now: now, newID: newID, ended: make(map[SessionID]bool)}
}

// Begin returns the id of a new session.
func (s *Sessions) Begin(o Owner, v Version, abilities ...string) SessionID {
	text := strings.Join(append([]string{string(v), strconv.FormatInt(s.now().Unix(), 10), s.newID()},
		abilities...), " ")
	return SessionID(Base64([]byte(text)) + "." + Base64(s.seal(o, text)))
}

// resume verifies an id. It returns false, without a reason, for any id that is not an open session of the owner.
func (s *Sessions) resume(o Owner, id SessionID) (Session, bool) {
	text, seal, ok := strings.Cut(string(id), ".")
	// Strict: otherwise an ended session could continue under another encoding of the same text.
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ok || err != nil || !hmac.Equal([]byte(seal), []byte(Base64(s.seal(o, string(plain))))) || s.hasEnded(id) {
		return Session{}, false
	}
	opened, err := parseSession(string(plain))
	return opened, err == nil && opened.Version.known() && s.now().Sub(opened.Opened) < s.age
}

func parseSession(text string) (Session, error) {
	fields := strings.Fields(text)
	if len(fields) < 3 || len(fields) > 6 {
		return Session{}, fmt.Errorf("a session of %d fields", len(fields))
	}
	at, err := strconv.ParseInt(fields[1], 10, 64)
	return Session{
		Version(fields[0]), time.Unix(at, 0), slices.Contains(fields[3:], asksWord),
		slices.Contains(fields[3:], opensWord), slices.Contains(fields[3:], showsWord),
	}, err
}

// asksWord and opensWord mark a session whose client supports elicitation by form or by page, showsWord one whose
// client shows HTML pages.
const (
	asksWord  = "asks"
	opensWord = "opens"
	showsWord = "shows"
)

// abilitiesOf returns the words for the capabilities in an initialize.
func abilitiesOf(v Version, m Message) (words []string) {
	if v.Plain() {
		return nil
	}
	asks, opens := abilities(m.capabilities())
	if asks {
		words = append(words, asksWord)
	}
	if opens {
		words = append(words, opensWord)
	}
	if showsViews(m.capabilities()) {
		words = append(words, showsWord)
	}
	return words
}

// seal authenticates an id for its owner. The quotes separate the parts unambiguously.
func (s *Sessions) seal(o Owner, text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(fmt.Appendf(nil, "mcp session %q %q %q", o.User, o.Token, text))
	return mac.Sum(nil)
}

// end ends a session, on this process only.
func (s *Sessions) end(id SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[id] {
		return
	}
	s.ended[id] = true
	if len(s.ring) < maxEnded {
		s.ring = append(s.ring, id)
		return
	}
	delete(s.ended, s.ring[s.next])
	s.ring[s.next] = id
	s.next = (s.next + 1) % maxEnded
}

func (s *Sessions) hasEnded(id SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[id]
}

// once returns an id for a single request without a session. mcp-go stores state by session id; with an empty id, all
// users would share that state.
func (s *Sessions) once() SessionID { return SessionID("once-" + s.newID()) }

// Base64 encodes bytes for ids and states.
func Base64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sealed disables mcp-go's own sessions: our layer creates and checks ids before a request gets there. The empty id
// keeps mcp-go from storing the session.
type sealed struct{}

func (sealed) Generate() string              { return "" }
func (sealed) Validate(string) (bool, error) { return false, nil }

func (sealed) Terminate(string) (bool, error) { return false, nil }

// refuseSession refuses an invalid session id. Clients then open a new session (MCP 2025-03-26 "Session Management",
// rule 4).
func refuseSession(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "no such session: open one with initialize")
}

// refuseSessionMethod refuses GET and DELETE in a version without sessions (MCP 2026-07-28).
func refuseSessionMethod(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	refuse(w, http.StatusMethodNotAllowed, "this version of the protocol has no sessions and no "+r.Method)
}

// Peer is a caller as far as the protocol knows them.
type Peer struct {
	Owner
	// Name is the user's name for the log. Expires is when the token ends; zero if it does not.
	Name    string
	Expires time.Time
	// Account is the caller as the content knows them.
	Account any
}
