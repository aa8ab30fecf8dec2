package web_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oidc"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/internal/testdb"
	"caldav-mcp-server/web"
)

var b64 = base64.RawURLEncoding

// issuer is another service, written by OpenID Connect Core and not by our code. Who is at the browser there has
// claims; spoil makes it lie.
type issuer struct {
	*testing.T
	server *httptest.Server
	key    *rsa.PrivateKey

	mu     sync.Mutex
	claims map[string]any
	codes  map[string]url.Values
	spoil  func(claims map[string]any)
	// asked are the questions that came, exchanges how often a code was brought.
	asked     []url.Values
	exchanges int
	// methods are how it says that programs show their secret.
	methods []string
	// info are the claims of its userinfo endpoint; without any it has none.
	info map[string]any
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &issuer{
		T: t, key: key, codes: map[string]url.Values{},
		claims: map[string]any{"sub": "4711", "preferred_username": "ann", "name": "Ann Lee"},
	}
	mux := http.NewServeMux()
	i.server = httptest.NewServer(mux)
	t.Cleanup(i.server.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		says := map[string]any{
			"issuer": i.server.URL, "authorization_endpoint": i.server.URL + "/authorize",
			"token_endpoint": i.server.URL + "/token",
			"jwks_uri":       i.server.URL + "/keys", "id_token_signing_alg_values_supported": []string{"RS256"},
			"token_endpoint_auth_methods_supported": i.methods,
		}
		if i.info != nil {
			says["userinfo_endpoint"] = i.server.URL + "/userinfo"
		}
		i.json(w, says)
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		i.json(w, i.info)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.json(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": b64.EncodeToString(key.N.Bytes()),
			"e": b64.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	return i
}

func (i *issuer) json(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		i.Error(err)
	}
}

// authorize knows the person already, and sends them straight back.
func (i *issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	i.asked = append(i.asked, q)
	code := "code-" + q.Get("state")
	i.codes[code] = q
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		i.Error(err)
		return
	}
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.exchanges++
	id, secret, _ := r.BasicAuth()
	if len(i.methods) > 0 {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	asked, ok := i.codes[r.FormValue("code")]
	delete(i.codes, r.FormValue("code"))
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || id != "calendars" || secret != "s3cret" || asked.Get("code_challenge") != b64.EncodeToString(sum[:]) ||
		asked.Get("code_challenge_method") != "S256" {
		w.WriteHeader(http.StatusBadRequest)
		i.json(w, map[string]any{"error": "invalid_grant"})
		return
	}
	claims := map[string]any{
		"iss": i.server.URL, "aud": "calendars", "nonce": asked.Get("nonce"), "iat": noon, "exp": noon + 300,
		"auth_time": noon,
	}
	maps.Copy(claims, i.claims)
	if i.spoil != nil {
		i.spoil(claims)
	}
	i.json(w, map[string]any{
		"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": i.sign(claims),
	})
}

// noon is when the house's clock begins.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).Unix()

func (i *issuer) sign(claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		i.Error(err)
	}
	text := b64.EncodeToString([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + b64.EncodeToString(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, i.key, crypto.SHA256, sum[:])
	if err != nil {
		i.Error(err)
	}
	return text + "." + b64.EncodeToString(signature)
}

// is says who is at the browser there, and what it lies about.
func (i *issuer) is(claims map[string]any, spoil func(map[string]any)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.claims, i.spoil = claims, spoil
}

// at makes a house's pages know the issuer. The options change the client.
func (i *issuer) at(create bool, options ...func(*oidc.Config)) option {
	return func(c *web.Config) {
		client := oidc.Config{Issuer: i.server.URL, ClientID: "calendars", ClientSecret: "s3cret", Now: c.Now}
		for _, o := range options {
			o(&client)
		}
		c.Provider = oidc.New(client)
		c.CreateUsers = func() bool { return create }
	}
}

// eachElsewhere runs a test on each engine, with another service of its own.
func eachElsewhere(t *testing.T, create bool, test func(h *house, i *issuer)) {
	t.Helper()
	testdb.Each(t, func(t *testing.T, url string) {
		i := newIssuer(t)
		test(open(t, url, i.at(create)), i)
	})
}

// Somebody links an account, signs in with it from then on, and their password opens no program.
func TestSignInElsewhere(t *testing.T) {
	t.Parallel()
	eachElsewhere(t, false, func(h *house, i *issuer) {
		ann := h.user("ann")
		b := h.browser()
		// A user of the same name is not the same person.
		b.get("sign-in/elsewhere").shows(http.StatusUnprocessableEntity, "No user here is linked")
		b.post("sign-in", "name", "ann", "password", rightPassword)
		asked := b.goes("security/link").shows(http.StatusOK, "says that you are ann there",
			"with that account is ann here")
		b.get("security").hides("security/unlink")
		b.post("security/link/accept", "sealed", asked.hidden("sealed")).at("security?done=linked").shows(http.StatusOK,
			"ann of "+i.server.URL)
		if _, err := h.auth.VerifyBasic(t.Context(), "ann", rightPassword, here); err == nil {
			t.Error("the main password still opens the door to programs")
		}
		other := h.browser()
		other.get("sign-in").shows(http.StatusOK, "Sign in with 127.0.0.1")
		other.get("sign-in/elsewhere?next=security").at("security").shows(http.StatusOK, "by another service")

		// To prove who they are they are asked there again, also right after they came.
		other.get("delete").shows(http.StatusOK, "Confirm with 127.0.0.1")
		h.pass(15 * time.Minute)
		other.get("delete").shows(http.StatusOK, "Confirm with 127.0.0.1")
		i.is(map[string]any{"sub": "4711"}, func(c map[string]any) { c["exp"] = noon + 3600 })
		// asked fifteen minutes ago
		other.goes("confirm/elsewhere", "next", "delete").shows(http.StatusUnprocessableEntity, "did not sign you in")
		i.is(map[string]any{"sub": "4711"}, func(c map[string]any) { c["exp"], c["auth_time"] = noon+3600, noon+900 })
		other.goes("confirm/elsewhere", "next", "delete").at("delete")
		h.pass(15 * time.Minute)
		i.is(map[string]any{"sub": "4711"}, func(c map[string]any) { c["exp"] = noon + 7200; delete(c, "auth_time") })
		other.goes("confirm/elsewhere", "next", "delete").at("delete")
		if last := i.last(); last.Get("prompt") != "login" || last.Get("max_age") != "0" {
			t.Errorf("asked with %v", last)
		}
		h.user("bob")
		bob := h.as("bob")
		i.is(map[string]any{"sub": "4711"}, func(c map[string]any) { c["exp"], c["auth_time"] = noon+7200, noon+1800 })
		sealed := bob.goes("security/link").shows(http.StatusOK, "says that you are 4711 there").hidden("sealed")
		bob.post("security/link/accept", "sealed", sealed).shows(http.StatusConflict, "linked with a user already")
		i.is(map[string]any{"sub": "4711", "preferred_username": "ann"}, nil)

		// The only way in stays.
		h.must(h.store.SetPassword(t.Context(), ann.ID, ""))
		s := other.get("security")
		other.post("security/unlink", "issuer", s.hidden("issuer"), "subject", s.hidden("subject")).
			shows(http.StatusUnprocessableEntity, "your only way in")
	})
}

// goes sends a form that leads to the other service, and is there what a browser is.
func (b *browser) goes(path string, fields ...string) shown {
	b.Helper()
	s := b.post(path, fields...).shows(http.StatusOK, "Continue to 127.0.0.1")
	address, ok := strings.CutPrefix(s.header.Get("Refresh"), "0; url=")
	if !ok || !strings.Contains(html.UnescapeString(s.body), `href="`+address+`"`) {
		b.Fatalf("/account/%s leads to %q:\n%s", path, address, s.body)
	}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
	b.must(err)
	return b.send(r)
}

// A page of another site can send nobody to the other service for more than a sign-in, and what comes back is linked
// only once the user has seen it, in the same session, and only with a service that has said that it asked them.
func TestLinkIsAskedFor(t *testing.T) {
	t.Parallel()
	eachElsewhere(t, false, func(h *house, i *issuer) {
		ann := h.user("ann")
		h.user("bob")
		b := h.browser()
		b.post("sign-in", "name", "ann", "password", rightPassword, "next", "security/link").shows(http.StatusNotFound)
		for _, path := range []string{"security/link", "confirm/elsewhere"} {
			b.get(path).shows(http.StatusNotFound)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/account/"+path, nil)
			h.must(err)
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			b.send(r).shows(http.StatusForbidden, "another site")
		}
		if i.asked != nil {
			t.Fatalf("the service was asked: %v", i.asked)
		}

		i.is(map[string]any{"sub": "666", "preferred_username": "eve"}, nil)
		sealed := b.goes("security/link").shows(http.StatusOK, "says that you are eve there").hidden("sealed")
		other := h.as("ann")
		for _, wrong := range []*browser{other, h.as("bob")} {
			wrong.post("security/link/accept", "sealed", sealed).shows(http.StatusUnprocessableEntity, "begin again")
		}
		b.post("security/link/accept", "sealed", tampered(sealed)).shows(http.StatusUnprocessableEntity, "begin again")
		h.pass(10 * time.Minute)
		b.post("security/link/accept", "sealed", sealed).shows(http.StatusUnprocessableEntity, "took too long")
		i.is(map[string]any{"sub": "666"}, func(c map[string]any) { c["exp"] = noon + 3600; delete(c, "auth_time") })
		b.goes("security/link").shows(http.StatusUnprocessableEntity, "does not say whether it asked for your identity")
		i.is(map[string]any{"sub": "666"}, func(c map[string]any) { c["exp"] = noon + 3600 })
		b.goes("security/link").shows(http.StatusUnprocessableEntity, "did not sign you in")
		if all, err := h.auth.Identities(t.Context(), ann); err != nil || len(all) != 0 {
			t.Errorf("linked with %v, %v", all, err)
		}
	})
}

func (i *issuer) last() url.Values {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.asked[len(i.asked)-1]
}

// Anyone whom the other service vouches for becomes a user where the administrator wants that, and nobody else's.
func TestUsersFromElsewhere(t *testing.T) {
	t.Parallel()
	eachElsewhere(t, true, func(h *house, i *issuer) {
		h.user("bob")
		i.is(map[string]any{
			"sub": "1", "preferred_username": "Ann", "name": "Ann Lee", "email": "ann@example.com",
			"email_verified": true,
		}, nil)
		h.browser().get("sign-in/elsewhere").at("/calendar/week/")
		h.browser().get("sign-in/elsewhere").at("/calendar/week/")
		u, err := h.auth.User(t.Context(), "ann")
		h.must(err)
		if u.DisplayName != "Ann Lee" || u.Email != "ann@example.com" || u.Admin {
			t.Errorf("made %+v", u)
		}
		i.is(map[string]any{"sub": "2", "preferred_username": "bob"}, nil)
		h.browser().get("sign-in/elsewhere").shows(http.StatusConflict, "There is a user “bob” here already")
		i.is(map[string]any{
			"sub": "4", "preferred_username": "Cleo", "email": "ANN@example.com", "email_verified": true,
		}, nil)
		h.browser().get("sign-in/elsewhere").at("/calendar/week/")
		if u, err := h.auth.User(t.Context(), "cleo"); err != nil || u.Email != "" {
			t.Errorf("with ann's address: %+v, %v", u, err)
		}
		i.is(map[string]any{"sub": "3", "email": "eve@example.com", "email_verified": false}, nil)
		h.browser().get("sign-in/elsewhere").shows(http.StatusUnprocessableEntity, "is no user name")
		disabled := true
		_, err = h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Disabled: &disabled})
		h.must(err)
		i.is(map[string]any{"sub": "1"}, nil)
		h.browser().get("sign-in/elsewhere").shows(http.StatusUnprocessableEntity, "did not match")
		if _, err := h.auth.User(t.Context(), "eve"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("eve: %v", err)
		}
	})
}

// Whatever is wrong with what comes back, nobody is signed in.
func TestElsewhereRefused(t *testing.T) {
	t.Parallel()
	eachElsewhere(t, true, func(h *house, i *issuer) {
		for what, spoil := range map[string]func(map[string]any){
			"another issuer":   func(c map[string]any) { c["iss"] = "https://evil.example" },
			"another audience": func(c map[string]any) { c["aud"] = "other" },
			"another nonce":    func(c map[string]any) { c["nonce"] = "x" },
			"expired":          func(c map[string]any) { c["exp"] = noon - 1 },
			"nobody":           func(c map[string]any) { c["sub"] = "" },
		} {
			i.is(map[string]any{"sub": "9", "preferred_username": "eve"}, spoil)
			if s := h.browser().get("sign-in/elsewhere"); s.status != http.StatusUnprocessableEntity ||
				!strings.Contains(s.text(), "did not sign you in") {
				t.Errorf("%s: %d %s", what, s.status, s.text())
			}
		}
		i.is(map[string]any{"sub": "9", "preferred_username": "eve"}, nil)
		// An answer that this browser did not ask for, or asked for in another way.
		h.browser().get("sign-in/elsewhere/back?code=x&state=y").shows(http.StatusNotFound)
		b := h.browser()
		b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		b.get("sign-in/elsewhere").shows(http.StatusSeeOther)
		b.get("sign-in/elsewhere/back?code=x&state=y").shows(http.StatusUnprocessableEntity, "did not sign you in")
		b.get("sign-in/elsewhere").shows(http.StatusSeeOther)
		b.get("sign-in/elsewhere/back?error=access_denied&state="+i.lastState(b)).shows(http.StatusUnprocessableEntity,
			"did not sign you in")
		b.get("sign-in/elsewhere").shows(http.StatusSeeOther)
		h.pass(10 * time.Minute)
		b.get("sign-in/elsewhere/back?code=x&state=y").shows(http.StatusUnprocessableEntity, "took too long")
		if _, err := h.auth.User(t.Context(), "eve"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("eve: %v", err)
		}
	})
}

// lastState is that of the question that a browser was sent with.
func (i *issuer) lastState(b *browser) string {
	s := b.get("sign-in/elsewhere")
	u, err := url.Parse(s.header.Get("Location"))
	b.must(err)
	return u.Query().Get("state")
}

// The other service is asked once for what it answered, in one request, and not as often as somebody wants.
func TestElsewhereIsAskedOnce(t *testing.T) {
	t.Parallel()
	eachElsewhere(t, false, func(h *house, i *issuer) {
		leave := func() (b *browser, back string) {
			b = h.browser()
			b.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
			return b, "sign-in/elsewhere/back?code=bogus&state=" + i.lastState(b)
		}
		b, back := leave()
		pages, err := url.Parse(b.address(""))
		h.must(err)
		carried := b.client.Jar.Cookies(pages)
		b.get(back).shows(http.StatusUnprocessableEntity, "did not sign you in")
		b.client.Jar.SetCookies(pages, carried)
		b.get(back).shows(http.StatusUnprocessableEntity, "answered already")
		if i.exchanges != 1 {
			t.Errorf("the service was asked %d times", i.exchanges)
		}
		burst := auth.DefaultLimits().PerReturn.Burst
		for range burst - 2 {
			b, back = leave()
			b.get(back).shows(http.StatusUnprocessableEntity, "did not sign you in")
		}
		b, back = leave()
		b.get(back).shows(http.StatusTooManyRequests)
		if i.exchanges != burst-1 {
			t.Errorf("the service was asked %d times, want %d", i.exchanges, burst-1)
		}
		h.pass(auth.DefaultLimits().PerReturn.Every)
		b, back = leave()
		b.get(back).shows(http.StatusUnprocessableEntity, "did not sign you in")
	})
}

// A service that wants the secret among the fields gets it there, with the first request.
func TestElsewhereBySecretInForm(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		i := newIssuer(t)
		i.methods = []string{"client_secret_post"}
		open(t, url, i.at(true)).browser().get("sign-in/elsewhere").at("/calendar/week/")
		if i.exchanges != 1 {
			t.Errorf("the service was asked %d times", i.exchanges)
		}
	})
}

// A service that is away keeps nobody from signing in otherwise, and is not asked with each visit.
func TestElsewhereAway(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		var asked atomic.Int64
		dead := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			w.WriteHeader(http.StatusBadGateway)
		}))
		t.Cleanup(dead.Close)
		h := open(t, url, func(c *web.Config) {
			c.Provider = oidc.New(oidc.Config{Issuer: dead.URL, ClientID: "calendars", Now: c.Now})
		})
		h.user("ann")
		for range 3 {
			h.browser().get("sign-in/elsewhere").shows(http.StatusServiceUnavailable, "does not answer just now")
		}
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		h.pass(10 * time.Second)
		h.browser().get("sign-in/elsewhere").shows(http.StatusServiceUnavailable)
		if asked.Load() != 2 {
			t.Errorf("asked %d times later on", asked.Load())
		}
		h.as("ann").get("security").shows(http.StatusOK)
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		each(t, func(h *house) { h.browser().get("sign-in/elsewhere").shows(http.StatusNotFound) })
	})
}

// The groups at the provider decide who gets in, and the members of the groups that are mapped.
func TestGroupsElsewhere(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		i := newIssuer(t)
		h := open(t, url, i.at(true, func(c *oidc.Config) {
			c.Require = oidc.Claim{Name: "realm.roles", Value: "calendar"}
			c.GroupsClaim, c.Scopes = "groups", []string{"groups"}
		}), func(c *web.Config) {
			c.ProviderGroups = map[string][]string{"staff": {"Staff", "Bosses"}, "it": {"IT"}, "gone": {"Staff"}}
		})
		for _, name := range []string{"staff", "it", "choir"} {
			_, err := h.auth.CreateGroup(t.Context(), name, "")
			h.must(err)
		}
		claims := func(roles []string, groups any) map[string]any {
			return map[string]any{
				"sub": "1", "preferred_username": "ann", "realm": map[string]any{"roles": roles}, "groups": groups,
			}
		}
		signIn := func() shown { return h.browser().get("sign-in/elsewhere") }
		members := func(want string) {
			t.Helper()
			all, err := h.auth.Groups(t.Context())
			h.must(err)
			var in []string
			for _, g := range all {
				for _, m := range g.Members {
					in = append(in, g.Name+" has "+m.Name)
				}
			}
			if got := strings.Join(in, ", "); got != want {
				t.Errorf("members: %q, want %q", got, want)
			}
		}
		i.is(claims([]string{"mail"}, []string{"Staff"}), nil)
		signIn().shows(http.StatusUnprocessableEntity, "is not allowed to use the calendars")
		if _, err := h.auth.User(t.Context(), "ann"); calendar.ReasonOf(err) != calendar.NotFound {
			t.Errorf("ann without the role: %v", err)
		}
		i.is(claims([]string{"mail", "calendar"}, []string{"Bosses", "IT"}), nil)
		signIn().shows(http.StatusOK)
		members("it has ann, staff has ann")
		_, err := h.auth.AddMembers(t.Context(), "choir", []string{"ann"})
		h.must(err)
		i.is(claims([]string{"calendar"}, "Staff"), nil)
		signIn().shows(http.StatusOK)
		members("choir has ann, staff has ann")
		i.is(claims([]string{"calendar"}, []string{}), nil)
		signIn().shows(http.StatusOK)
		members("choir has ann")
		if asked := i.asked[0].Get("scope"); asked != "openid profile email groups" {
			t.Errorf("scope %q", asked)
		}
	})
}

// Claims that the ID token lacks come from the userinfo endpoint, if that tells of the same person.
func TestGroupsOfUserinfo(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		i := newIssuer(t)
		i.info = map[string]any{"sub": "1", "groups": []string{"calendar"}}
		h := open(t, url, i.at(true, func(c *oidc.Config) {
			c.Require = oidc.Claim{Name: "groups", Value: "calendar"}
		}))
		i.is(map[string]any{"sub": "1", "preferred_username": "ann"}, nil)
		h.browser().get("sign-in/elsewhere").shows(http.StatusOK)
		// The signed token decides.
		i.is(map[string]any{"sub": "1", "preferred_username": "ann", "groups": []string{"other"}}, nil)
		h.browser().get("sign-in/elsewhere").shows(http.StatusUnprocessableEntity, "is not allowed")
		i.is(map[string]any{"sub": "2", "preferred_username": "eve"}, nil)
		h.browser().get("sign-in/elsewhere").shows(http.StatusUnprocessableEntity, "did not sign you in")
	})
}

// With the provider only, a password and a forgotten one open nothing. A link of an administrator does.
func TestOnlyElsewhere(t *testing.T) {
	t.Parallel()
	testdb.Each(t, func(t *testing.T, url string) {
		i := newIssuer(t)
		h := open(t, url, i.at(true), func(c *web.Config) { c.OnlyProvider = true })
		h.user("root")
		b := h.browser()
		b.get("sign-in").shows(http.StatusOK, "Sign in with 127.0.0.1").hides(`type="password"`, "sign-in/forgotten")
		b.post("sign-in", "name", "root", "password", rightPassword).shows(http.StatusNotFound)
		b.post("sign-in/passkey", "sealed", "x", "answer", "x").shows(http.StatusNotFound)
		b.get("sign-in/forgotten").shows(http.StatusNotFound)
		b.post("sign-in/forgotten", "name", "root").shows(http.StatusNotFound)
		b.get("sign-in/elsewhere").shows(http.StatusOK)
		_, secret, err := h.auth.CreatePasswordLink(t.Context(), "root", auth.Reset)
		h.must(err)
		other := h.browser()
		other.post("key/"+string(secret), "password", "a new long password", "again", "a new long password").
			shows(http.StatusOK)
		other.get("security").shows(http.StatusOK)

		// Later this user confirms by the password. With an identity, only the provider counts.
		h.pass(time.Hour)
		other.get("security/password").at("confirm?next=security%2Fpassword").shows(http.StatusOK, "Your password")
		other.post("confirm", "password", "a new long password", "next", "security").at("security")
		root, err := h.auth.User(t.Context(), "root")
		h.must(err)
		h.must(h.store.InsertIdentity(t.Context(), root.ID, auth.Identity{
			Issuer: "https://id.example.com", Subject: "root", Created: h.Now(),
		}))
		h.pass(time.Hour)
		other.get("security/password").at("confirm?next=security%2Fpassword").hides(`type="password"`)
		other.post("confirm", "password", "a new long password").shows(http.StatusNotFound)
		other.post("confirm/passkey", "sealed", "x", "answer", "x").shows(http.StatusNotFound)
	})
}
