package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

const sessionHeader = "Mcp-Session-Id"

// sessionID is what a client shows to go on with a session. All there is to know of the
// session stands in it, sealed for the caller who opened it:
//
//	base64url("2025-11-25 1767258000 4fbc…") "." base64url(HMAC(key, caller, the same text))
//
// Further words tell that its client can ask the person in front of it, or have them open a page.
//
// So no process keeps anything, every process that has the key accepts it, and with another
// token it is as good as none.
type sessionID string

// session is what was agreed on when it was opened.
type session struct {
	version version
	opened  time.Time
	// asks tells that its client can ask the person in front of it, opens that it can have them open a page.
	asks, opens bool
}

// owner is whose a session is: not the user's alone but the token's, so that one program
// can't go on with another's session.
type owner struct {
	user  calendar.UserID
	token calendar.TokenID
}

func ownerOf(c calendar.Caller) owner { return owner{c.User.ID, c.Token} }

// maxEnded bounds the memory of sessions that were ended before their time. One that it
// forgets can be used again, by its own token alone, which could open a new one as well.
const maxEnded = 4096

// sessions makes and reads session ids.
type sessions struct {
	key   []byte
	age   time.Duration
	now   func() time.Time
	newID func() string

	mu sync.Mutex
	// ended are the ids that were given up, next the oldest of them.
	ended map[sessionID]bool
	ring  []sessionID
	next  int
}

func newSessions(key []byte, age time.Duration, now func() time.Time, newID func() string) *sessions {
	return &sessions{key: key, age: age, now: now, newID: newID, ended: make(map[sessionID]bool)}
}

// begin makes the id of a new session.
func (s *sessions) begin(o owner, v version, abilities ...string) sessionID {
	text := strings.Join(append([]string{string(v), strconv.FormatInt(s.now().Unix(), 10), s.newID()}, abilities...), " ")
	return sessionID(encode([]byte(text)) + "." + encode(s.seal(o, text)))
}

// resume reads an id back. It is false for whatever the owner has no open session under;
// why, is nobody's business.
func (s *sessions) resume(o owner, id sessionID) (session, bool) {
	text, seal, ok := strings.Cut(string(id), ".")
	// Strict: a session that was given up must not go on under another text which means the same.
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ok || err != nil || !hmac.Equal([]byte(seal), []byte(encode(s.seal(o, string(plain))))) || s.hasEnded(id) {
		return session{}, false
	}
	opened, err := parseSession(string(plain))
	return opened, err == nil && s.now().Sub(opened.opened) < s.age
}

func parseSession(text string) (session, error) {
	fields := strings.Fields(text)
	if len(fields) < 3 || len(fields) > 5 {
		return session{}, fmt.Errorf("a session of %d fields", len(fields))
	}
	at, err := strconv.ParseInt(fields[1], 10, 64)
	return session{version(fields[0]), time.Unix(at, 0), slices.Contains(fields[3:], asksWord), slices.Contains(fields[3:], opensWord)}, err
}

// asksWord stands in a session whose client asks, opensWord in one whose client has pages opened.
const (
	asksWord  = "asks"
	opensWord = "opens"
)

// abilitiesOf are the words for what a client declares that opens a session.
func abilitiesOf(v version, m message) (words []string) {
	if v.plain() {
		return nil
	}
	asks, opens := abilities(m.capabilities())
	if asks {
		words = append(words, asksWord)
	}
	if opens {
		words = append(words, opensWord)
	}
	return words
}

// seal is the proof that we made the id for this owner. The quotes keep one part from
// running into the next.
func (s *sessions) seal(o owner, text string) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(fmt.Appendf(nil, "mcp session %q %q %q", o.user, o.token, text))
	return mac.Sum(nil)
}

// end gives a session up, on this process.
func (s *sessions) end(id sessionID) {
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

func (s *sessions) hasEnded(id sessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[id]
}

// subscriberOf is what the store knows a session by; nobody can use it as one.
func subscriberOf(id sessionID) calendar.SubscriberID {
	sum := sha256.Sum256([]byte(id))
	return calendar.SubscriberID(hex.EncodeToString(sum[:]))
}

// once is an id for a request without a session, good for that request alone. mcp-go keys
// what it keeps by session id; left empty, all such requests of all users would share it.
func (s *sessions) once() sessionID { return sessionID("once-" + s.newID()) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// sealed tells mcp-go that sessions are none of its business: ids are made and checked by
// our layer before a request gets there. An empty id keeps it from remembering the session.
type sealed struct{}

func (sealed) Generate() string              { return "" }
func (sealed) Validate(string) (bool, error) { return false, nil }

func (sealed) Terminate(string) (bool, error) { return false, nil }

// endSession serves DELETE: the client gives its session up.
func (h *Handler) endSession(w http.ResponseWriter, r *http.Request, caller calendar.Caller) {
	if headerVersion(r).modern() {
		refuseSessionMethod(w, r)
		return
	}
	id := sessionID(r.Header.Get(sessionHeader))
	if id == "" {
		refuse(w, http.StatusBadRequest, "say which session with the header "+sessionHeader)
		return
	}
	if _, ok := h.sessions.resume(ownerOf(caller), id); !ok {
		refuseSession(w)
		return
	}
	h.sessions.end(id)
	h.streams.end(id)
	h.forget(r.Context(), id)
	w.WriteHeader(http.StatusNoContent)
}

// forget ends what a session that is over subscribes to.
func (h *Handler) forget(ctx context.Context, id sessionID) {
	if err := h.box.service.Unsubscribe(ctx, subscriberOf(id), ""); err != nil {
		h.log.WarnContext(ctx, "the subscriptions of a session stay until its time is over", slog.String("error", service.ForLog(err)))
	}
}

// refuseSession answers an id that the caller has no session under. Clients then begin anew
// (MCP 2025-03-26 "Session Management", rule 4).
func refuseSession(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "no such session: open one with initialize")
}

// refuseSessionMethod answers GET and DELETE at a version without sessions (MCP 2026-07-28).
func refuseSessionMethod(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", http.MethodPost)
	refuse(w, http.StatusMethodNotAllowed, "this version of the protocol has no sessions and no "+r.Method)
}
