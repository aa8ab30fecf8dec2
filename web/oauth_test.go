package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"caldav-mcp-server/auth"
	"caldav-mcp-server/auth/oauth"
	"caldav-mcp-server/calendar"
	"caldav-mcp-server/web"
)

// An assistant finds its way from a refusal to a call, renews its access, and is out once its user says so.
func TestOAuthConversation(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		refused := h.call(http.MethodGet, "/mcp", "", "")
		want := `Bearer realm="Calendars", resource_metadata="` + h.server.URL +
			`/.well-known/oauth-protected-resource/mcp", scope="read write delete"`
		if got := refused.header.Get("WWW-Authenticate"); refused.status != http.StatusUnauthorized || got != want {
			t.Fatalf("%d, challenge %s, want %s", refused.status, got, want)
		}
		resource := h.call(http.MethodGet, "/.well-known/oauth-protected-resource/mcp", "", "")
		if issuer := resource.fields["authorization_servers"].([]any)[0]; issuer != h.server.URL {
			t.Fatalf("the issuer is %v", issuer)
		}
		a := h.program(claudeRedirect)
		stranger := h.browser()
		page := stranger.get(a.request()).shows(http.StatusOK, "Sign in")
		next := strings.TrimPrefix(page.path, "sign-in?next=")
		next, err := url.QueryUnescape(next)
		h.must(err)
		question := stranger.post("sign-in", "name", "ann", "password", rightPassword, "next", next).
			shows(http.StatusOK, "Let a program at claude.ai in?", "This name is not verified", "claude.ai")
		if policy := question.header.Get("Content-Security-Policy"); !strings.Contains(policy,
			"form-action 'self' https://claude.ai;") {
			t.Errorf("the policy is %s", policy)
		}
		to := stranger.allow(a)
		if q := to.Query(); q.Get("state") != "xyz" || q.Get("iss") != h.server.URL ||
			!strings.HasPrefix(to.String(), claudeRedirect+"?") {
			t.Fatalf("came to %s", to)
		}
		got := a.exchange(to.Query().Get("code")).is(h, http.StatusOK, "")
		if got.text("token_type") != "Bearer" || got.text("scope") != "read write" ||
			got.fields["expires_in"] != 3600.0 || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("got %s", got.body)
		}
		_, caller := h.comes(got.text("access_token"))
		wantCaller := calendar.Caller{
			User: caller.User, Scopes: calendar.ScopeRead | calendar.ScopeWrite, Token: caller.Token,
			Expires: h.Now().Add(time.Hour), Delegated: true,
			Agent: "Claude (claude.ai)",
		}
		if diff := cmp.Diff(wantCaller, caller); diff != "" || caller.User.ID != ann.ID {
			t.Errorf("the caller of %s (-want +got):\n%s", caller.User.ID, diff)
		}
		h.pass(time.Hour)
		h.lets(got.text("access_token"), false)
		next2 := a.refresh(got.text("refresh_token")).is(h, http.StatusOK, "")
		_, again := h.comes(next2.text("access_token"))
		if again.Token != caller.Token {
			t.Errorf("the journal would know the program by %q and by %q", caller.Token, again.Token)
		}
		h.must(h.auth.RevokeToken(t.Context(), caller.Token))
		h.lets(next2.text("access_token"), false)
		a.refresh(next2.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
	})
}

// What the token endpoint refuses. Each begins with a code that is good.
func TestTokenRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		a, other := h.program(claudeRedirect), h.program("https://evil.example/callback")
		code := func() string { return b.allow(a).Query().Get("code") }
		for name, test := range map[string]struct {
			pairs  []string
			status int
			error  string
		}{
			"wrong verifier": {
				[]string{"code_verifier", strings.Repeat("x", 43)}, http.StatusBadRequest, "invalid_grant",
			},
			"short verifier": {[]string{"code_verifier", "x"}, http.StatusBadRequest, "invalid_grant"},
			"challenge itself": {
				[]string{"code_verifier", challengeOf(verifier)}, http.StatusBadRequest, "invalid_grant",
			},
			"no verifier": {[]string{"code_verifier", ""}, http.StatusBadRequest, "invalid_request"},
			"redirect swapped": {
				[]string{"redirect_uri", "https://evil.example/callback"}, http.StatusBadRequest, "invalid_grant",
			},
			"other client":   {[]string{"client_id", other.id}, http.StatusBadRequest, "invalid_grant"},
			"unknown client": {[]string{"client_id", "nobody"}, http.StatusUnauthorized, "invalid_client"},
			"no client":      {[]string{"client_id", ""}, http.StatusUnauthorized, "invalid_client"},
			"foreign resource": {
				[]string{"resource", "https://other.example/mcp"}, http.StatusBadRequest, "invalid_target",
			},
			"no such code":   {[]string{"code", "mcpc_x"}, http.StatusBadRequest, "invalid_grant"},
			"no code":        {[]string{"code", ""}, http.StatusBadRequest, "invalid_request"},
			"password grant": {[]string{"grant_type", "password"}, http.StatusBadRequest, "unsupported_grant_type"},
			"no grant type":  {[]string{"grant_type", ""}, http.StatusBadRequest, "invalid_request"},
			"client credentials": {
				[]string{"grant_type", "client_credentials"}, http.StatusBadRequest, "unsupported_grant_type",
			},
		} {
			good := code()
			if got := a.exchange(good, test.pairs...); got.status != test.status || got.text("error") != test.error {
				t.Errorf("%s: %d %s, want %d %s", name, got.status, got.body, test.status, test.error)
			}
			// Anyone who tried has not spoilt it for the client.
			a.exchange(good).is(h, http.StatusOK, "")
			h.pass(time.Minute)
		}
		good := code()
		h.pass(time.Minute)
		a.exchange(good).is(h, http.StatusBadRequest, "invalid_grant")
		h.form("/oauth/token", url.Values{"grant_type": {"authorization_code", "refresh_token"}, "client_id": {a.id}}).
			is(h, http.StatusBadRequest, "invalid_request")
		h.call(http.MethodPost, "/oauth/token", "application/json", `{"grant_type":"authorization_code"}`).
			is(h, http.StatusBadRequest, "invalid_request")
		h.call(http.MethodPost, "/oauth/token?grant_type=refresh_token", "application/x-www-form-urlencoded",
			"client_id="+a.id).is(h, http.StatusBadRequest, "invalid_request")
		h.form("/oauth/token", url.Values{"x": {strings.Repeat("x", 17<<10)}}).is(h, http.StatusRequestEntityTooLarge,
			"invalid_request")
		h.call(http.MethodGet, "/oauth/token", "", "").is(h, http.StatusMethodNotAllowed, "")
	})
}

// A code that is shown twice ends what the first showing gave.
func TestCodeTwice(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		a := h.program(claudeRedirect)
		code := h.as("ann").allow(a).Query().Get("code")
		got := a.exchange(code).is(h, http.StatusOK, "")
		h.lets(got.text("access_token"), true)
		a.exchange(code, "code_verifier", strings.Repeat("x", 43)).is(h, http.StatusBadRequest, "invalid_grant")
		h.lets(got.text("access_token"), false)
		a.refresh(got.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
	})
}

func TestResource(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.as("ann"), h.program(claudeRedirect)
		for _, resource := range []string{
			"", h.server.URL + "/mcp/", strings.Replace(h.server.URL, "http", "HTTP", 1) + "/mcp",
		} {
			got := a.exchange(b.allow(a).Query().Get("code"), "resource", resource).is(h, http.StatusOK, "")
			h.lets(got.text("access_token"), true)
			a.refresh(got.text("refresh_token"), "resource", "https://other.example/mcp").is(h, http.StatusBadRequest,
				"invalid_target")
			h.pass(time.Minute)
		}
		got := a.tokens(b)
		if _, err := h.auth.VerifyAccess(t.Context(), got.text("access_token"), "https://other.example/mcp"); err ==
			nil {
			t.Error("the token is good elsewhere")
		}
		if _, err := h.auth.VerifyAccess(t.Context(), got.text("access_token"), ""); err == nil {
			t.Error("the token is good where there is no OAuth")
		}
	})
}

// A refresh token may be shown again for a moment, since answers get lost; later, it is in two hands.
func TestRefreshAgain(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.as("ann"), h.program(claudeRedirect)
		first := a.tokens(b)
		second := a.refresh(first.text("refresh_token")).is(h, http.StatusOK, "")
		h.pass(30 * time.Second)
		third := a.refresh(first.text("refresh_token")).is(h, http.StatusOK, "")
		for _, token := range []answer{first, second, third} {
			h.lets(token.text("access_token"), true)
		}
		h.pass(time.Second)
		a.refresh(first.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
		for _, token := range []answer{first, second, third} {
			h.lets(token.text("access_token"), false)
		}
		a.refresh(second.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
	})
}

// Where two go on from one refresh token that was shown twice, one of them is not the client.
func TestRefreshRivals(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.as("ann"), h.program(claudeRedirect)
		first := a.tokens(b)
		lost := a.refresh(first.text("refresh_token")).is(h, http.StatusOK, "")
		kept := a.refresh(first.text("refresh_token")).is(h, http.StatusOK, "")
		h.pass(time.Hour)
		next := a.refresh(kept.text("refresh_token")).is(h, http.StatusOK, "")
		h.lets(next.text("access_token"), true)
		a.refresh(lost.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
		h.lets(next.text("access_token"), false)
		a.refresh(next.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
	})
}

func TestRefreshRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a, other := h.as("ann"), h.program(claudeRedirect), h.program(claudeRedirect)
		got := a.tokens(b)
		other.refresh(got.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
		a.refresh(got.text("access_token")).is(h, http.StatusBadRequest, "invalid_grant")
		a.refresh("").is(h, http.StatusBadRequest, "invalid_request")
		a.refresh(got.text("refresh_token"), "scope", "read share").is(h, http.StatusBadRequest, "invalid_scope")
		less := a.refresh(got.text("refresh_token"), "scope", "read offline_access").is(h, http.StatusOK, "")
		if _, c := h.comes(less.text("access_token")); less.text("scope") != "read" || c.Scopes != calendar.ScopeRead {
			t.Errorf("got %s, scopes %v", less.body, c.Scopes)
		}
		whole := a.refresh(less.text("refresh_token")).is(h, http.StatusOK, "")
		if whole.text("scope") != "read write" {
			t.Errorf("got %s: less once is not less for ever", whole.body)
		}
		h.pass(30 * 24 * time.Hour)
		a.refresh(whole.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
	})
}

func TestDeletedClient(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.as("ann"), h.program(claudeRedirect)
		got := a.tokens(b)
		h.must(h.oauth.RemoveClient(t.Context(), auth.ClientID(a.id)))
		h.lets(got.text("access_token"), false)
		a.refresh(got.text("refresh_token")).is(h, http.StatusUnauthorized, "invalid_client")
		b.get(a.request()).shows(http.StatusUnprocessableEntity, "cannot be let in", "register again")
	})
}

// A wrong request is answered at the address of its client if an administrator added it. Anybody can register a client:
// its errors are shown on the page, to users and strangers alike.
func TestAuthorizeRefusals(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		registered := h.program(claudeRedirect)
		made, err := h.oauth.AddClient(t.Context(), oauth.NewClient{Name: "n8n", Redirects: []string{claudeRedirect}})
		h.must(err)
		added := &assistant{h, string(made.ID), claudeRedirect}
		b, stranger := h.as("ann"), h.browser()
		for name, test := range map[string]struct {
			pairs []string
			error string // empty for a page
		}{
			"plain PKCE": {
				[]string{"code_challenge_method", "plain", "code_challenge", verifier}, "invalid_request",
			},
			"PKCE of no method":    {[]string{"code_challenge_method", ""}, "invalid_request"},
			"no PKCE":              {[]string{"code_challenge", "", "code_challenge_method", ""}, "invalid_request"},
			"challenge malformed":  {[]string{"code_challenge", "short"}, "invalid_request"},
			"implicit":             {[]string{"response_type", "token"}, "unsupported_response_type"},
			"foreign resource":     {[]string{"resource", "https://other.example/mcp"}, "invalid_target"},
			"resource's neighbour": {[]string{"resource", h.server.URL + "/"}, "invalid_target"},
			"fragment":             {[]string{"response_mode", "fragment"}, "invalid_request"},
			"without asking":       {[]string{"prompt", "none"}, "login_required"},
			"request object":       {[]string{"request", "x.y.z"}, "request_not_supported"},
			"unknown client":       {[]string{"client_id", "nobody"}, ""},
			"no client":            {[]string{"client_id", ""}, ""},
			"redirect swapped":     {[]string{"redirect_uri", "https://evil.example/callback"}, ""},
			"redirect longer":      {[]string{"redirect_uri", claudeRedirect + "/x"}, ""},
			"redirect with a port": {
				[]string{"redirect_uri", strings.Replace(claudeRedirect, "claude.ai", "claude.ai:8443", 1)}, "",
			},
			"no redirect":    {[]string{"redirect_uri", ""}, ""},
			"no description": {[]string{"client_id", "https://claude.ai/client.json"}, ""},
		} {
			page, to := b.elsewhere(func() shown { return b.get(added.request(test.pairs...)) })
			switch {
			case test.error == "" && (to != nil || page.status != http.StatusUnprocessableEntity):
				t.Errorf("%s: %d, sent to %v", name, page.status, to)
			case test.error != "" && to == nil:
				t.Errorf("%s: %d %s", name, page.status, page.text())
			case test.error != "" && (to.Query().Get("error") != test.error || to.Query().Get("state") != "xyz" ||
				to.Query().Get("iss") != h.server.URL || to.Host != "claude.ai"):
				t.Errorf("%s: sent to %s, want %s", name, to, test.error)
			}
			page, to = b.elsewhere(func() shown { return b.get(registered.request(test.pairs...)) })
			if to != nil || page.status != http.StatusUnprocessableEntity {
				t.Errorf("registered, %s: %d, sent to %v", name, page.status, to)
			}
			if test.error == "" {
				continue
			}
			page, to = stranger.elsewhere(func() shown { return stranger.get(registered.request(test.pairs...)) })
			if to != nil || !strings.Contains(page.text(), "This program cannot be let in") {
				t.Errorf("stranger, %s: %d %s, sent to %v", name, page.status, page.text(), to)
			}
		}
		twice := added.request() + "&client_id=" + added.id
		b.get(twice).shows(http.StatusUnprocessableEntity, "more than once")
		stranger.get(registered.request()).shows(http.StatusOK, "Sign in")
		if _, to := stranger.elsewhere(func() shown {
			return stranger.get(added.request("response_type", "token"))
		}); to == nil || to.Host != "claude.ai" {
			t.Errorf("to the administrator's client a stranger is sent at %v", to)
		}
	})
}

// An error that appears between the sign-in and the question stays on the page, also after the person has proven who
// they are.
func TestErrorsOfRegisteredClientsAfterConfirming(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.as("ann"), h.program("https://evil.example/sign-in")
		h.pass(16 * time.Minute)
		confirm := b.get(a.request("code_challenge", "")).shows(http.StatusOK, "Confirm that it is you")
		next, err := url.QueryUnescape(strings.TrimPrefix(confirm.path, "confirm?next="))
		h.must(err)
		page, to := b.elsewhere(func() shown { return b.post("confirm", "password", rightPassword, "next", next) })
		if page.shows(http.StatusUnprocessableEntity, "This program cannot be let in: code_challenge is missing"); to !=
			nil {
			t.Errorf("sent to %s", to)
		}
	})
}

// The scopes that a client asks for are ticked if an administrator added it, and its name is then a fact. Any other
// client gets a tick for reading, and its name only as its own claim.
func TestWhoVouchesForAClient(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, registered := h.as("ann"), h.program("https://evil.example/cb")
		made, err := h.oauth.AddClient(t.Context(), oauth.NewClient{
			Name: "n8n", Redirects: []string{"https://n8n.example/cb"},
		})
		h.must(err)
		added := &assistant{h, string(made.ID), "https://n8n.example/cb"}
		everything := "read write delete share invite mail"
		page := b.get(added.request("scope", everything)).shows(http.StatusOK, "Let n8n in?",
			"An administrator of this server added it")
		if ticked := strings.Count(page.body, " checked>"); ticked != 5 {
			t.Errorf("of the administrator's client %d boxes are ticked, want 5", ticked)
		}
		page = b.get(registered.request("scope", everything)).
			shows(http.StatusOK, "Let a program at evil.example in?", "A program that calls itself “Claude” wants",
				"This name is not verified").hides("Let Claude in")
		if ticked := strings.Count(page.body, " checked>"); ticked != 2 ||
			!strings.Contains(page.body, `value="read" checked>`) ||
			!strings.Contains(page.body, `value="propose" checked>`) {
			t.Errorf("of the registered client %d boxes are ticked, want those for reading and proposing", ticked)
		}
	})
}

func TestConsent(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		h.user("bob")
		work := h.calendar(ann, "Work")
		h.calendar(ann, "Home")
		b, a := h.as("ann"), h.program(claudeRedirect)
		question := b.get(a.request("scope", "read share unknown")).shows(http.StatusOK, "Work", "Home")
		for scope, want := range map[string]bool{
			"read": true, "write": false, "delete": false, "share": false, "invite": false,
		} {
			if got := strings.Contains(question.body, `name="scope" value="`+scope+`" checked`); got != want {
				t.Errorf("%s is checked: %v", scope, got)
			}
		}
		for _, scope := range auth.ScopeNames(calendar.ScopeAll) {
			if label := regexp.MustCompile(`name="scope" value="` + scope +
				`"[^>]*> (\w+ [^<]+)</label>`); !label.MatchString(question.body) {
				t.Errorf("what %s gives is said in no words", scope)
			}
		}
		if strings.Contains(question.body, `type="radio"`) ||
			!strings.Contains(question.body, `name="all" value="yes">`) {
			t.Errorf("the calendars are not one list, with all of them unticked:\n%s", question.body)
		}
		fields := question.consent()
		say := func(b *browser, pairs ...string) (shown, *url.URL) {
			return b.elsewhere(func() shown {
				return b.post("allow", append(append([]string{}, fields...), pairs...)...)
			})
		}
		yes := []string{"answer", "allow", "scope", "read", "all", "yes", "days", "0"}

		if _, to := say(b, "answer", "deny"); to == nil || to.Query().Get("error") != "access_denied" {
			t.Errorf("no: sent to %v", to)
		}
		page, _ := say(b, "answer", "allow", "all", "yes", "days", "0")
		page.shows(http.StatusUnprocessableEntity, "Choose at least one thing")
		page, _ = say(b, "answer", "allow", "scope", "read", "days", "0")
		page.shows(http.StatusUnprocessableEntity, "Choose at least one calendar")
		page, _ = say(b, "answer", "allow", "scope", "read", "all", "yes", "days", "400")
		page.shows(http.StatusUnprocessableEntity, "Choose for how long")

		page, to := say(b, "answer", "allow", "scope", "read", "all", "yes", "calendar", string(work.ID), "days", "30")
		page.shows(http.StatusUnprocessableEntity, "You selected all calendars and also single ones")
		if all := strings.Contains(page.body, `name="all" value="yes" checked`); !all ||
			!strings.Contains(page.body, `value="`+string(work.ID)+`" checked`) || to != nil {
			t.Errorf("the ticks are gone, or the browser was sent to %v:\n%s", to, page.body)
		}
		page, _ = say(b, "answer", "allow", "scope", "read", "others", "yes", "calendar", string(work.ID), "days", "30")
		page.shows(http.StatusUnprocessableEntity, "only together with all of yours")
		if granted, err := h.auth.Tokens(t.Context(), "ann"); err != nil || len(granted) != 0 {
			t.Errorf("granted %v, %v", granted, err)
		}

		_, to = say(b, "answer", "allow", "scope", "read", "scope", "delete", "calendar", string(work.ID), "calendar",
			"nowhere", "days", "30")
		got := a.exchange(to.Query().Get("code")).is(h, http.StatusOK, "")
		_, c := h.comes(got.text("access_token"))
		token, err := h.auth.Tokens(t.Context(), "ann")
		h.must(err)
		if c.Scopes != calendar.ScopeRead|calendar.ScopeDelete || len(c.Calendars) != 1 || c.Calendars[0] != work.ID ||
			!token[0].Expires.Equal(h.Now().AddDate(0, 0, 30)) {
			t.Errorf("got %+v of %+v", c, token[0])
		}

		// Somebody else in the same browser has not seen the question.
		bob := h.as("bob")
		page, to = say(bob, yes...)
		if page.shows(http.StatusConflict, "shown to another user"); to != nil {
			t.Errorf("sent to %s", to)
		}
		again := h.as("ann")
		page, to = say(again, yes...)
		if page.shows(http.StatusConflict); to != nil {
			t.Errorf("another session: sent to %s", to)
		}
		stranger := h.browser()
		stranger.post("allow", append(append([]string{}, fields...), yes...)...).shows(http.StatusOK, "Sign in")
		// A page of another site sends the same form.
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/account/allow",
			strings.NewReader("answer=allow"))
		h.must(err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		b.send(r).shows(http.StatusForbidden, "another site")
		h.pass(16 * time.Minute)
		page, _ = say(b, yes...)
		page.shows(http.StatusConflict, "or has expired")
		// Anyone who signed in a while ago says once more who they are before they hand out power.
		b.get(a.request()).shows(http.StatusOK, "Confirm that it is you")
	})
}

// TestConsentForDelegates: only the ticked box lets a client use the calendars of people who made the user their
// delegate. Users who have none do not see it.
func TestConsentForDelegates(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		h.user("bob")
		b, a := h.as("ann"), h.program(claudeRedirect)
		const box = "Also the calendars of people who made you their delegate"
		b.get(a.request("scope", "read")).shows(http.StatusOK).hides(box)
		h.as("bob").post("delegates", "with", "ann", "access", "read").at("delegates?done=delegate-added")
		for _, ticked := range []bool{false, true} {
			question := b.get(a.request("scope", "read")).shows(http.StatusOK, box, "bob")
			answer := append(question.consent(), "answer", "allow", "scope", "read", "all", "yes", "days", "0")
			if ticked {
				answer = append(answer, "others", "yes")
			}
			_, to := b.elsewhere(func() shown { return b.post("allow", answer...) })
			got := a.exchange(to.Query().Get("code")).is(h, http.StatusOK, "")
			if _, c := h.comes(got.text("access_token")); c.ForOthers != ticked {
				t.Errorf("ticked %v: the caller is %+v", ticked, c)
			}
		}
	})
}

// A program on the user's machine listens at whatever port is free.
func TestLoopback(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b, a := h.as("ann"), h.program("http://127.0.0.1/callback")
		a.redirect = "http://127.0.0.1:51763/callback"
		b.get(a.request()).shows(http.StatusOK, "any program on it could pass")
		to := b.allow(a)
		if to.Host != "127.0.0.1:51763" {
			t.Errorf("sent to %s", to)
		}
		a.exchange(to.Query().Get("code"), "redirect_uri", "http://127.0.0.1:1/callback").is(h, http.StatusBadRequest,
			"invalid_grant")
		for _, redirect := range []string{
			"http://localhost:51763/callback", "http://127.0.0.1:51763/other", "http://127.0.0.1.evil.example/callback",
			"https://127.0.0.1/callback",
		} {
			page, to := b.elsewhere(func() shown { return b.get(a.request("redirect_uri", redirect)) })
			if page.status != http.StatusUnprocessableEntity || to != nil {
				t.Errorf("%s: %d, sent to %v", redirect, page.status, to)
			}
		}
	})
}

func TestRevokeAndIntrospect(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		ann := h.user("ann")
		b, a, other := h.as("ann"), h.program(claudeRedirect), h.program(claudeRedirect)
		got := a.tokens(b)
		ask := func(of *assistant, token string) answer {
			return h.form("/oauth/introspect", url.Values{"token": {token}, "client_id": {of.id}}).is(h, http.StatusOK,
				"")
		}
		want := map[string]any{
			"active": true, "scope": "read write", "client_id": a.id, "username": "ann", "token_type": "Bearer",
			"sub": string(ann.ID), "iss": h.server.URL,
			"aud": h.server.URL + "/mcp", "iat": float64(h.Now().Unix()), "exp": float64(h.Now().Add(time.Hour).Unix()),
		}
		if diff := cmp.Diff(want, ask(a, got.text("access_token")).fields); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		for _, nothing := range []answer{ask(other, got.text("access_token")), ask(a, "mcpa_x"), ask(a, "x")} {
			if nothing.body != `{"active":false}` {
				t.Errorf("got %s", nothing.body)
			}
		}
		revoke := func(of *assistant, token string) {
			h.form("/oauth/revoke", url.Values{
				"token": {token}, "client_id": {of.id}, "token_type_hint": {"whatever"},
			}).is(h, http.StatusOK, "")
		}
		revoke(other, got.text("refresh_token"))
		revoke(a, "x")
		h.lets(got.text("access_token"), true)
		revoke(a, got.text("access_token"))
		h.lets(got.text("access_token"), false)
		next := a.refresh(got.text("refresh_token")).is(h, http.StatusOK, "")
		revoke(a, next.text("refresh_token"))
		h.lets(next.text("access_token"), false)
		if ask(a, next.text("access_token")).body != `{"active":false}` {
			t.Error("a token of an ended grant is active")
		}
		h.form("/oauth/revoke", url.Values{"token": {"x"}}).is(h, http.StatusUnauthorized, "invalid_client")
	})
}

// A client that can keep a secret shows it, in the one way or the other.
func TestConfidentialClient(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		reg := h.call(http.MethodPost, "/oauth/register", "application/json",
			`{"client_name":"n8n","redirect_uris":["`+claudeRedirect+
				`"],"token_endpoint_auth_method":"client_secret_basic"}`).is(h, http.StatusCreated, "")
		a := &assistant{h, reg.text("client_id"), claudeRedirect}
		secret := reg.text("client_secret")
		b := h.as("ann")
		code := func() string {
			_, to := b.elsewhere(func() shown {
				return b.post("allow", append(b.get(a.request()).consent(), "scope", "read", "all", "yes", "days", "0",
					"answer", "allow")...)
			})
			return to.Query().Get("code")
		}
		one := code()
		a.exchange(one).is(h, http.StatusUnauthorized, "invalid_client")
		a.exchange(one, "client_secret", secret+"x").is(h, http.StatusUnauthorized, "invalid_client")
		a.exchange(one, "client_secret", secret).is(h, http.StatusOK, "")
		form := url.Values{"grant_type": {"authorization_code"}, "code": {code()}, "code_verifier": {verifier}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL, nil)
		h.must(err)
		r.SetBasicAuth(a.id, "wrong")
		wrong := h.form("/oauth/token", form, "Authorization", r.Header.Get("Authorization")).
			is(h, http.StatusUnauthorized, "invalid_client")
		if !strings.HasPrefix(wrong.header.Get("WWW-Authenticate"), "Basic ") {
			t.Errorf("challenged with %q", wrong.header.Get("WWW-Authenticate"))
		}
		r.SetBasicAuth(a.id, secret)
		h.form("/oauth/token", form, "Authorization", r.Header.Get("Authorization")).is(h, http.StatusOK, "")
	})
}

// Where it is off, nothing of it is to be seen.
func TestOAuthOff(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		b := h.as("ann")
		for _, path := range []string{
			"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp",
			"/.well-known/oauth-authorization-server",
			"/.well-known/oauth-authorization-server/mcp", "/.well-known/openid-configuration", "/oauth/authorize",
			"/oauth/token", "/oauth/register", "/oauth/x", "/oauth",
			"/account/allow",
		} {
			if got := b.get(path); got.status != http.StatusNotFound {
				t.Errorf("%s: %d", path, got.status)
			}
		}
		for _, path := range []string{"/oauth/token", "/oauth/register", "/oauth/revoke", "/oauth/introspect"} {
			h.call(http.MethodPost, path, "application/json", "{}").is(h, http.StatusNotFound, "")
		}
	}, func(c *web.Config) { c.OAuth = nil })
}

// Browsers' programs of any origin may read what is public, at every address where it is looked for.
func TestMetadata(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		for path, key := range map[string]string{
			"/.well-known/oauth-protected-resource":       "resource",
			"/.well-known/oauth-protected-resource/mcp":   "resource",
			"/.well-known/oauth-authorization-server":     "issuer",
			"/.well-known/oauth-authorization-server/mcp": "issuer",
			"/.well-known/openid-configuration":           "issuer", "/.well-known/openid-configuration/mcp": "issuer",
		} {
			got := h.call(http.MethodGet, path, "", "", "Origin", "https://app.example")
			if got.status != http.StatusOK || got.text(key) == "" || got.header.Get("Access-Control-Allow-Origin") !=
				"*" || got.header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %v %s", path, got.status, got.header, got.body)
			}
			preflight := h.call(http.MethodOptions, path, "", "", "Origin", "https://app.example",
				"Access-Control-Request-Method", "GET")
			if preflight.status != http.StatusNoContent || preflight.header.Get("Access-Control-Allow-Headers") != "*" {
				t.Errorf("%s: preflight %d %v", path, preflight.status, preflight.header)
			}
		}
		h.call(http.MethodGet, "/.well-known/oauth-protected-resource/other", "", "").is(h, http.StatusNotFound, "")
		h.call(http.MethodPost, "/.well-known/oauth-protected-resource", "", "").is(h, http.StatusMethodNotAllowed, "")
		got := h.call(http.MethodGet, "/.well-known/oauth-authorization-server", "", "")
		want := map[string]any{
			"issuer": h.server.URL, "authorization_endpoint": h.server.URL + "/oauth/authorize",
			"token_endpoint":        h.server.URL + "/oauth/token",
			"registration_endpoint": h.server.URL + "/oauth/register", "revocation_endpoint": h.server.URL +
				"/oauth/revoke",
			"introspection_endpoint":   h.server.URL + "/oauth/introspect",
			"scopes_supported":         []any{"read", "write", "delete", "share", "invite", "offline_access"},
			"response_types_supported": []any{"code"}, "response_modes_supported": []any{"query"},
			"grant_types_supported":            []any{"authorization_code", "refresh_token"},
			"code_challenge_methods_supported": []any{"S256"},
			"token_endpoint_auth_methods_supported": []any{
				"none", "client_secret_basic", "client_secret_post",
			},
			"revocation_endpoint_auth_methods_supported": []any{
				"none", "client_secret_basic", "client_secret_post",
			},
			"introspection_endpoint_auth_methods_supported": []any{
				"none", "client_secret_basic", "client_secret_post",
			},
			"client_id_metadata_document_supported":          false,
			"authorization_response_iss_parameter_supported": true,
			"protected_resources":                            []any{h.server.URL + "/mcp"},
		}
		if diff := cmp.Diff(want, got.fields); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What strangers may do, they may not do without end.
func TestStrangersAreCounted(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		var last answer
		for range 21 {
			last = h.call(http.MethodPost, "/oauth/register", "application/json",
				`{"redirect_uris":["https://claude.ai/"]}`)
		}
		if last.is(h, http.StatusTooManyRequests, "temporarily_unavailable"); last.header.Get("Retry-After") != "30" {
			t.Errorf("Retry-After is %q", last.header.Get("Retry-After"))
		}
		h.pass(30 * time.Second)
		h.call(http.MethodPost, "/oauth/register", "application/json", `{"redirect_uris":["https://claude.ai/"]}`).
			is(h, http.StatusCreated, "")
		h.call(http.MethodPost, "/oauth/register", "application/json", `{"x":"`+strings.Repeat("x", 17<<10)+`"}`).
			is(h, http.StatusRequestEntityTooLarge, "invalid_request")
		h.call(http.MethodPost, "/oauth/register", "text/plain", `{}`).is(h, http.StatusBadRequest, "invalid_request")
	})
}

// calendar makes a calendar.
func (h *house) calendar(u calendar.User, name string) calendar.Calendar {
	h.Helper()
	cal, err := h.calendars.CreateCalendar(h.Context(),
		calendar.Caller{User: u, Scopes: calendar.ScopeAll}, calendar.NewCalendar{
			Properties: calendar.Properties{Name: name, Timezone: "UTC", Kinds: calendar.AllKinds()},
		})
	h.must(err)
	return cal
}

// What a user has allowed is good for nothing while they are disabled, and can still be given back.
func TestGrantOfDisabledUser(t *testing.T) {
	t.Parallel()
	each(t, func(h *house) {
		h.user("ann")
		a := h.program(claudeRedirect)
		got := a.tokens(h.as("ann"))
		active := func(token string) any {
			return h.form("/oauth/introspect", url.Values{"token": {token}, "client_id": {a.id}}).is(h, http.StatusOK,
				"").fields["active"]
		}
		disable := func(disabled bool) {
			_, err := h.auth.ChangeUser(t.Context(), "ann", auth.UserEdit{Disabled: &disabled})
			h.must(err)
		}
		disable(true)
		a.refresh(got.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
		for _, kind := range []string{"access_token", "refresh_token"} {
			if active(got.text(kind)) != false {
				t.Errorf("the %s is said to be good", kind)
			}
		}
		disable(false)
		next := a.refresh(got.text("refresh_token")).is(h, http.StatusOK, "")
		disable(true)
		h.form("/oauth/revoke", url.Values{"token": {next.text("refresh_token")}, "client_id": {a.id}}).
			is(h, http.StatusOK, "")
		disable(false)
		a.refresh(next.text("refresh_token")).is(h, http.StatusBadRequest, "invalid_grant")
	})
}
