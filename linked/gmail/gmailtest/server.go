// Package gmailtest is a small Gmail API v1 for tests: mails, threads and pages as in the published API description,
// and a token endpoint. It accepts no parameter and returns no field that the description does not have.
package gmailtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"caldav-mcp-server/linked/rest/resttest"
)

// fieldsText is an extract of the discovery document.
//
//go:embed fields.txt
var fieldsText string

// Address is the account's address.
const Address = "ann@gmail.test"

// Server is the fake.
type Server struct {
	resttest.Faults

	// Inline is the size of the largest text that is part of a mail's own data; 0 means any. Gmail keeps larger texts
	// apart, as attachments without a name.
	Inline int
	// Good reports whether an access token is valid; nil accepts the ones issued here. Owner is the account's address.
	Good  func(access string) bool
	Owner string

	mu     sync.Mutex
	mails  []mail
	serial int
	// key is the refresh token; tokens are the valid access tokens issued for it.
	key    string
	tokens map[string]bool
	scope  string
	fields map[string]string
}

// mail is a mail as it arrived.
type mail struct {
	id, thread string
	raw        string
	labels     []string
}

// New makes an account without mail, with the refresh token "key".
func New() *Server {
	s := &Server{
		Owner: Address, key: "key", tokens: map[string]bool{}, fields: map[string]string{},
		scope: "https://www.googleapis.com/auth/gmail.readonly",
	}
	for line := range strings.Lines(fieldsText) {
		words := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#") || len(words) < 2:
		case words[0] == "parameter":
			s.fields[words[1]+"?"+words[2]] = strings.Join(words[3:], " ")
		case words[0] == "method":
			s.fields[words[1]] = words[2] + " /" + words[3]
		default:
			s.fields[words[0]] = strings.Join(words[1:], " ")
		}
	}
	return s
}

// Add delivers a mail, as raw text. Mails with the same thread form a conversation.
func (s *Server) Add(id, thread, raw string, labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, mail{id, thread, strings.ReplaceAll(raw, "\n", "\r\n"), labels})
}

// Revoke revokes the grant, as the owner can.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.tokens = "", map[string]bool{}
}

// Expire invalidates all access tokens.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = map[string]bool{}
}

// Grant makes a new grant with another refresh token, for a scope.
func (s *Server) Grant(key, scope string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.scope = key, scope
}

// Handler serves requests below /gmail/v1 and the token endpoint at /token.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for method, answer := range map[string]func(*http.Request) (string, any, error){
		"getProfile": s.profile, "messages.list": s.listMessages, "messages.get": s.getMessage,
		"threads.list": s.listThreads, "threads.get": s.getThread,
	} {
		mux.HandleFunc(s.fields[method], s.guarded(method, answer))
	}
	mux.HandleFunc("POST /token", s.token)
	return s.Before(mux)
}

// token issues access tokens (RFC 6749 §5) for the code "code", which stands for the present refresh token, and for the
// refresh token itself.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	ok := r.PostFormValue("grant_type") == "refresh_token" && r.PostFormValue("refresh_token") == s.key ||
		r.PostFormValue("grant_type") == "authorization_code" && r.PostFormValue("code") == "code" &&
			r.PostFormValue("code_verifier") != ""
	if !ok || s.key == "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`))
		return
	}
	s.serial++
	access := "access-" + strconv.Itoa(s.serial)
	s.tokens[access] = true
	answer := map[string]any{"access_token": access, "expires_in": 3600, "token_type": "Bearer", "scope": s.scope}
	if r.PostFormValue("code") != "" {
		answer["refresh_token"] = s.key
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// failure is an error response.
type failure struct {
	status         int
	reason, detail string
}

func (f *failure) Error() string { return f.reason + ": " + f.detail }

func no(status int, reason, detail string) error { return &failure{status, reason, detail} }

// guarded serves one method, and rejects requests that do not conform to the API description.
func (s *Server) guarded(method string, answer func(*http.Request) (string, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, err := s.answer(method, r, answer)
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		if f, failed := err.(*failure); failed {
			w.WriteHeader(f.status)
			body = map[string]any{"error": map[string]any{
				"code": f.status, "message": f.detail,
				"errors": []any{map[string]any{"domain": "global", "reason": f.reason, "message": f.detail}},
			}}
		}
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (s *Server) answer(method string, r *http.Request, answer func(*http.Request) (string, any, error)) (any, error) {
	access, good := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), s.Good
	if good == nil {
		good = func(access string) bool { return s.tokens[access] }
	}
	if !good(access) {
		return nil, no(http.StatusUnauthorized, "authError", "Invalid Credentials")
	}
	if r.PathValue("userId") != "me" {
		return nil, no(http.StatusForbidden, "forbidden", "Delegation denied")
	}
	for name, values := range r.URL.Query() {
		kind, known := s.fields[method+"?"+name]
		if !known {
			return nil, no(http.StatusBadRequest, "invalidParameter", method+" has no parameter "+name)
		}
		if _, words, listed := strings.Cut(kind, "string "); listed &&
			!slices.Contains(strings.Split(words, ","), values[0]) {
			return nil, no(http.StatusBadRequest, "invalidArgument", "Invalid value at '"+name+"'")
		}
	}
	schema, body, err := answer(r)
	if err != nil {
		return nil, err
	}
	if err := s.check(schema, body); err != nil {
		return nil, err
	}
	if mask := r.URL.Query().Get("fields"); mask != "" {
		return s.masked(schema, body, mask)
	}
	return body, nil
}

func (s *Server) profile(*http.Request) (string, any, error) {
	return "Profile", map[string]any{
		"emailAddress": s.Owner, "messagesTotal": len(s.mails), "threadsTotal": len(s.mails), "historyId": "1",
	}, nil
}

// page returns a page of a list.
func page[T any](r *http.Request, all []T) (some []T, next string, err error) {
	from, size := 0, 100
	if text := r.URL.Query().Get("maxResults"); text != "" {
		if size, err = strconv.Atoi(text); err != nil || size < 1 {
			return nil, "", no(http.StatusBadRequest, "invalidArgument", "Invalid maxResults")
		}
	}
	if token := r.URL.Query().Get("pageToken"); token != "" {
		if from, err = strconv.Atoi(strings.TrimPrefix(token, "page-")); err != nil || from > len(all) {
			return nil, "", no(http.StatusBadRequest, "invalidArgument", "Invalid pageToken")
		}
	}
	end := min(from+min(size, 500), len(all))
	if end < len(all) {
		next = fmt.Sprintf("page-%d", end)
	}
	return all[from:end], next, nil
}

// found returns the mails that match all words of the query, the latest first, without spam and trash.
func (s *Server) found(r *http.Request) (found []mail) {
	for _, m := range slices.Backward(s.mails) {
		has := r.URL.Query().Get("includeSpamTrash") == "true" ||
			!slices.Contains(m.labels, "SPAM") && !slices.Contains(m.labels, "TRASH")
		for word := range strings.FieldsSeq(strings.ToLower(r.URL.Query().Get("q"))) {
			has = has && strings.Contains(strings.ToLower(m.raw), strings.Trim(word, `"`))
		}
		if has {
			found = append(found, m)
		}
	}
	return found
}

func (s *Server) listMessages(r *http.Request) (string, any, error) {
	found := s.found(r)
	some, next, err := page(r, found)
	body := map[string]any{"resultSizeEstimate": len(found)}
	var rows []any
	for _, m := range some {
		rows = append(rows, map[string]any{"id": m.id, "threadId": m.thread})
	}
	if rows != nil {
		body["messages"] = rows
	}
	if next != "" {
		body["nextPageToken"] = next
	}
	return "ListMessagesResponse", body, err
}

func (s *Server) listThreads(r *http.Request) (string, any, error) {
	var threads []mail
	for _, m := range s.found(r) {
		if !slices.ContainsFunc(threads, func(t mail) bool { return t.thread == m.thread }) {
			threads = append(threads, m)
		}
	}
	some, next, err := page(r, threads)
	body := map[string]any{"resultSizeEstimate": len(threads)}
	var rows []any
	for _, m := range some {
		rows = append(rows, map[string]any{"id": m.thread, "snippet": m.snippet(), "historyId": "1"})
	}
	if rows != nil {
		body["threads"] = rows
	}
	if next != "" {
		body["nextPageToken"] = next
	}
	return "ListThreadsResponse", body, err
}

func (s *Server) getMessage(r *http.Request) (string, any, error) {
	for _, m := range s.mails {
		if m.id == r.PathValue("id") {
			return "Message", s.written(m, r.URL.Query().Get("format")), nil
		}
	}
	return "", nil, no(http.StatusNotFound, "notFound", "Requested entity was not found.")
}

func (s *Server) getThread(r *http.Request) (string, any, error) {
	var all []any
	for _, m := range s.mails {
		if m.thread == r.PathValue("id") {
			all = append(all, s.written(m, r.URL.Query().Get("format")))
		}
	}
	if all == nil {
		return "", nil, no(http.StatusNotFound, "notFound", "Requested entity was not found.")
	}
	return "Thread", map[string]any{"id": r.PathValue("id"), "historyId": "1", "messages": all}, nil
}
