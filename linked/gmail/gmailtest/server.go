// Package gmailtest is a Gmail API v1 for tests, with a token endpoint. It follows the published reference and guides,
// and accepts and returns only members of the API's discovery document.
// https://developers.google.com/workspace/gmail/api/reference/rest
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

//go:embed fields.txt
var fields string

// Address is the account's address.
const Address = "ann@gmail.test"

const scopes = "https://www.googleapis.com/auth/"

// Server is the fake.
type Server struct {
	resttest.Faults

	// Inline is the size of the largest text that is part of a mail's own data; 0 means any. Gmail keeps larger texts
	// apart, as attachments without a name.
	Inline int
	// Good reports whether an access token is valid; nil accepts the ones issued here. Owner is the account's address.
	Good  func(access string) bool
	Owner string

	api *resttest.Discovery

	mu         sync.Mutex
	messages   []*message // oldest first
	key, scope string
	tokens     map[string]bool
	issued     int
}

// New makes an account without mail, with the refresh token "key".
func New() *Server {
	return &Server{
		Owner: Address, api: resttest.ReadDiscovery(fields), key: "key", scope: scopes + "gmail.readonly",
		tokens: map[string]bool{},
	}
}

// Grant makes a new grant with another refresh token, for a scope.
func (s *Server) Grant(key, scope string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key, s.scope = key, scope
}

// Expire invalidates all access tokens.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// Revoke revokes the grant, as the owner can.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
	s.key = ""
}

// Handler serves requests below /gmail/v1 and the token endpoint at /token.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", s.token)
	mux.HandleFunc("/", s.serve)
	return s.Before(mux)
}

// token issues an access token for a code or the refresh token.
// https://developers.google.com/identity/protocols/oauth2/web-server#offline
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	kind := r.PostFormValue("grant_type")
	known := kind == "authorization_code" && r.PostFormValue("code") != "" ||
		kind == "refresh_token" && r.PostFormValue("refresh_token") == s.key
	if s.key == "" || !known {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`))
		return
	}
	s.issued++
	access := fmt.Sprint("ya29.", s.issued)
	s.tokens[access] = true
	answer := map[string]any{"access_token": access, "expires_in": 3599, "scope": s.scope, "token_type": "Bearer"}
	if kind == "authorization_code" {
		answer["refresh_token"] = s.key
	}
	_ = json.NewEncoder(w).Encode(answer)
}

var verbs = map[string]func(*Server, *resttest.Call) (any, *resttest.Problem){
	"getProfile": (*Server).profile, "labels.list": (*Server).labels, "history.list": (*Server).history,
	"messages.list": (*Server).list, "messages.get": (*Server).get, "attachments.get": (*Server).attachment,
	"threads.list": (*Server).list, "threads.get": (*Server).thread,
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, call, p := s.run(r)
	if p == nil {
		p = s.api.Send(w, call, answer)
	}
	if p != nil {
		p.Write(w)
	}
}

// run checks the credentials of a request, and answers it.
// https://developers.google.com/workspace/gmail/api/guides/handle-errors
func (s *Server) run(r *http.Request) (any, *resttest.Call, *resttest.Problem) {
	access, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !bearer || s.Good == nil && !s.tokens[access] || s.Good != nil && !s.Good(access) {
		return nil, nil, &resttest.Problem{
			Code: http.StatusUnauthorized, Domain: "global", Reason: "authError", Message: "Invalid Credentials",
		}
	}
	call, p := s.api.Read(r)
	if p != nil {
		return nil, nil, p
	}
	refused := func(reason, text string) (any, *resttest.Call, *resttest.Problem) {
		return nil, nil, &resttest.Problem{
			Code: http.StatusForbidden, Domain: "global", Reason: reason, Message: text,
		}
	}
	given := strings.Fields(strings.ReplaceAll(s.scope, scopes, ""))
	reads := slices.ContainsFunc(given, func(scope string) bool {
		return scope == "gmail.readonly" || scope == "gmail.modify" || scope == "https://mail.google.com/"
	})
	format := call.Query.Get("format")
	whole := call.Query.Has("q") || call.Name == "attachments.get" || strings.HasSuffix(call.Name, ".get") &&
		format != "metadata" && format != "minimal"
	switch {
	case call.Path["userId"] != "me" && call.Path["userId"] != s.Owner:
		return refused("forbidden", "Delegation denied for "+s.Owner)
	case !reads && !slices.Contains(given, "gmail.metadata"):
		return refused("insufficientPermissions", "Request had insufficient authentication scopes.")
	case !reads && whole:
		return refused("forbidden", "Metadata scope does not support this request.")
	}
	answer, p := verbs[call.Name](s, call)
	return answer, call, p
}

func missing() *resttest.Problem {
	return &resttest.Problem{
		Code: http.StatusNotFound, Domain: "global", Reason: "notFound", Message: "Requested entity was not found.",
	}
}

func (s *Server) profile(*resttest.Call) (any, *resttest.Problem) {
	threads := map[string]bool{}
	for _, m := range s.messages {
		threads[m.thread] = true
	}
	return map[string]any{
		"emailAddress": s.Owner, "messagesTotal": len(s.messages), "threadsTotal": len(threads),
		"historyId": strconv.Itoa(firstHistory + len(s.messages)),
	}, nil
}

func (s *Server) labels(*resttest.Call) (any, *resttest.Problem) {
	all, seen := []any{}, map[string]bool{}
	add := func(id, kind string) {
		if !seen[id] {
			all, seen[id] = append(all, map[string]any{"id": id, "name": id, "type": kind}), true
		}
	}
	for _, id := range []string{"INBOX", "SENT", "DRAFT", "SPAM", "TRASH", "UNREAD", "STARRED", "IMPORTANT"} {
		add(id, "system")
	}
	for _, m := range s.messages {
		for _, id := range m.labels {
			add(id, "user")
		}
	}
	return map[string]any{"labels": all}, nil
}

const firstHistory = 1000

// history lists the mails that were added after a history id. An unknown id gets 404.
// https://developers.google.com/workspace/gmail/api/guides/sync
func (s *Server) history(c *resttest.Call) (any, *resttest.Problem) {
	from, err := strconv.Atoi(c.Query.Get("startHistoryId"))
	switch {
	case err != nil:
		return nil, resttest.Invalid("startHistoryId", "Missing or invalid startHistoryId")
	case from < firstHistory || from > firstHistory+len(s.messages):
		return nil, missing()
	}
	all := []any{}
	for _, m := range s.messages[from-firstHistory:] {
		short := map[string]any{"id": m.id, "threadId": m.thread}
		label := c.Query.Get("labelId")
		if label == "" || slices.Contains(m.labels, label) {
			all = append(all, map[string]any{
				"id": m.history, "messages": []any{short}, "messagesAdded": []any{map[string]any{"message": short}},
			})
		}
	}
	answer := map[string]any{"historyId": strconv.Itoa(firstHistory + len(s.messages))}
	next := paged(answer, c, "history", len(all))
	if next.to > next.from {
		answer["history"] = all[next.from:next.to]
	}
	return answer, next.problem
}

// span are the items of a page.
type span struct {
	from, to int
	problem  *resttest.Problem
}

// paged finds the items of a page, and adds the token of the next one. A page has at most 500 items, 100 if a request
// names no number.
func paged(answer map[string]any, c *resttest.Call, kind string, n int) span {
	most, err := strconv.Atoi(c.Query.Get("maxResults"))
	if err != nil || most == 0 {
		most = 100
	}
	from, token := 0, c.Query.Get("pageToken")
	if token != "" {
		text, known := strings.CutPrefix(token, kind+"-")
		if from, err = strconv.Atoi(text); err != nil || !known || from > n {
			return span{problem: resttest.Invalid("pageToken", "Invalid page token")}
		}
	}
	to := min(from+min(most, 500), n)
	if to < n {
		answer["nextPageToken"] = fmt.Sprint(kind, "-", to)
	}
	return span{from: from, to: to}
}

// list lists messages or threads, newest first. Each message has only an id and a thread.
// https://developers.google.com/workspace/gmail/api/reference/rest/v1/users.messages/list
func (s *Server) list(c *resttest.Call) (any, *resttest.Problem) {
	kind, _, _ := strings.Cut(c.Name, ".")
	query := readQuery(c.Query.Get("q"))
	all, seen := []any{}, map[string]bool{}
	for _, m := range slices.Backward(s.messages) {
		hidden := slices.Contains(m.labels, "SPAM") || slices.Contains(m.labels, "TRASH")
		if hidden && c.Query.Get("includeSpamTrash") != "true" && !query.everywhere || !query.matches(m) {
			continue
		}
		if slices.ContainsFunc(c.Query["labelIds"], func(id string) bool { return !slices.Contains(m.labels, id) }) {
			continue
		}
		switch {
		case kind == "messages":
			all = append(all, map[string]any{"id": m.id, "threadId": m.thread})
		case !seen[m.thread]:
			seen[m.thread] = true
			all = append(all, map[string]any{"id": m.thread, "snippet": m.snippet, "historyId": m.history})
		}
	}
	answer := map[string]any{"resultSizeEstimate": len(all)}
	page := paged(answer, c, kind, len(all))
	if page.to > page.from {
		answer[kind] = all[page.from:page.to]
	}
	return answer, page.problem
}

func (s *Server) find(id string) *message {
	for _, m := range s.messages {
		if m.id == id {
			return m
		}
	}
	return nil
}

func (s *Server) get(c *resttest.Call) (any, *resttest.Problem) {
	m := s.find(c.Path["id"])
	if m == nil {
		return nil, missing()
	}
	return s.view(m, c), nil
}

func (s *Server) thread(c *resttest.Call) (any, *resttest.Problem) {
	var all []any
	history := ""
	for _, m := range s.messages {
		if m.thread == c.Path["id"] {
			all, history = append(all, s.view(m, c)), m.history
		}
	}
	if all == nil {
		return nil, missing()
	}
	return map[string]any{"id": c.Path["id"], "historyId": history, "messages": all}, nil
}
