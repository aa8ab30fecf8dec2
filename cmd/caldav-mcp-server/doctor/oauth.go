package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"

	"caldav-mcp-server/cmd/caldav-mcp-server/console"
	"caldav-mcp-server/cmd/caldav-mcp-server/davclient"
)

// walk is the progress of an assistant through the OAuth flow.
type walk struct {
	browser  *http.Client
	resource struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers"`
	}
	server struct {
		Issuer    string `json:"issuer"`
		Authorize string `json:"authorization_endpoint"`
		Token     string `json:"token_endpoint"`
		Register  string `json:"registration_endpoint"`
		Revoke    string `json:"revocation_endpoint"`
	}
	client, verifier, code string
	access, refresh        string
}

// walkRedirect is the redirect URL of a program on this machine. Nothing listens there: the doctor reads the response
// from the redirect and does not follow it.
const walkRedirect = "http://127.0.0.1/doctor"

// maxWalkAnswer is larger than any page or document of the flow.
const maxWalkAnswer = 1 << 20

const wellKnownMend = "hosts look for OAuth metadata at the root of the host, even if the server has a path: the " +
	"proxy must pass /.well-known/oauth-protected-resource, " +
	"/.well-known/oauth-authorization-server and all paths below them to either port"

const addressMend = "BASE_URL is the URL for apps, MCP_URL the URL for assistants: set them to the URLs that users get"

// oauthChecks are the steps of claude.ai and other hosts that connect without a token.
func oauthChecks() []check {
	return []check{
		{hosted, "the endpoint leads to sign-in", (*Examination).discover},
		{hosted, "it registers", (*Examination).register},
		{hosted, "people are asked to sign in", (*Examination).signInPage},
		{hosted, "they let it in", (*Examination).consent},
		{hosted, "a code gets it a token", (*Examination).exchange},
		{hosted, "the token lets it in, and is renewed", (*Examination).renew},
		{hosted, "it is out once it is revoked", (*Examination).revoke},
	}
}

var errNotSoFar = skippedError{"an earlier step failed"}

// fetch gets a metadata document.
func (x *Examination) fetch(ctx context.Context, at string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return &checkError{fmt.Sprintf("%q is not a URL", at), addressMend}
	}
	r.Header.Set("User-Agent", x.bare.Agent)
	answer, err := x.bare.Transport.RoundTrip(r)
	if err != nil {
		return unreached((&url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}).String(), err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &checkError{fmt.Sprintf("%s responds with %d", at, answer.StatusCode), wellKnownMend}
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxWalkAnswer)).Decode(into); err != nil {
		return &checkError{at + " is not JSON", "another program answers there: " + wellKnownMend}
	}
	return nil
}

var metadataParameter = regexp.MustCompile(`resource_metadata="([^"]*)"`)

// discover finds the sign-in as hosts do: from the challenge to the metadata of the endpoint and of the server.
func (x *Examination) discover(ctx context.Context) (string, error) {
	if x.offer == "" {
		return "", skippedError{"the endpoint was not found"}
	}
	found := metadataParameter.FindStringSubmatch(x.offer)
	if found == nil {
		return "",
			skippedError{"there is none: OAUTH is off, or BASE_URL is not set and the doctor runs on another machine"}
	}
	w := &walk{}
	if err := x.fetch(ctx, found[1], &w.resource); err != nil {
		return "", err
	}
	if w.resource.Resource != x.mcp.String() {
		return "", &checkError{
			fmt.Sprintf("the endpoint calls itself %s, but was called at %s: hosts stop there",
				console.Shown(w.resource.Resource), x.mcp), addressMend,
		}
	}
	if len(w.resource.Servers) == 0 {
		return "", &checkError{
			found[1] + " names no authorization server", "another program answers there: " + wellKnownMend,
		}
	}
	for _, at := range []string{wellKnownOf(w.resource.Servers[0]), wellKnownOf(x.mcp.String())} {
		if err := x.fetch(ctx, at, &w.server); err != nil {
			return "", err
		}
		if w.server.Issuer != w.resource.Servers[0] {
			return "", &checkError{
				fmt.Sprintf("%s calls itself %s, but the endpoint calls it %s", at, console.Shown(w.server.Issuer),
					console.Shown(w.resource.Servers[0])), addressMend,
			}
		}
	}
	for _, at := range []string{w.server.Authorize, w.server.Token, w.server.Register} {
		if x.mcp.Scheme == "https" && !strings.HasPrefix(at, "https://") {
			return "", &checkError{console.Shown(at) + " has no TLS: hosts stop there", addressMend}
		}
	}
	x.walk = w
	return w.server.Issuer, nil
}

// wellKnownOf is the URL of a server's metadata, given the URL of the server or of a resource.
func wellKnownOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	u.Path = "/.well-known/oauth-authorization-server" + strings.TrimRight(u.Path, "/")
	return u.String()
}

// submit posts to an endpoint and decodes the response.
func (x *Examination) submit(ctx context.Context, at, kind string, body []byte, want int, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", x.bare.Agent)
	answer, err := x.bare.Transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxWalkAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode != want {
		var said struct {
			What string `json:"error_description"`
		}
		if json.Unmarshal(data, &said) == nil && said.What != "" {
			return fmt.Errorf("the server says: %s", console.Shown(said.What))
		}
		return &davclient.StatusError{Method: http.MethodPost, URL: at, Status: answer.StatusCode}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return &checkError{
			at + " does not respond with JSON",
			"another program answers there: does the proxy pass /oauth/ on to the CalDAV port?",
		}
	}
	return nil
}

func (x *Examination) submitForm(ctx context.Context, at string, form url.Values, into any) error {
	return x.submit(ctx, at, "application/x-www-form-urlencoded", []byte(form.Encode()), http.StatusOK, into)
}

func (x *Examination) register(ctx context.Context) (string, error) {
	if x.walk == nil {
		return "", errNotSoFar
	}
	var made struct {
		ID string `json:"client_id"`
	}
	body := fmt.Appendf(
		nil, `{"client_name":"doctor","application_type":"native","redirect_uris":[%q],`+
			`"token_endpoint_auth_method":"none"}`, walkRedirect,
	)
	if err := x.submit(ctx, x.walk.server.Register, "application/json", body, http.StatusCreated, &made); err != nil {
		return "", err
	}
	x.walk.client = made.ID
	return "as " + console.Shown(made.ID), nil
}

// signInPage opens the authorization URL in a browser without a session.
func (x *Examination) signInPage(ctx context.Context) (string, error) {
	if x.walk == nil || x.walk.client == "" {
		return "", errNotSoFar
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return "", err
	}
	x.walk.browser = &http.Client{
		Jar: jar, Transport: x.bare.Transport, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.String(), walkRedirect) {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	x.walk.verifier = rand.Text() + rand.Text()
	sum := sha256.Sum256([]byte(x.walk.verifier))
	ask := url.Values{
		"response_type": {"code"}, "client_id": {x.walk.client}, "redirect_uri": {walkRedirect}, "scope": {"read"},
		"state":          {"doctor"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		"resource": {x.walk.resource.Resource},
	}
	page, at, err := x.browse(ctx, http.MethodGet, x.walk.server.Authorize+"?"+ask.Encode(), nil)
	if err != nil {
		return "", err
	}
	if !strings.Contains(page, `name="password"`) {
		return "", &checkError{
			"there is no sign-in at " + console.Shown(at.String()),
			"another program answers there: does the proxy pass /oauth/ and /account/ on to the CalDAV port?",
		}
	}
	x.walk.code = at.String()
	return at.Scheme + "://" + at.Host + at.Path, nil
}

// browse opens a page like a browser, and returns its content and final URL. If it redirects to the host's own URL, it
// returns that URL instead.
func (x *Examination) browse(ctx context.Context, method, at string,
	form url.Values,
) (page string, found *url.URL, err error) {
	r, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", nil, err
	}
	r.Header.Set("User-Agent", x.bare.Agent)
	r.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := x.walk.browser.Do(r)
	if err != nil {
		return "", nil, err
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxWalkAnswer))
	if err != nil {
		return "", nil, err
	}
	if to, err := answer.Location(); err == nil && answer.StatusCode == http.StatusSeeOther {
		return "", to, nil
	}
	if answer.StatusCode != http.StatusOK {
		return "", nil, &davclient.StatusError{Method: method, URL: answer.Request.URL.Path, Status: answer.StatusCode}
	}
	return string(data), answer.Request.URL, nil
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

// hiddenFields returns the hidden fields of one of our forms.
func hiddenFields(page string) url.Values {
	fields := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		fields.Set(m[1], html.UnescapeString(m[2]))
	}
	return fields
}

// consent signs the user in and agrees to the minimum: one scope, for a day.
func (x *Examination) consent(ctx context.Context) (string, error) {
	if x.walk == nil || x.walk.code == "" {
		return "", errNotSoFar
	}
	signIn, err := url.Parse(x.walk.code)
	if err != nil {
		return "", err
	}
	x.walk.code = ""
	form := url.Values{"name": {x.dav.User}, "password": {x.dav.Password}, "next": {signIn.Query().Get("next")}}
	signIn.RawQuery = ""
	page, at, err := x.browse(ctx, http.MethodPost, signIn.String(), form)
	if err != nil {
		return "", err
	}
	fields := hiddenFields(page)
	switch {
	case strings.HasSuffix(at.Path, "/sign-in"):
		return "", &checkError{
			"the browser has lost its session",
			"the proxy drops cookies, or users reach it by http although BASE_URL has https",
		}
	case fields.Get("seal") == "":
		return "", skippedError{"the user has a second factor: try it in a browser"}
	}
	for name, value := range map[string]string{"scope": "read", "all": "yes", "days": "1", "answer": "allow"} {
		fields.Set(name, value)
	}
	_, to, err := x.browse(ctx, http.MethodPost, at.Scheme+"://"+at.Host+at.Path, fields)
	if err != nil {
		return "", err
	}
	if to.Query().Get("code") == "" || to.Query().Get("state") != "doctor" ||
		to.Query().Get("iss") != x.walk.server.Issuer {
		return "", &checkError{
			"the answer is " + console.Shown(to.String()),
			"the Location header was changed on the way: the proxy must not change it",
		}
	}
	x.walk.code = to.Query().Get("code")
	_, _, err = x.browse(ctx, http.MethodPost, strings.TrimSuffix(at.Scheme+"://"+at.Host+at.Path, "allow")+"sign-out",
		url.Values{})
	return "the answer went to " + to.Host + to.Path, err
}

// walkTokens is the response of the token endpoint.
type walkTokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

func (x *Examination) exchange(ctx context.Context) (string, error) {
	if x.walk == nil || x.walk.code == "" {
		return "", errNotSoFar
	}
	var got walkTokens
	err := x.submitForm(ctx, x.walk.server.Token, url.Values{
		"grant_type": {"authorization_code"}, "code": {x.walk.code}, "redirect_uri": {walkRedirect},
		"client_id":     {x.walk.client},
		"code_verifier": {x.walk.verifier}, "resource": {x.walk.resource.Resource},
	}, &got)
	if err != nil {
		return "", err
	}
	x.walk.access, x.walk.refresh = got.Access, got.Refresh
	return "an access and a refresh token", nil
}

// renew uses the token, refreshes it, and uses the new one.
func (x *Examination) renew(ctx context.Context) (string, error) {
	if x.walk == nil || x.walk.access == "" {
		return "", errNotSoFar
	}
	if _, _, err := x.rpc(ctx, x.walk.access, "", initializeCall); err != nil {
		return "", tokenError(err)
	}
	var got walkTokens
	err := x.submitForm(ctx, x.walk.server.Token, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {x.walk.refresh}, "client_id": {x.walk.client},
	}, &got)
	if err != nil {
		return "", err
	}
	x.walk.access, x.walk.refresh = got.Access, got.Refresh
	said, _, err := x.rpc(ctx, x.walk.access, "", initializeCall)
	if err != nil {
		return "", tokenError(err)
	}
	return "protocol " + console.Shown(said.Result.ProtocolVersion), nil
}

func (x *Examination) revoke(ctx context.Context) (string, error) {
	if x.walk == nil || x.walk.access == "" {
		return "", errNotSoFar
	}
	err := x.submitForm(ctx, x.walk.server.Revoke, url.Values{"token": {x.walk.refresh}, "client_id": {x.walk.client}},
		nil)
	if err != nil {
		return "", err
	}
	_, _, err = x.rpc(ctx, x.walk.access, "", initializeCall)
	if s, ok := errors.AsType[*davclient.StatusError](err); !ok || s.Status != http.StatusUnauthorized {
		return "", &checkError{
			"it still has access", "the proxy answers from a cache, or adds a token of its own: remove that",
		}
	}
	return "401", nil
}
