package web_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/web"
)

// newOAuth is an authorization server whose clients' descriptions come from nowhere.
func (h *house) newOAuth(log *slog.Logger) *web.OAuth {
	h.oauth = oauth.New(oauth.Config{Store: h.store, Now: h.Now, Limits: oauth.DefaultLimits(), Logger: log})
	return &web.OAuth{Service: h.oauth, Site: h.site, Key: []byte("a key that all processes share")}
}

func (h *house) site(*http.Request) (oauth.Site, bool) {
	return oauth.Site{Issuer: h.server.URL, Resource: auth.Resource(h.server.URL + "/mcp")}, true
}

// resource puts an endpoint beside the pages that tells who comes, as the MCP door would know them.
func (h *house) resource(next http.Handler) http.Handler {
	door := auth.Door{
		Schemes: []auth.Scheme{auth.Bearer}, Realm: "Calendars", Refuse: auth.RefuseJSON,
		ClientAddr: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
		Protected: func(r *http.Request) (auth.Protected, bool) {
			site, ok := h.site(r)
			return auth.Protected{
				Resource: site.Resource, Metadata: web.ResourceMetadata(site.Resource), Scopes: web.FirstScopes,
			}, ok
		},
	}
	who := h.auth.Require(door, func(w http.ResponseWriter, _ *http.Request, c calendar.Caller) {
		_ = json.NewEncoder(w).Encode(c)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" {
			who.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// verifier is every client's secret of a moment (RFC 7636).
const verifier = "a-verifier-that-is-long-enough-for-rfc-7636-"

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// assistant is an OAuth client.
type assistant struct {
	*house
	id       string
	redirect string
}

// answer is what a program is told.
type answer struct {
	status int
	header http.Header
	body   string
	fields map[string]any
}

func (a answer) text(field string) string {
	text, _ := a.fields[field].(string)
	return text
}

// call sends a program's request.
func (h *house) call(method, path, contentType, body string, header ...string) answer {
	h.Helper()
	r, err := http.NewRequestWithContext(h.Context(), method, h.server.URL+path, strings.NewReader(body))
	h.must(err)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for pair := range slices.Chunk(header, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(r)
	h.must(err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	h.must(err)
	a := answer{status: res.StatusCode, header: res.Header, body: string(data)}
	_ = json.Unmarshal(data, &a.fields)
	return a
}

// form sends a form to an endpoint for programs.
func (h *house) form(path string, fields url.Values, header ...string) answer {
	h.Helper()
	return h.call(http.MethodPost, path, "application/x-www-form-urlencoded", fields.Encode(), header...)
}

// program registers a client.
func (h *house) program(redirect string) *assistant {
	h.Helper()
	body, err := json.Marshal(map[string]any{"client_name": "Claude", "redirect_uris": []string{redirect}})
	h.must(err)
	a := h.call(http.MethodPost, "/oauth/register", "application/json", string(body))
	if a.status != http.StatusCreated {
		h.Fatalf("registering: %d %s", a.status, a.body)
	}
	return &assistant{h, a.text("client_id"), redirect}
}

const claudeRedirect = "https://claude.ai/api/mcp/auth_callback"

// request is what the assistant sends a browser with; pairs change it, and "" takes away.
func (a *assistant) request(pairs ...string) string {
	q := url.Values{
		"response_type": {"code"}, "client_id": {a.id}, "redirect_uri": {a.redirect}, "state": {"xyz"},
		"scope":          {"read write"},
		"code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
		"resource": {a.server.URL + "/mcp"},
	}
	return "/oauth/authorize?" + changed(q, pairs).Encode()
}

func changed(values url.Values, pairs []string) url.Values {
	for pair := range slices.Chunk(pairs, 2) {
		values.Set(pair[0], pair[1])
		if pair[1] == "" {
			values.Del(pair[0])
		}
	}
	return values
}

// elsewhere follows redirects until one leads to another server, and returns where.
func (b *browser) elsewhere(send func() shown) (page shown, to *url.URL) {
	b.Helper()
	check := b.client.CheckRedirect
	defer func() { b.client.CheckRedirect = check }()
	b.client.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), b.server.URL+"/") {
			to = r.URL
			return http.ErrUseLastResponse
		}
		return nil
	}
	return send(), to
}

var hidden = regexp.MustCompile(`name="(query|seal)" value="([^"]*)"`)

// consent is the question as the page puts it, ready to be answered.
func (s shown) consent() []string {
	var fields []string
	for _, m := range hidden.FindAllStringSubmatch(s.body, -1) {
		fields = append(fields, m[1], unescape.Replace(strings.ReplaceAll(m[2], "&#43;", "+")))
	}
	if len(fields) != 4 {
		s.b.Fatalf("no question on the page:\n%s", s.text())
	}
	return fields
}

// allow opens the question and says yes.
func (b *browser) allow(a *assistant) *url.URL {
	b.Helper()
	question := b.get(a.request()).shows(http.StatusOK, "wants to use the calendars of")
	pairs := []string{"scope", "read", "scope", "write", "all", "yes", "days", "0"}
	_, to := b.elsewhere(func() shown {
		return b.post("allow", slices.Concat(question.consent(), pairs, []string{"answer", "allow"})...)
	})
	if to == nil || to.Query().Get("code") == "" {
		b.Fatalf("came to %v, want a code", to)
	}
	return to
}

// exchange takes a code to the token endpoint.
func (a *assistant) exchange(code string, pairs ...string) answer {
	a.Helper()
	return a.form("/oauth/token", changed(url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "client_id": {a.id}, "redirect_uri": {a.redirect},
		"code_verifier": {verifier},
		"resource":      {a.server.URL + "/mcp"},
	}, pairs))
}

// refresh takes a refresh token there.
func (a *assistant) refresh(token string, pairs ...string) answer {
	a.Helper()
	return a.form("/oauth/token",
		changed(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {a.id}}, pairs))
}

// tokens is all of it, for a user.
func (a *assistant) tokens(b *browser) answer {
	a.Helper()
	return a.exchange(b.allow(a).Query().Get("code")).is(a.house, http.StatusOK, "")
}

// is wants a status and an error.
func (a answer) is(h *house, status int, code string) answer {
	h.Helper()
	if a.status != status || a.text("error") != code {
		h.Fatalf("answered %d %s, want %d %q\n%s", a.status, a.body, status, code, h.log)
	}
	return a
}

// comes shows a token to the resource.
func (h *house) comes(token string) (answer, calendar.Caller) {
	h.Helper()
	a := h.call(http.MethodGet, "/mcp", "", "", "Authorization", "Bearer "+token)
	var c calendar.Caller
	_ = json.Unmarshal([]byte(a.body), &c)
	return a, c
}

// lets wants a token to be let in, or not.
func (h *house) lets(token string, want bool) {
	h.Helper()
	a, _ := h.comes(token)
	if got := a.status == http.StatusOK; got != want {
		h.Errorf("the token: %d %s, want in: %v", a.status, a.body, want)
	}
	if !want && !strings.Contains(a.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
		h.Errorf("the challenge is %q", a.header.Get("WWW-Authenticate"))
	}
}
